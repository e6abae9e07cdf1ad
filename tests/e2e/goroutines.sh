#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# goroutines: calls in goroutines, which change threads and whose stacks move, compared with the program's own counts: never
# more than there were, and nearly all that can be distinguished from the previous sample.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || { echo "skipped: no Go compiler"; exit 77; }
export GOCACHE=$PWD/cache GO111MODULE=off
go build -o counts "$SOURCE/tests/e2e/goroutines.go" >run.log 2>&1 || fail "cannot build goroutines.go"

for workers in 1 2; do
	run 0 "$CPPROF" record -q -F 1999 --workers $workers -o p.data -- "$PWD/counts" 12
	cp run.log truth
	run 0 "$CPPROF" export p.data -o p.json
	python3 - $workers <<'END' || fail "calls in goroutines do not match the program's own counts"
import json, sys
truth = dict((line.split()[0], int(line.split()[1])) for line in open("truth") if len(line.split()) == 2)
data = json.load(open("p.json"))
seen = dict.fromkeys(("main.work", "main.round", "main.short"), 0)
for frame, calls in zip(data["nodes"]["frame"], data["nodes"]["activations"]):
    name = data["strings"][data["frames"]["name"][frame]]
    if name in seen and data["frames"]["kind"][frame] == "function":
        seen[name] += calls
print(truth, seen)
assert truth["moves"] > 6, "too few stacks were moved"
for name, calls in seen.items():
    assert calls <= truth[name], f"{name}: {calls} calls in the profile, only {truth[name]} in the program"
if sys.argv[1] == "1": # with two workers, each tracks goroutines on its own, so counts are lower
    assert seen["main.work"] == 6, seen
    assert seen["main.round"] >= 0.75 * truth["main.round"], seen
assert seen["main.short"] > 20, seen
END
done
exit 0
