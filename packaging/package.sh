#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds cpprof_VERSION_ARCH.deb and cpprof-VERSION-ARCH.tar.gz: the static program, its manual pages, shell completion, unit
# files, and the licences of the linked libraries. Builds are reproducible: the same sources, compiler and libraries give
# identical files. Use ./bootstrap package, which also installs the build dependencies.
# usage: package.sh ARCH FOLDER [CMAKE OPTION...]    ARCH: Debian's name, amd64 or arm64; FOLDER: for the packages and the build
set -euo pipefail
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
arch=$1
mkdir -p "$2"
folder=$(realpath "$2")
shift 2
umask 022
export LC_ALL=C TZ=UTC DPKG_DEB_THREADS_MAX=1

# Packages that contain the static libraries to link, and libraries that Debian ships no static version of.
libraries=(libc6-dev libelf-dev libpfm4-dev libbpf-dev libiberty-dev zlib1g-dev liblzma-dev libzstd-dev libzycore-dev)
sources=(zydis cjson)

fail() {
	echo "package: $*" >&2
	exit 1
}

case $arch in
amd64) machine=x86_64 ;;
arm64) machine=aarch64 ;;
*) fail "cpprof is for amd64 and arm64, not for '$arch'" ;;
esac

# Fails if the sources are not the top level of a git repository: they may be a copy inside an unrelated one.
in_git() {
	[ "$(git -C "$source" rev-parse --show-toplevel 2>/dev/null)" = "$source" ] && git -C "$source" "$@" 2>/dev/null
}

# The version from CMakeLists.txt; between releases the commit's time and hash are added, so that versions increase.
find_version() {
	local number
	number=$(sed -n 's/^project(cpprof VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
	version=$number
	if in_git rev-parse HEAD >/dev/null && [ "$(in_git describe --exact-match --tags HEAD)" != "v$number" ]; then
		version+=+git$(date -u -d "@$(in_git log -1 --format=%ct)" +%Y%m%d%H%M).$(in_git rev-parse --short=8 HEAD)
	fi
	[ -z "$(in_git status --porcelain --untracked-files=no)" ] || version+=.changed
}

# The timestamp of files in the packages: SOURCE_DATE_EPOCH if set, otherwise the time of the commit.
find_time() {
	SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(in_git log -1 --format=%ct)} ||
		fail "these sources are not a git repository: set SOURCE_DATE_EPOCH to their time, in seconds since 1970"
	export SOURCE_DATE_EPOCH
}

build() {
	local options=() emulator
	root=/
	if [ "$machine" != "$(uname -m)" ]; then
		root=$source/build/sysroot
		emulator=$(command -v "qemu-$machine" || command -v "qemu-$machine-static") ||
			fail "qemu-$machine, needed to generate the manual pages, is not installed: try installing qemu-user"
		options=(-DCMAKE_TOOLCHAIN_FILE="$source/third_party/cross.cmake" -DCPPROF_CROSS_FOR_MACHINE=ON
			-DCMAKE_CROSSCOMPILING_EMULATOR="$emulator")
	fi
	cmake -S "$source" -B "$folder/$arch" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O2 \
		-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON -DCMAKE_INSTALL_PREFIX=/usr -DCPPROF_TESTS=OFF -DCPPROF_DECODER=zydis \
		-DCPPROF_VERSION="$version" -DCPPROF_STATIC=ON -DCPPROF_STATIC_SOURCES="$folder/sources" "${options[@]}" "$@" || fail "configuring failed"
	cmake --build "$folder/$arch" --target cpprof manual || fail "building failed"
}

# Prints "SOURCE VERSION" for each linked library.
list_libraries() {
	if [ "$root" = / ]; then
		dpkg-query -W -f '${source:Package} ${source:Version}\n' "${libraries[@]}"
	else
		awk -v wanted=" ${libraries[*]} " 'index(wanted, " " $1 " ") { print $2, $3 }' "$root/.versions"
	fi
	cat "$folder/sources/versions"
}

# Copies the licences of the linked libraries.
copy_licences() { # FOLDER
	local name
	mkdir -p "$1"
	for name in "${libraries[@]}"; do
		cp -L "$root/usr/share/doc/$name/copyright" "$1/${name%-dev}" || fail "the licence of $name is missing"
	done
	for name in "${sources[@]}"; do
		cp "$folder/sources/$name"-*/debian/copyright "$1/$name"
	done
	chmod 644 "$1"/*
}

stage() {
	tree=$folder/$arch.tree
	rm -rf "$tree"
	DESTDIR=$tree cmake --install "$folder/$arch" --strip >/dev/null || fail "installing into '$tree' failed"
	copy_licences "$tree/usr/share/doc/cpprof/licenses"
	{
		cat "$source/packaging/copyright"
		printf '\nLinked in, with the versions of their Debian source packages:\n'
		list_libraries | sort -u | sed 's/^/  /'
	} >"$tree/usr/share/doc/cpprof/copyright"
}

make_tarball() {
	local name=cpprof-$version-$arch
	tar -C "$tree/usr" --sort=name --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
		--transform="s|^\.|$name|" -cf - . | gzip -9n >"$folder/$name.tar.gz"
	echo "$folder/$name.tar.gz"
}

write_changelog() {
	printf 'cpprof (%s) unstable; urgency=medium\n\n  * Built from the sources of this version.\n\n -- %s  %s\n' \
		"$version" "$maintainer" "$(date -R -u -d "@$SOURCE_DATE_EPOCH")"
}

write_control() {
	local size used
	size=$(find "$tree/usr" -type f -printf '%s\n' | awk '{ kb += int(($1 + 1023) / 1024) } END { print kb }')
	used=$(list_libraries | sort -u | awk '{ printf "%s%s (= %s)", n++ ? ", " : "", $1, $2 }')
	cat <<-END
	Package: cpprof
	Version: $version
	Architecture: $arch
	Maintainer: $maintainer
	Installed-Size: $size
	Suggests: debuginfod, bash-completion
	Section: devel
	Priority: optional
	Built-Using: $used
	Description: call-path profiler that works from outside the process
	 cpprof samples running programs, unwinds their stacks from what the machine
	 code does, and shows calling contexts with the loops and inlined calls of the
	 binary. Targets need no recompilation, frame pointers or unwind tables.
	 .
	 The program is linked statically and needs no library.
	END
}

# The same files laid out for Debian: compressed manual pages, a changelog, checksums.
make_deb() {
	local doc=$tree/usr/share/doc/cpprof maintainer='The cpprof developers <cpprof@cpprof.invalid>'
	rm "$doc/LICENSE" # base-files contains the text of the licence
	gzip -9n "$tree"/usr/share/man/man*/*
	write_changelog | gzip -9n >"$doc/changelog.gz"
	mkdir -p "$tree/DEBIAN" "$tree/usr/share/lintian/overrides"
	cp "$source/packaging/lintian-overrides" "$tree/usr/share/lintian/overrides/cpprof"
	(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
	write_control >"$tree/DEBIAN/control"
	dpkg-deb --root-owner-group -Zxz --build "$tree" "$folder/cpprof_${version}_$arch.deb" >/dev/null || fail "dpkg-deb failed"
	echo "$folder/cpprof_${version}_$arch.deb"
}

find_version
find_time
"$source/packaging/sources.sh" "$folder/sources" "${sources[@]}" >"$folder/sources.log" 2>&1 || fail "$(tail -n 1 "$folder/sources.log")"
build "$@" >&2
stage
make_tarball
make_deb
rm -rf "$tree"
