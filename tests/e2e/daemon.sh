#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The daemon: its epochs contain the same samples as one recording, it can be killed at any moment, and all commands can
# read its database.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "only root may profile the whole machine"
"$CPPROF" record -a -q --no-resolve -o probe.data -- true >probe.log 2>&1
case $? in 0 | 5) ;; *) skip "record -a: $(head -1 probe.log)" ;; esac
export XDG_CACHE_HOME=$HERE/cache

# A query over several epochs gives the same as one epoch over the same time: both are made from one raw recording. It is of
# a few processes only, since files of others may be replaced between the two imports.
run 0 "$CPPROF" record -q --no-resolve --raw raw.data -F 499 -o one.data -- \
	bash -c '"$1" 1 & "$1" 2.5 & for i in 1 2 3 4 5; do "$1" 0.4; done; wait' bash "$SPIN"
run 0 "$CPPROF" daemon --file raw.data --database parts --epoch 1s
run 0 "$CPPROF" daemon --file raw.data --database whole --epoch 1h
[ "$(ls parts/epochs | wc -l)" -gt 1 ] || fail "there is only one epoch: nothing to compare"
[ "$(ls whole/epochs | wc -l)" = 1 ] || fail "there is not exactly one epoch"
cat >compare.py <<'END'
import json, subprocess, sys
def read(folder):
    text = subprocess.run([sys.argv[1], "export", "--database", folder, "--since", "30000d", "-f", "json"], capture_output=True, text=True, check=True).stdout
    profile = json.loads(text)
    # Expected differences: command line, overhead, and the exit times of processes without samples.
    del profile["tool"], profile["run"]["id"], profile["processes"]["exit_ns"], profile["threads"]["exit_ns"]
    profile["strings"] = [text for text in profile["strings"] if not text.startswith("cpprof daemon")]
    profile["quality"] = {k: v for k, v in profile["quality"].items() if k in ("samples", "lost_samples", "unwind")}
    return profile
parts, whole = read("parts"), read("whole")
differ = [key for key in whole if json.dumps(parts[key]) != json.dumps(whole[key])]
for key in differ:
    print("differs:", key, str(parts[key])[:300], "|", str(whole[key])[:300])
