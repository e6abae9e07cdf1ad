# SPDX-License-Identifier: Apache-2.0
# Sourced by the end-to-end tests. CPPROF, BUILD, SOURCE come from ctest.
. "$(dirname "${BASH_SOURCE[0]}")/../support/claims.sh"
: "${BUILD:?}" "${SOURCE:?}"
SPIN=$BUILD/tests/e2e/spin
FACTS=$BUILD/tests/e2e/facts

# SLOW: factor by which times are extended on an emulated machine (our test programs read it themselves).
SLOW=${SLOW:-1}
slow() { awk -v seconds="$1" -v times="$SLOW" 'BEGIN { print seconds * times }'; }

# run CODE COMMAND...: the exit code must be CODE; output goes to run.log.
run() {
	local want=$1 code=0
	shift
	"$@" >run.log 2>&1 || code=$?
	[ "$code" = "$want" ] || fail "exit code $code, expected $want, of: $*"
}

says() {
	grep -q -- "$1" run.log || fail "no message matches '$1'"
}

# Sets the prefix for commands that need the kernel's tracepoints: "${tracing[@]}" COMMAND...
need_tracing() {
	tracing=()
	[ ! -e /sys/kernel/tracing/events/sched ] || return 0
	unshare -m mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null || skip "tracefs cannot be mounted here"
	# shellcheck disable=SC2016
	tracing=(unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"' sh)
}

# facts FILE: prints the profile to facts.log and checks its sums; then `fact PATTERN` greps in facts.log.
facts() {
	"$FACTS" "$1" >facts.log || fail "'$1' is unreadable or inconsistent"
}

fact() {
	grep -q -- "$1" facts.log || fail "the profile has no line '$1'"
}

no_fact() {
	! grep -q -- "$1" facts.log || fail "the profile has an unexpected line '$1'"
}

# number KEY: the number after KEY at the start of a line in facts.log.
number() {
	awk -v key="$1" '$1 == key { print $2; exit }' facts.log
}

# start COMMAND...: runs it in the background, with its pid in $pid; it is killed when the test ends.
start() {
	"$@" &
	pid=$!
	started+=("$pid")
}

# await COMMAND...: repeats the command until it succeeds, for at most ten seconds (times SLOW).
await() {
	local i
	for i in $(seq $((200 * SLOW))); do
		"$@" && return
		sleep 0.05
	done
	fail "timeout waiting for: $*"
}

need_perf
