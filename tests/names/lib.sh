# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of names: a store of their own, programs to look at.
TESTS=$(cd "$(dirname "$0")" && pwd)
. "$TESTS/../support/claims.sh"
mkdir -m 700 cache
export XDG_CACHE_HOME=$HERE/cache DEBUGINFOD_URLS=

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
