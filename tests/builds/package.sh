#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the packages for this machine's architecture: two builds from different folders, under different user settings, are
# identical; the packages are complete; debuginfod-find fetches debug information.
# usage: package.sh; needs SOURCE and BUILD in the environment. package_on.sh uses the packages that it builds.
. "$(dirname "$0")/package_lib.sh"
need cmake ninja gcc git dpkg-deb dpkg-source readelf

copy_sources() { # FOLDER
	rm -rf "$1"
	mkdir -p "$1"
	git -C "$SOURCE" ls-files -z --cached --others --exclude-standard | tar -C "$SOURCE" --null --ignore-failed-read -T - -cf - 2>/dev/null | tar -C "$1" -xf - ||
		fail "the sources cannot be copied"
}

arch=$(own_arch)
export SOURCE_DATE_EPOCH=1700000000
one=$packages/one/cpprof two=$packages/two/of-another-length/cpprof
copy_sources "$one"
pack "$one" "$arch" "$packages/made"
rm -rf "$one/../made.first" "$packages/unpacked"
first=$deb first_tarball=$tarball

copy_sources "$two"
mkdir -p "$packages/again"
rm -rf "$packages/again/sources"
cp -a "$packages/made/sources" "$packages/again/"
(umask 077 && export TZ=Asia/Tokyo LC_ALL=C.UTF-8 HOME=/nonexistent && pack "$two" "$arch" "$packages/again") || exit
cmp "$first" "$packages/again/$(basename "$first")" || fail "a second build gives a different .deb"
cmp "$first_tarball" "$packages/again/$(basename "$first_tarball")" || fail "a second build gives a different archive"
rm -rf "$packages/one" "$packages/two" "$packages/again"

check_contents "$first" "$first_tarball" "$arch" "$packages/unpacked"
export CPPROF=$packages/unpacked/usr/bin/cpprof
if command -v man >/dev/null; then
	for page in cpprof cpprof-record; do
		MANPATH=$packages/unpacked/usr/share/man man -w "$page" >/dev/null || fail "man does not find $page"
	done
fi
if command -v debuginfod-find >/dev/null; then
	code=0
	(cd "$packages" && DEBUGINFOD_BY=command "$SOURCE/tests/names/debuginfod.sh") || code=$?
	[ $code = 0 ] || [ $code = 77 ] || fail "debug information from a server, by debuginfod-find"
else
	echo "not checked: debuginfod-find is not installed"
fi
ls -l "$first" "$first_tarball"
