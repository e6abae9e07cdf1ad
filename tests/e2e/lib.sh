# SPDX-License-Identifier: Apache-2.0
# Sourced by the end-to-end tests: a folder of their own, and a few words to make claims with.
# CPPROF, BUILD, SOURCE come from ctest.

set -u
# Looking for leaks costs seconds a process on some machines; unit tests do it. Everything else is looked for.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
: "${CPPROF:?}" "${BUILD:?}" "${SOURCE:?}"
SPIN=$BUILD/tests/e2e/spin
FACTS=$BUILD/tests/e2e/facts
HERE=$(mktemp -d "${TMPDIR:-/tmp}/cpprof_e2e.XXXXXX")
chmod 755 "$HERE"
cd "$HERE" || exit 1
started=()
trap 'for pid in "${started[@]}"; do kill -9 "$pid" 2>/dev/null; done; cd /; rm -rf "$HERE"' EXIT

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

# run CODE COMMAND...: the exit code must be CODE; output goes to run.log.
run() {
	local want=$1 code=0
	shift
	"$@" >run.log 2>&1 || code=$?
	[ "$code" = "$want" ] || fail "exit code $code, not $want, of: $*"
}

says() {
	grep -q -- "$1" run.log || fail "nothing says '$1'"
}

# facts FILE: reads it and checks its sums; then `fact PATTERN` greps in what it holds.
facts() {
	"$FACTS" "$1" >facts.log || fail "'$1' is unreadable or contradicts itself"
}

fact() {
	grep -q -- "$1" facts.log || fail "the profile does not say '$1'"
}

no_fact() {
	! grep -q -- "$1" facts.log || fail "the profile says '$1'"
}

# The number behind a key at the start of a line.
number() {
	awk -v key="$1" '$1 == key { print $2; exit }' facts.log
}

# In the background, killed at the end whatever happens. Its pid is in $pid.
start() {
	"$@" &
	pid=$!
	started+=("$pid")
}

# Until a command succeeds, at most ten seconds.
await() {
	local i
	for i in $(seq 200); do
		"$@" && return
		sleep 0.05
	done
	fail "waited in vain for: $*"
}

need_perf() {
	local code=0
	"$CPPROF" record -q -o probe.data -- true >probe.log 2>&1 || code=$?
	case $code in
	0 | 5) ;;
	*) skip "perf_event is not available here: $(head -1 probe.log)" ;;
	esac
}
need_perf
