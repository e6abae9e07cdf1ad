#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits_hotplug: a CPU goes offline and online again while waits are recorded: all waits are counted, with the right stacks.
. "$(dirname "$0")/lib.sh"

[ "${CPPROF_TEST_HOTPLUG:-}" = 1 ] || skip "it takes a CPU offline, which affects every program on the machine; CPPROF_TEST_HOTPLUG=1 allows it"
[ "$(id -u)" = 0 ] || skip "only root can take a CPU offline"
switch=/sys/devices/system/cpu/cpu1/online
[ -w $switch ] && [ "$(cat $switch)" = 1 ] || skip "CPU 1 cannot be taken offline here"
trap 'echo 1 >$switch; for pid in "${started[@]}"; do kill -9 "$pid" 2>/dev/null; done; cd /; rm -rf "$HERE"' EXIT

start "$CPPROF" record -q --off-cpu -o hot.data -- "$BUILD/tests/e2e/waits" 2400 >hot.truth
sleep 0.8
echo 0 >$switch || skip "CPU 1 cannot be taken offline here"
sleep 0.7
echo 1 >$switch
wait "$pid" || fail "the recording has failed"
"$CPPROF" report --view tree --percent-limit 0 --metric off-cpu --format json hot.data >off-cpu.json || fail "no report"
python3 - <<-'PYTHON' || fail "waits are missing"
	import json
	rows = json.load(open("off-cpu.json"))["rows"]
	for line in open("hot.truth"):
	    name, waited, _ = line.split()
	    ours = sum(row["total"] for row in rows if row["name"] == name) / 1e6
	    print(f"{name} waited {waited} ms, the profile says {ours:.1f}")
	    assert abs(ours - float(waited)) <= max(0.05 * float(waited), 10)
PYTHON
