#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Downloads and unpacks Debian source packages into FOLDER/NAME-VERSION. apt runs with a private state directory there and
# with deb-src lines for the archives that the machine already uses, so it needs no root and leaves the system unchanged.
# FOLDER/versions then has one line "SOURCE VERSION" per package.
# usage: sources.sh FOLDER SOURCE...
# exit: 0 if the sources are there, 1 otherwise, with the reason as the last line of output
set -euo pipefail
folder=$1
shift

wanted="$*"
[ "$(cut -d' ' -f1 "$folder/versions" 2>/dev/null | xargs)" != "$wanted" ] || exit 0
for command in apt-get dpkg-source; do
	command -v $command >/dev/null || { echo "$command is not installed: try installing dpkg-dev"; exit 1; }
done
rm -rf "${folder:?}"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/apt/parts"
folder=$(realpath "$folder")
state=$folder/apt
: >"$state/status"

# The machine's own apt sources, with deb-src instead of deb.
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
	[ -f "$list" ] || continue
	case $list in
	*.sources) sed 's/^Types:.*/Types: deb-src/' "$list" ;;
	*.list) sed -E 's/^deb(-src)?[[:space:]]/deb-src /' "$list" ;;
	esac >"$state/parts/$(basename "$list")"
done

source_apt() {
	apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$state/parts" -o APT::Sandbox::User="$(id -un)" \
		-o Acquire::Languages=none -o Acquire::Retries=3 -o Dir::State="$state" -o Dir::State::status="$state/status" \
		-o Dir::Cache="$state" -o Debug::NoLocking=1 "$@"
}

source_apt update || { echo "the archive's list of sources cannot be read"; exit 1; }
cd "$folder"
source_apt source --download-only "$@" || { echo "the archive does not have the sources of: $wanted"; exit 1; }
for name; do
	description=$(ls "${name}"_*.dsc)
	version=$(sed -n 's/^Version: //p' "$description" | head -n 1)
	dpkg-source --no-check -x "$description" "$name-${version%-*}" || { echo "cannot unpack $description"; exit 1; }
	echo "$name $version" >>versions.new
done
rm -rf apt
mv versions.new versions
