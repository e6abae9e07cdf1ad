#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The daemon under adverse conditions (SIGKILL, clock set back, full disk, deleted programs, very many processes): it keeps
# running, reports what is lost, and leaves a readable database.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "only root may profile the whole machine"
"$CPPROF" record -a -q --no-resolve -o probe.data -- true >probe.log 2>&1
case $? in 0 | 5) ;; *) skip "record -a: $(head -1 probe.log)" ;; esac
export XDG_CACHE_HOME=$HERE/cache
start "$SPIN" 300

# whole DATABASE: it can be read, and all its files are complete.
whole() {
	run 0 "$CPPROF" epochs "$1"
	for file in "$1"/epochs/[0-9]*.epoch "$1"/images/*.names; do
		[ -e "$file" ] || continue
		"$CPPROF" check "$file" >check.log 2>&1 || fail "$file is damaged: $(head -2 check.log)"
	done
}

# Killed again and again, at different moments.
for i in 1 2 3 4 5 6 7 8; do
	start "$CPPROF" daemon -q --database killed --epoch 1s --checkpoint 0.2 -F 199
	sleep "$(awk -v i="$i" 'BEGIN { print 0.3 + i * 0.37 }')"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	whole killed
done
run 0 "$CPPROF" daemon -q --database killed --epoch 1m -d 4 -F 99
whole killed
run 0 "$CPPROF" report --database killed --since 1h --process spin --no-pager
says "burn"

# The clock was set back (as seen from the last epoch's end): new epochs do not overlap existing ones.
last=$(ls killed/epochs | sort -t- -k2n | tail -1)
future=$(($(date +%s) + 3600))000
mv "killed/epochs/$last" "killed/epochs/${last%%-*}-$future.epoch"
run 0 "$CPPROF" daemon -q --database killed --epoch 1s -d 2 -F 99
for name in $(ls killed/epochs); do
	start_ms=${name%%-*}
	[ "$start_ms" -le "${last%%-*}" ] || [ "$start_ms" -ge "$future" ] || fail "epoch $name overlaps an earlier epoch"
done
[ "$(ls killed/epochs | sort -n | tail -1 | cut -d- -f1)" -ge "$future" ] || fail "nothing was recorded after the clock was set back"

# The disk is full: the oldest epochs are dropped with a message, and the rest can be read.
mkdir disk
if mount -t tmpfs -o size=600k none disk 2>mount.log; then
	trap 'for pid in "${started[@]}"; do kill -9 "$pid" 2>/dev/null; done; cd /; umount "$HERE/disk" 2>/dev/null; rm -rf "$HERE"' EXIT
	"$CPPROF" daemon --database disk/db --epoch 1s -d 4 -F 99 >full.log 2>&1
	head -c 600k /dev/zero >disk/fill 2>/dev/null
	"$CPPROF" daemon --database disk/db --epoch 1s -d 4 -F 99 >full.log 2>&1
	code=$?
	grep -qE "disk is full|No space left" full.log || fail "no message about a full disk: $(cat full.log)"
	[ "$code" -le 1 ] || fail "exit code $code on a full disk"
	rm disk/fill
	whole disk/db
	run 0 "$CPPROF" daemon -q --database disk/db --epoch 1s -d 2 -F 99
	[ "$(ls disk/db/epochs | wc -l)" -gt 0 ] || fail "nothing is recorded when there is space again"
	umount disk
else
	echo "skipped: a full disk: no file system can be mounted: $(head -1 mount.log)"
fi

# Programs that are overwritten in place, and programs deleted before symbol lookup.
cp "$SPIN" replaced
cp "$SPIN" vanishes
start "$CPPROF" daemon -q --database moved --epoch 3s -F 199
daemon=$pid
./vanishes 2 &
./replaced 1 &
sleep 0.5
rm vanishes
sleep 1
cat "$BUILD/tests/e2e/one_path" >replaced.new 2>/dev/null || cp /bin/true replaced.new
cat replaced.new >replaced 2>/dev/null || mv replaced.new replaced
sleep 4
kill -TERM "$daemon"
wait "$daemon" || fail "exit code $? of the daemon"
whole moved
run 0 "$CPPROF" report --database moved --since 1h --process vanishes --no-pager
says "burn"

# As many processes as this machine can start: memory does not grow with exited processes, and they are in the metrics.
cat >many.py <<'PY'
import os, sys, time
end, n = time.time() + float(sys.argv[1]), 0
while time.time() < end:
    os.posix_spawn("/bin/true", ["true"], {})
    n += 1
    if n % 64 == 0:
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break
print(n)
PY
start "$CPPROF" daemon -q --database many --epoch 2s -F 99 --metrics many.prom --allow command:true --allow 'command:python*' --allow command:spin
daemon=$pid
await test -s many.prom
python3 many.py 5 >n.log
early=$(awk '/RssAnon/ { print $2 }' "/proc/$daemon/status")
python3 many.py 15 >n.log
late=$(awk '/RssAnon/ { print $2 }' "/proc/$daemon/status")
echo "$(cat n.log) processes in 15 s; $early kB, then $late kB"
[ "$late" -lt $((early + 40000)) ] || fail "memory grows with exited processes: $early kB, then $late kB"
kill -TERM "$daemon"
wait "$daemon" || fail "exit code $? of the daemon"
whole many
grep -q '^cpprof_cpu_seconds_total{process="true"} ' many.prom || fail "short-lived processes are not in the metrics"
