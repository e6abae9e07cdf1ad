#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the packages for the other architecture: they are complete, and under qemu-user the program can do everything that
# needs no live target. usage: package_cross.sh; needs SOURCE and BUILD in the environment, and libraries in build/sysroot
. "$(dirname "$0")/package_lib.sh"
case $(uname -m) in x86_64) machine=aarch64 arch=arm64 ;; *) machine=x86_64 arch=amd64 ;; esac
need cmake ninja dpkg-deb dpkg-source readelf "$machine-linux-gnu-gcc"
emulator=$(command -v "qemu-$machine" || command -v "qemu-$machine-static") || skip "no qemu-$machine (Debian: qemu-user)"
[ -e "$SOURCE/build/sysroot/.versions" ] || skip "no libraries of $arch in build/sysroot: try ./bootstrap test --cross"

pack "$SOURCE" "$arch" "$packages/cross"
check_contents "$deb" "$tarball" "$arch" "$packages/unpacked_cross"
program=$packages/unpacked_cross/usr/bin/cpprof
folder=$packages/cross_runs
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder" || exit 1
export XDG_CACHE_HOME=$folder/cache XDG_CONFIG_HOME=$folder/config

run() {
	"$emulator" "$program" "$@" >out.log 2>err.log || { cat out.log err.log; fail "cpprof $* ($machine)"; }
}

shows() {
	grep -q -- "$1" out.log || { cat out.log err.log; fail "the output does not contain '$1'"; }
}

run --version
shows '^cpprof [0-9]'
run record --help
shows 'usage: cpprof record'
recording=$SOURCE/tests/data/tower/dwarf.data
run import "$recording" -o tower.data
run check tower.data
run report tower.data --no-pager
shows '% complete'
run report tower.data --html tower.html
grep -q '<html' tower.html || fail "tower.html is not an HTML page"
run export tower.data -o tower.pb.gz
run inspect functions "$(find "$SOURCE/tests/data/tower/root-$machine" -type f -name 'tower*' | head -n 1)"
shows 'tower_main'
run inspect events "$recording"
shows 'sample'
"$emulator" "$program" record -o live.data -- true >out.log 2>err.log
[ $? != 0 ] || fail "qemu-user has no perf_event, but record succeeded"
grep -q '^cpprof: ' err.log || fail "record does not say why it failed"
