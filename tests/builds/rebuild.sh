#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests a build that generates its BPF skeletons: they are generated and used, and the kernel's verifier accepts the programs.
# usage: rebuild.sh FOLDER; needs SOURCE in the environment.
set -u
: "${SOURCE:?}"
folder=$1
PATH=$PATH:/usr/sbin

fail() {
	echo "FAILED: $1"
	tail -n 40 "$folder.log"
	exit 1
}

for tool in clang llvm-strip bpftool; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
mkdir -p "$(dirname "$folder")"
cmake -S "$SOURCE" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 -DCPPROF_WERROR=ON \
	-DCPPROF_BPF_REBUILD=ON >"$folder.log" 2>&1 || fail "configuring"
! grep -q 'no libbpf:' "$folder.log" || { echo "skipped: libbpf is not installed"; exit 77; }
made=$folder/collector/made/collector/bpf
rm -rf "$made"
cmake --build "$folder" -j2 --target cpprof test_collector test_symbolize >"$folder.log" 2>&1 || fail "building"
for source in "$SOURCE"/collector/bpf/*.bpf.c; do
	skeleton=$(basename "$source" .bpf.c).skel.h
	[ -s "$made/$skeleton" ] || fail "$skeleton was not generated"
	ninja -C "$folder" -t deps 2>/dev/null | grep -q "made/collector/bpf/$skeleton" || fail "$skeleton was generated but not used"
done
ctest --test-dir "$folder" --output-on-failure --no-tests=error -R '^unit\.(collector|symbolize)$' >"$folder.log" 2>&1 || fail "unit tests"
grep 'tests passed' "$folder.log"
