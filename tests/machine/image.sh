#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a kernel, an initramfs and a disk image with a small Debian from Debian's packages, without installing them.
# usage: image.sh ARCHITECTURE FOLDER; writes FOLDER/{vmlinuz,initrd,root.img,kernel}.
set -euo pipefail
arch=$1 folder=$2
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
case $arch in
x86_64) debian=amd64 ;;
aarch64) debian=arm64 ;;
*) echo "no machine for $arch" >&2; exit 2 ;;
esac

# Programs that the test scripts call, and the libraries that cpprof is linked with. Compilers and interpreters are also
# profiled.
packages=(base-files bash bsdutils coreutils dash diffutils findutils grep gzip hostname libc-bin mount procps mawk sed
	tar util-linux xz-utils ncurses-base python3 perl gcc g++ libc6-dev binutils linux-perf jq git sqlite3 openssl
	libgmp10 libbpf-dev libcjson-dev libelf-dev libpfm4-dev libzydis-dev libzstd-dev liblzma-dev zlib1g-dev libcmocka-dev busybox-static
	openjdk-17-jdk-headless nodejs luajit ruby php-cli ocaml-nox x264 dav1d musl-tools erlang-base guile-3.0 sbcl
	r-base-core qemu-user zstd)
# Kernel modules needed to mount the disk, in load order (virtio needs virtio_ring since Linux 6.1.192); those built into the
# kernel are absent from the package.
modules=(virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_mmio virtio_blk crc16
	crc32c_generic libcrc32c mbcache jbd2 ext4)

# apt with a private state directory and cache, as if no package were installed.
apt() {
	local tool=$1
	shift
	"$tool" -q -o Dir::State="$folder/apt" -o Dir::State::status="$folder/apt/status" -o Dir::Cache="$folder/apt/cache" \
		-o APT::Architecture="$debian" -o APT::Architectures::="$debian" -o APT::Install-Recommends=false \
		-o Acquire::Retries=3 -o Acquire::http::Timeout=60 -o APT::Sandbox::User="$(id -un)" "$@"
}

fetch_packages() {
	mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
	: >"$folder/apt/status"
	apt apt-get update
	kernel=$(apt apt-cache depends "linux-image-$debian" | awk '$1 == "Depends:" { print $2; exit }')
	kernel=${kernel%:*}
	apt apt-get install -y --download-only "${packages[@]}"
	(cd "$folder" && rm -f linux-image-*.deb libstd-rust-*.deb && apt apt-get download "$kernel" libstd-rust-dev)
}

# unpack FILE: without manuals and translations
unpack() {
	dpkg-deb --fsys-tarfile "$1" | tar -x -C "$root" --keep-directory-symlink --exclude='./usr/share/doc/*' \
		--exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' --exclude='./usr/share/info/*'
}

# Unpacks the packages and does what their maintainer scripts would have done, as far as the tests need it.
make_root() {
	local file pair name
	rm -rf "$root"
	mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{proc,sys,dev,tmp,run,cpprof,root,etc}
	for file in bin sbin lib lib64; do ln -s "usr/$file" "$root/$file"; done
	for file in "$folder"/apt/cache/archives/*.deb; do unpack "$file"; done
	for pair in sh:dash awk:mawk cc:gcc c++:g++; do
		[ -e "$root/usr/bin/${pair%:*}" ] || ln -sf "${pair#*:}" "$root/usr/bin/${pair%:*}"
	done
	for file in "$root"/usr/lib/jvm/java-*/bin/java{,c} "$root"/usr/bin/php?*.?*; do # as update-alternatives would
		name=${file##*/}
		ln -sf "${file#"$root"}" "$root/usr/bin/${name%%[0-9]*}"
	done
	for file in "$root"/usr/lib/*-linux-gnu/{blas,lapack}/lib*.so.3; do
		ln -sf "${file#"$root"}" "$root/usr/lib/${file##*/}"
	done
	ln -sf guile-3.0 "$root/usr/bin/guile"
	cp "$root/usr/lib/R/etc/Renviron.ucf" "$root/etc/R/Renviron"
	echo 'root:x:0:0:root:/root:/bin/bash' >"$root/etc/passwd"
	echo 'root:x:0:' >"$root/etc/group"
	mke2fs -q -t ext4 -F -L root -d "$root" "$folder/root.img" 3g
}

# The initramfs: busybox, the modules numbered in load order, and init.sh.
make_initrd() {
	local name file tree=$folder/initrd.tree list=0
	rm -rf "$tree" "$folder/kernel.tree"
	mkdir -p "$tree"/{bin,modules,proc,dev,disk} "$folder/kernel.tree"
	dpkg-deb -x "$folder"/linux-image-*.deb "$folder/kernel.tree"
	cp "$folder"/kernel.tree/boot/vmlinuz-* "$folder/vmlinuz"
	basename "$folder"/kernel.tree/boot/vmlinuz-* | sed 's/vmlinuz-//' >"$folder/kernel"
	for name in "${modules[@]}"; do
		file=$(find "$folder/kernel.tree" -name "$name.ko" -print -quit)
		list=$((list + 1))
		[ -z "$file" ] || cp "$file" "$tree/modules/$(printf %02d $list)_$name.ko"
	done
	cp "$root/bin/busybox" "$tree/bin/busybox"
	ln -s busybox "$tree/bin/sh"
	install -m 755 "$here/init.sh" "$tree/init"
	(cd "$tree" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0 | gzip -1) >"$folder/initrd"
	rm -rf "$tree" "$folder/kernel.tree"
}

mkdir -p "$folder"
folder=$(realpath "$folder")
root=$folder/root.tree
fetch_packages
make_root
make_initrd
rm -rf "$root"
