#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Unpacks Debian packages of another architecture and their dependencies into a folder: libraries to link with, and to
# run with under qemu-user. apt runs with a private state directory there, so it needs neither root nor a foreign
# architecture in dpkg, and leaves the system unchanged.
# usage: sysroot.sh ARCHITECTURE FOLDER PACKAGE...    (Debian's name of the architecture)
# exit: 0 if the libraries are there, 1 otherwise, with the reason as the last line of output
set -euo pipefail
architecture=$1 folder=$2
shift 2

mkdir -p "$folder"
folder=$(realpath "$folder")
wanted="$architecture $*"
if [ -e "$folder/.versions" ] && [ "$(cat "$folder/.packages" 2>/dev/null)" = "$wanted" ]; then
	exit 0
fi

foreign_apt() {
	apt-get -q -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" \
		-o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none -o Dir::State="$state" \
		-o Dir::State::status="$state/status" -o Dir::Cache="$state" -o Debug::NoLocking=1 "$@"
}

# Absolute symbolic links (libX.so -> /lib/...) are made relative, so that they stay inside the sysroot.
relink() {
	local link
	find "$folder" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
		ln -sfnr "$folder$(readlink "$link")" "$link"
	done
}

command -v apt-get >/dev/null || { echo "apt-get is not installed"; exit 1; }
rm -rf "${folder:?}"/* "$folder/.packages" "$folder/.versions"
state=$folder/.apt
rm -rf "$state"
mkdir -p "$state/lists/partial" "$state/archives/partial"
: >"$state/status"
foreign_apt update || { echo "the archive's list of $architecture packages cannot be read"; exit 1; }
foreign_apt install -y --no-install-recommends --download-only "$@" ||
	{ echo "the archive does not have all of: ${*/%/:$architecture}"; exit 1; }
for package in "$state"/archives/*.deb; do
	dpkg-deb -x "$package" "$folder" || { echo "cannot unpack $(basename "$package")"; exit 1; }
	dpkg-deb --show --showformat '${Package} ${source:Package} ${source:Version}\n' "$package" >>"$folder/.versions"
done
relink
rm -rf "$state"
echo "$wanted" >"$folder/.packages"
