#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The documents are complete: every command is in the README and has a manual page in the build, and every folder has a
# README of at most 40 lines that names each of its files. usage: docs.sh; needs CPPROF and SOURCE in the environment.
set -u
cd "$SOURCE" || exit 2
status=0

for command in $("$CPPROF" --list-options); do
	grep -q "cpprof $command" README.md || { echo "README.md does not name 'cpprof $command'"; status=1; }
	"$CPPROF" "$command" --help | grep -nE '.{101}| $' && { echo "cpprof $command --help has lines that are too long, or end in a space"; status=1; }
	name=$("$CPPROF" "$command" --man-page | sed -n 3p)
	opened=${name//[!(]/} closed=${name//[!)]/}
	if [[ "$name" != *' \- '?* || ${#opened} != "${#closed}" ]]; then echo "the manual page of $command begins with '$name'"; status=1; fi
	grep -Eq "foreach\(command .*\b$command\b" cmd/CMakeLists.txt || { echo "cmd/CMakeLists.txt builds no manual page for $command"; status=1; }
done
folders=(base binary collector recipes unwinder symbolize structure profile report recording verify cmd)
mapfile -t with_code < <(find "${folders[@]}" -name '*.[ch]' -printf '%h\n' | sort -u)
for folder in "${folders[@]}" "${with_code[@]}" tests/bench tests/fuzz third_party; do
	if [ ! -f "$folder/README.md" ]; then
		echo "$folder has no README.md"
		status=1
	elif [ "$(wc -l <"$folder/README.md")" -gt 40 ]; then
		echo "$folder/README.md is longer than 40 lines"
		status=1
	fi
done

# is_named STEM PATTERN...: does one of the patterns, without its suffix, match the file's stem?
is_named() {
	local stem=$1 pattern
	shift
	for pattern in "$@"; do
		[[ $stem == ${pattern%.[ch]} ]] && return
	done
	return 1
}

set -f # do not expand the patterns
for folder in "${with_code[@]}"; do
	read -ra patterns < <(grep -o '`[^` ]*`' "$folder/README.md" | tr -d '`' | tr '\n' ' ')
	for stem in $(find "$folder" -maxdepth 1 -name '*.[ch]' | grep -v '\.skel\.h$' | sed 's|.*/||; s|\.[ch]$||' | sort -u); do
		[[ $stem == *_private ]] || is_named "$stem" "${patterns[@]}" || { echo "$folder/README.md does not say what $stem is for"; status=1; }
	done
	for pattern in "${patterns[@]}"; do
		[[ $pattern == *.[ch] && $pattern != */* ]] || continue
		find "$folder" -maxdepth 1 -name "$pattern" | grep -q . || { echo "$folder/README.md names $pattern, which does not exist"; status=1; }
	done
done
# The files that ARCHITECTURE.md names exist.
for file in $(sed -n '/^## To add something/,/^## /p' ARCHITECTURE.md | grep -o '`[a-z_0-9]*/[a-zA-Z_0-9./]*`' | tr -d '`'); do
	[ -e "$file" ] || { echo "ARCHITECTURE.md names $file, which does not exist"; status=1; }
done
exit $status
