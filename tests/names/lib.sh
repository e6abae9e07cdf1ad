# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of names: a folder and a store of their own, programs to look at, words to make claims with.
set -u
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
: "${CPPROF:?}"
TESTS=$(cd "$(dirname "$0")" && pwd)
HERE=$(mktemp -d "${TMPDIR:-/tmp}/cpprof_names.XXXXXX")
cd "$HERE" || exit 1
started=()
trap 'for pid in "${started[@]}"; do kill -9 "$pid" 2>/dev/null; done; cd /; rm -rf "$HERE"' EXIT
mkdir -m 700 cache
export XDG_CACHE_HOME=$HERE/cache DEBUGINFOD_URLS=

skip() {
	echo "skipped: $*"
	exit 77
}

fail() {
	echo "FAILED: $*"
	for file in "$HERE"/*.log; do
		[ -e "$file" ] && echo "--- $(basename "$file")" && tail -20 "$file"
	done
	exit 1
}

need() {
	for tool in "$@"; do
		command -v "$tool" >/dev/null || skip "no $tool"
	done
}

# locate FILE SYMBOL OPTIONS...: the first instruction of the symbol, to out.log; what is said on the way to err.log.
locate() {
	local file=$1 vaddr
	vaddr=$(nm "${symbols:-$file}" | awk -v name="$2" '$3 == name { print $1; exit }')
	[ -n "$vaddr" ] || fail "no $2 in $file"
	shift 2
	echo "$vaddr" | "$CPPROF" inspect locations --no-cache "$@" "$file" >out.log 2>err.log || fail "inspect locations $file"
}

shows() {
	grep -qF -- "$1" out.log || fail "the location is not '$1'"
}

warns() {
	grep -q -- "$1" err.log || fail "nothing says '$1'"
}