print(len(json.dumps(whole)), "bytes compared")
sys.exit(bool(differ))
END
# Nodes and values of an epoch are encoded differently than in other profiles (profile/FORMAT.md), but have the same contents.
run 0 "$CPPROF" check whole/epochs/*
run 0 "$CPPROF" merge -o plain.data whole/epochs/*
python3 "$SOURCE/tests/golden/format.py" --dense whole/epochs/* plain.data >dense.log 2>&1 || fail "nodes and values of an epoch differ: $(tail -1 dense.log)"
python3 compare.py "$CPPROF" >compare.log 2>&1 || fail "several epochs and one epoch differ: $(head -c 600 compare.log)"

# --epoch-size is a limit; all sums stay. A compiler has very many call paths.
if command -v cc >/dev/null; then
	for i in $(seq 120); do
		echo "int f$i(int *a, int n) { int s = $i; for (int i = 0; i < n; i++) { switch (a[i] % 5) { case 0: s += i * a[i]; break; case 1: s ^= a[n - i]; break; case 3: s -= f$i(a, i); } } return s; }"
	done >many.c
	run 0 "$CPPROF" record -q --no-resolve --raw many.data -F 1997 -o one.data -- cc -O2 -c -o many.o many.c
	run 0 "$CPPROF" daemon --file many.data --database large --epoch 1h --epoch-size 0
	half=$(($(stat -c %s large/epochs/*) / 2))
	run 0 "$CPPROF" daemon --file many.data --database half --epoch 1h --epoch-size $half
	run 0 "$CPPROF" check half/epochs/*
	python3 - "$CPPROF" $half <<'PY' >size.log 2>&1 || fail "a smaller epoch has other sums: $(tail -3 size.log)"
import json, subprocess, sys
def say(*words):
    return subprocess.run([sys.argv[1], *words], capture_output=True, text=True, check=True).stdout
def processes(folder):
    return say("report", "--database", folder, "--since", "30000d", "--group-by", "process", "--format", "csv")
large, half = [json.loads(say("epochs", "-f", "ndjson", folder)) for folder in ("large", "half")]
print(large, half, processes("large"), processes("half"))
assert large["thinned_samples"] == 0
assert half["bytes"] <= int(sys.argv[2]) and half["thinned_samples"] > half["samples"] / 4
assert all(large[key] == half[key] for key in ("samples", "cpu_ns", "complete_percent", "processes"))
assert processes("large") == processes("half")
PY
	run 0 "$CPPROF" report --database half --since 30000d --no-pager
	says "represented"
fi

start "$SPIN" 60
# Live: a second daemon on the same database is refused; after SIGKILL, only data since the last checkpoint is lost.
start "$CPPROF" daemon -q --database db --epoch 3s --checkpoint 0.5 -F 199
daemon=$pid
await sh -c 'ls db/epochs/*[0-9].epoch >/dev/null 2>&1'
run 1 "$CPPROF" daemon --database db
says "process $daemon is writing to it"
await sh -c 'ls db/epochs/*-open.epoch >/dev/null 2>&1'
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
run 0 "$CPPROF" epochs db
says "samples"
# Of each epoch, it is known how much time its samples should represent: that of all CPUs.
cat >account.py <<'PY'
import json, os, subprocess, sys
report = subprocess.run([sys.argv[1], "report", sys.argv[2], "--view", "quality", "--format", "json"], capture_output=True, text=True, check=True)
account, all_ns = json.loads(report.stdout)["quality"]["account"], 3e9 * os.cpu_count()
print(account)
assert .9 * all_ns < account["counted_ns"] < 1.1 * all_ns
assert account["sampled_ns"] > 0 and abs(account["between_ns"]) <= .1 * all_ns
PY
python3 account.py "$CPPROF" "$(ls db/epochs/*[0-9].epoch | head -1)" >account.log 2>&1 || [ "$(slow 1)" != 1 ] || fail "an epoch's account: $(tail -3 account.log)"
# --allow, because symbolizing everything else that runs here may take too long.
: >db/epochs/1000-open.epoch
run 0 "$CPPROF" daemon --database db --epoch 1s -d 3 -F 199 --metrics state.prom --allow command:spin
says "damaged epochs, left open by an earlier daemon, were deleted: 1"
grep -q '^cpprof_samples_total [1-9]' state.prom || fail "no samples in the metrics"
grep -q '^cpprof_cpu_seconds_total{process="spin"} [0-9.]*$' state.prom || fail "no CPU time of spin in the metrics"
! grep -vE '^(# (HELP|TYPE) cpprof_[a-z_]+ .+|cpprof_[a-z_]+(\{process=".*"\})? [0-9.e+-]+)$' state.prom || fail "invalid lines in the metrics"
if command -v promtool >/dev/null; then promtool check metrics <state.prom >promtool.log 2>&1 || fail "promtool rejects the metrics"; fi
ls db/epochs/*-open.epoch >open.log 2>&1 && fail "an open epoch is left"
run 0 "$CPPROF" epochs db -f ndjson
n=$(wc -l <run.log)
[ "$n" -gt 1 ] || fail "only $n epochs"
run 0 "$CPPROF" report --database db --since 1h --process spin --no-pager
says "burn"
run 0 "$CPPROF" report "$HERE/db@1h..now" --group-by process --no-pager
says "spin"
run 0 "$CPPROF" export --database db --since 1h --process spin -f folded
says "burn"
run 0 "$CPPROF" diff --database db --a 1h..now --b 1h..now --no-pager
run 1 "$CPPROF" report --database db --since 2000-01-01 --until 2000-01-02
says "nothing was recorded in this time"
run 2 "$CPPROF" report --database db --since yesterdayish
says "is not a time"
run 1 "$CPPROF" report --database "$HERE"
says "not a cpprof database"

# The machine was suspended for an hour: no epoch covers that time, and none spans it.
start env ASLEEP="$HERE/slept" LD_PRELOAD="$BUILD/tests/e2e/libasleep.so" "$CPPROF" daemon -q --database asleep --epoch 10m --checkpoint 0.5 -F 199
daemon=$pid
await sh -c 'ls asleep/epochs/*-open.epoch >/dev/null 2>&1'
touch slept
await sh -c 'ls asleep/epochs/*[0-9].epoch >/dev/null 2>&1'
sleep 1
kill "$daemon"
wait "$daemon"
ls asleep/epochs >asleep.log
python3 - <<'PY' || fail "wrong epochs after the machine was suspended for an hour: $(tr '\n' ' ' <asleep.log)"
import sys
epochs = sorted([int(n) for n in line.split(".")[0].split("-")] for line in open("asleep.log"))
gaps = [b[0] - a[1] for a, b in zip(epochs, epochs[1:])]
sys.exit(len(epochs) != 2 or not 3590e3 < gaps[0] < 3610e3 or max(end - start for start, end in epochs) > 600e3)
PY

# JIT-compiled code is symbolized even after the process has exited and its perf map was deleted.
start "$BUILD/tests/e2e/jitter" 300
jitter=$pid
start "$CPPROF" daemon -q --database jit --epoch 10m --checkpoint 0.5 -F 199 --allow command:jitter
daemon=$pid
await sh -c 'ls jit/epochs/*-open.epoch >/dev/null 2>&1'
kill "$daemon"
wait "$daemon"
kill "$jitter"
wait "$jitter" 2>/dev/null
rm -f "/tmp/perf-$jitter.map"
run 0 "$CPPROF" report --database jit --since 1h --process jitter --group-by function --no-pager
says "written_while_running"

# Damaged epochs are skipped with a message; a database of a later version is refused.
file=$(ls db/epochs | head -1)
truncate -s 100 "db/epochs/$file"
run 0 "$CPPROF" report --database db --since 1h --no-pager
says "cannot be read and are skipped; .cpprof epochs db. says why"
run 1 "$CPPROF" epochs db
says "db/epochs/$file' is corrupt: "
echo "cpprof database 9" >db/version
run 1 "$CPPROF" report --database db --since 1h
says "later version"

# --database-size is a hard limit. The last epoch is very short, so it may be small enough to be kept.
run 0 "$CPPROF" daemon --database small --epoch 1s -d 3 -F 99 --database-size 1k
says "[1-9][0-9]* dropped"
size=$(find small/epochs small/images small/outbox -type f -printf '%s\n' 2>/dev/null | awk '{ n += $1 } END { print n + 0 }')
[ "$size" -le 1024 ] || fail "the limit on the size does not hold: $size bytes"

# Without permission: exit code 3, and the message names the missing capability.
if command -v setpriv >/dev/null; then
	mkdir -m 1777 theirs
	run 3 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$CPPROF" daemon --database "$HERE/theirs/db"
	says "CAP_PERFMON"
fi

# --cgroup: only processes of that cgroup are sampled.
group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -z "$group" ] || group=$group/cpprof_test.$$
if [ -n "$group" ] && mkdir "$group" 2>/dev/null; then
	start bash -c 'echo $$ >"$2/cgroup.procs"; exec "$1" 300' bash "$SPIN" "$group"
	inside=$pid
	sleep 0.5
	run 0 "$CPPROF" daemon -q --database group --epoch 1s -d 2 -F 199 --cgroup "$group"
	"$CPPROF" export --database group --since 1h -f json >group.json
	python3 - "$inside" <<'PY' || fail "processes outside the cgroup were sampled"
import json, sys
pids = json.load(open("group.json"))["processes"]["pid"]
sys.exit(set(pids) - {0} != {int(sys.argv[1])})  # 0: interrupts
PY
	kill -9 "$inside"
	wait "$inside" 2>/dev/null
	await rmdir "$group"
else
	echo "skipped: --cgroup: no cgroup can be created"
fi
