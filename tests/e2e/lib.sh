# SPDX-License-Identifier: Apache-2.0
# Sourced by the end-to-end tests. CPPROF, BUILD, SOURCE come from ctest.
. "$(dirname "${BASH_SOURCE[0]}")/../support/claims.sh"
: "${BUILD:?}" "${SOURCE:?}"
SPIN=$BUILD/tests/e2e/spin
FACTS=$BUILD/tests/e2e/facts

# A machine that is emulated gets several times as long (programs of ours read SLOW themselves).
SLOW=${SLOW:-1}
slow() { awk -v seconds="$1" -v times="$SLOW" 'BEGIN { print seconds * times }'; }

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

# Before a command that needs the kernel's tracepoints: "${tracing[@]}" COMMAND...
need_tracing() {
	tracing=()
	[ ! -e /sys/kernel/tracing/events/sched ] || return 0
	unshare -m mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null || skip "tracefs cannot be mounted here"
	# shellcheck disable=SC2016
	tracing=(unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"' sh)
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
	for i in $(seq $((200 * SLOW))); do
		"$@" && return
		sleep 0.05
	done
	fail "waited in vain for: $*"
}

need_perf
