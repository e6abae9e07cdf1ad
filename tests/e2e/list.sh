#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# list: events listed as available can be recorded, others are refused for the reason listed, and for an unknown event a
# similar name is suggested.
. "$(dirname "$0")/lib.sh"

run 0 "$CPPROF" list -f json
cp run.log list.json
python3 - <<-'PYTHON' || fail "the list of events is wrong"
	import json
	events = json.load(open("list.json"))["events"]
	by_name = {event["name"]: event for event in events}
	assert len(by_name) == len(events), "a name is listed twice"
	for name in ["cpu-clock", "task-clock", "page-faults", "context-switches"]:
	    assert by_name[name]["family"] == "software", name
	assert by_name["cpu-clock"]["available"] and by_name["page-faults"]["available"]
	assert by_name["cycles"]["family"] == "hardware"
	for event in events:
	    assert event["available"] or (event["why"] and event["errno"].startswith("E")), event
PYTHON

# Listed events can be recorded.
"$CPPROF" list -f names >names.log || fail "no names"
grep -qx cpu-clock names.log || fail "cpu-clock is not among the names"
for event in cpu-clock page-faults minor-faults; do
	run 0 "$CPPROF" record -q -e $event -o one.data -- "$SPIN" 0.2
	"$CPPROF" report --metric $event one.data >one.log || fail "there is no metric '$event'"
	! grep -q 'is used instead' one.log || fail "$event was replaced"
done
if ! grep -qx cycles names.log; then
	"$CPPROF" list cycles >cycles.log
	grep -q 'cycles.* no .*(E' cycles.log || fail "the list does not say why cycles are not available"
	run 0 "$CPPROF" record -e cycles -o one.data -- "$SPIN" 0.2
	says "cannot count 'cycles'"
fi

# Patterns.
run 0 "$CPPROF" list faults
says page-faults
! grep -q cpu-clock run.log || fail "cpu-clock is listed although it does not match 'faults'"
run 0 "$CPPROF" list 'CPU-CL*'
says cpu-clock
run 1 "$CPPROF" list no-such-event-at-all
says "no event matches"
run 2 "$CPPROF" list one two
run 1 "$CPPROF" record -e page-fautls -o one.data -- true
says "did you mean 'page-faults'"

# A breakpoint and a tracepoint, if available.
if grep -q '"mem:ADDRESS:w".*\?"available":true' list.json; then
	run 1 "$CPPROF" record -q -e mem:0x1:q -o one.data -- true
fi
traced=
if [ "$(id -u)" = 0 ] && [ -d /sys/kernel/tracing/events ]; then
	traced() { "$@"; }
	traced=yes
elif [ "$(id -u)" = 0 ] && unshare -m mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null; then
	traced() { unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"' sh "$@"; }
	traced=yes
fi
if [ "$traced" ]; then
	run 0 traced "$CPPROF" list 'sched:sched_s*'
	says 'sched:sched_switch .* yes'
	run 0 traced "$CPPROF" record -q -e sched:sched_switch -c 1 -o one.data -- sleep 0.1
	"$CPPROF" report --metric sched:sched_switch one.data >one.log || fail "there is no metric for the tracepoint"
else
	run 0 "$CPPROF" list cpu-clock
	says 'tracepoints: '
fi
