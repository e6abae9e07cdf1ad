#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The include rule: a file may include headers of its own folder, of base/ and binary/, and of folders
# to its left in the pipeline; a foreign header belongs to one place. Prints each violation.
# usage: includes.sh [TREE]
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 2

pipeline=(base binary collector unwinder symbolize structure profile report cmd)
violations=0

violation() {
	echo "$1"
	violations=$((violations + 1))
}

position() {
	local i
	for i in "${!pipeline[@]}"; do
		[ "${pipeline[$i]}" = "$1" ] && echo "$i" && return
	done
	echo 99
}

check_own_headers() {
	local folder=$1 mine file header other
	mine=$(position "$folder")
	while IFS=: read -r file _ header; do
		header=${header#*\"}
		other=${header%%/*}
		if [ "$header" = "$other" ]; then
			violation "$file: includes \"$header\" without its folder"
		elif [ "$(position "$other")" -gt "$mine" ]; then
			violation "$file: $folder/ may not include ${header%\"*}"
		fi
	done < <(grep -rn --include='*.[ch]' '^#include "' "$folder")
}

# header pattern, and the only files that may include it
check_foreign() {
	local header=$1 allowed=$2 file
	for file in $(grep -rlE --include='*.[ch]' "^#include <$header>" "${pipeline[@]}"); do
		[[ $file =~ ^($allowed)$ ]] || violation "$file: <$header> belongs to $allowed alone"
	done
}

for folder in "${pipeline[@]}"; do
	[ -d "$folder" ] && check_own_headers "$folder"
done
check_foreign 'linux/perf_event.h' 'collector/perf_[a-z_]*\.[ch]'
check_foreign '(libelf|gelf).h' 'binary/image\.c'
check_foreign 'Zydis/.*' 'binary/x86_zydis\.c'
check_foreign 'xed/.*' 'binary/x86_xed\.c'
check_foreign 'libdwarf/.*' 'symbolize/dwarf\.c'
check_foreign 'libiberty/.*' 'symbolize/demangle\.c'
check_foreign 'perfmon/.*' 'collector/events\.c'
check_foreign 'bpf/.*' 'collector/bpf/.*'
check_foreign '(zlib|lzma|zstd).h' 'base/compress\.c'
check_foreign 'cjson/.*' 'base/json\.c'
check_foreign 'sys/ptrace.h' 'collector/(ptrace|step)[a-z0-9_]*\.c'

[ $violations = 0 ] || { echo "$violations violations of the include rule"; exit 1; }
