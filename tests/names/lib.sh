# SPDX-License-Identifier: Apache-2.0
# Functions for the tests of names; sourced by them. Sets up a private store and helpers to look up addresses.
TESTS=$(cd "$(dirname "$0")" && pwd)
. "$TESTS/../support/claims.sh"
mkdir -m 700 cache
export XDG_CACHE_HOME=$HERE/cache DEBUGINFOD_URLS=

# locate FILE SYMBOL OPTIONS...: the location of the symbol's first instruction to out.log, messages to err.log.
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
	grep -q -- "$1" err.log || fail "no message says '$1'"
}
