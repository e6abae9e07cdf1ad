#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# daemon --push and --listen: every sample arrives exactly once, in the protocol of each server; profiles that cannot be sent
# are queued up to a limit; dropped ones are counted; Prometheus can scrape the daemon.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$HERE/cache
here=$(dirname "$0")
run 0 "$CPPROF" record -q --no-resolve --raw raw.data -F 499 -o one.data -- bash -c '"$1" 1 & "$1" 2.2 & for i in 1 2 3 4 5 6 7 8 9; do xz -0 -c "$1" >/dev/null; done; wait' bash "$SPIN"

# serve FOLDER [FAILURES]: starts a server, with its address in $url.
serve() {
	rm -f "$1.port"
	start python3 "$here/push_server.py" "$1.port" "$@"
	await test -s "$1.port"
	url=http://127.0.0.1:$(cat "$1.port")
}
daemon() { "$CPPROF" daemon --file raw.data --epoch 1s --database "$@"; }
counts() { awk -v name="cpprof_$1" '$1 == name { print $2 }' "$2"; }
samples() { "$CPPROF" epochs "$1" -f ndjson | python3 -c 'import json, sys; print(sum(json.loads(line)["samples"] for line in sys.stdin))'; }
queued() { ls "$1/outbox" 2>/dev/null | wc -l; }

# Without libcurl, the daemon exits with a message and records nothing.
if ! ldconfig -p | grep -q libcurl.so.4; then
	run 1 daemon none --push http://127.0.0.1:1
	says "libcurl"
	skip "libcurl is not installed"
fi

# Every protocol; the sums equal those of the database.
for path in "" /ingest /push.v1.PusherService/Push /api/profiles/writeraw; do
	name=to$(echo "$path" | tr -c 'a-zA-Z\n' _)
	serve "$name.got"
	run 0 daemon "$name" --push "$url$path" --push-otlp "$url/" --push-header 'X-Scope-OrgID: team' --metrics "$name.prom"
	python3 "$here/push_sums.py" "$name.got" >sums.log || fail "the profiles pushed to '$path' cannot be read"
	want=$(samples "$name")
	grep -qx "pprof total $want" sums.log || fail "pprof to '$path': not $want samples: $(cat sums.log)"
	grep -qx "otlp total $want" sums.log || fail "otlp: not $want samples: $(cat sums.log)"
	grep -q "^pprof spin " sums.log || fail "no service 'spin' in pprof"
	grep -q "^otlp spin " sums.log || fail "no service 'spin' in otlp"
	! grep -v ' team$' "$name.got/requests" >/dev/null || fail "a request lacks the header of --push-header"
	# One request for each epoch, service and server.
	sort -k3 "$name.got/requests" | awk '{ print $2, $3 }' | grep -c "spin$" >n.log
	[ "$(counts push_sent_total "$name.prom")" = "$(wc -l <"$name.got/requests")" ] || fail "push_sent_total is wrong"
	[ "$(counts push_dropped_total "$name.prom")" = 0 ] || fail "profiles were dropped"
	[ "$(queued "$name")" = 0 ] || fail "profiles are still queued"
done

# The server is not running: all profiles are queued, and the next daemon sends them. Nothing is sent twice.
run 0 daemon later --push http://127.0.0.1:1 --metrics later.prom
says "cannot be pushed to http://127.0.0.1:1"
waiting=$(queued later)
[ "$waiting" -gt 1 ] || fail "only $waiting profiles are queued"
[ "$(counts push_queued later.prom)" = "$waiting" ] || fail "push_queued is not the number of queued profiles"
[ "$(counts push_failed_total later.prom)" -ge 1 ] || fail "push_failed_total does not count the failure"
serve later.got
run 0 "$CPPROF" record -q --no-resolve --raw short.data -F 499 -o two.data -- "$SPIN" 0.5
run 0 "$CPPROF" daemon --file short.data --database later --push "$url"
want=$(samples later)
python3 "$here/push_sums.py" later.got >sums.log
grep -qx "pprof total $want" sums.log || fail "the next daemon did not send $want samples: $(cat sums.log)"
[ "$(queued later)" = 0 ] || fail "profiles are still queued"

# A failed request is repeated; messages do not contain the password; what the server rejects permanently is discarded.
serve again.got 1
run 0 daemon again --push "${url/:\/\//:\/\/user:secret@}"
! grep -q secret run.log || fail "the output contains the password"
serve never.got
run 0 daemon never --push "$url/no/such/path" --metrics never.prom
says "discarded"
[ "$(counts push_dropped_total never.prom)" -ge 1 ] || fail "push_dropped_total does not count the rejected profiles"
[ "$(queued never)" = 0 ] || fail "profiles that were rejected are still queued"

# --push-queue limits the queue: the oldest profiles are dropped and counted.
run 0 daemon bound --push http://127.0.0.1:1 --push-queue 1k --metrics bound.prom
[ "$(counts push_dropped_total bound.prom)" -ge 1 ] || fail "nothing was dropped"
[ "$(du -sb bound/outbox | cut -f1)" -lt 10000 ] || fail "the queue exceeds its limit"

run 2 daemon wrong --push ftp://127.0.0.1
says "cannot push to"
run 2 daemon wrong --push http://127.0.0.1 --push-header team
says "NAME: VALUE"
run 2 daemon wrong --listen nowhere
says "cannot listen on"

# --listen: an endpoint for Prometheus on localhost.
[ "$(id -u)" = 0 ] || exit 0
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
start "$SPIN" 60
start "$CPPROF" daemon -q --database live --epoch 2s -F 199 --listen "$port"
daemon_pid=$pid
ask() { python3 -c 'import sys, urllib.request as r; a = r.urlopen(sys.argv[1], timeout=5); print(a.headers["Content-Type"]); sys.stdout.write(a.read().decode())' "http://127.0.0.1:$port$1" >ask.log 2>ask.err; }
has() { ask "$1" && grep -q "$2" ask.log; }
await has /metrics '^cpprof_samples_total [1-9]'
grep -q "^text/plain; version=0.0.4" ask.log || fail "the content type of /metrics is $(head -1 ask.log)"
sed 1d ask.log >metrics.prom
grep -q '^cpprof_cpu_seconds_total{process="spin"} [0-9.]*$' metrics.prom || fail "no CPU time of spin"
await has /functions '^cpprof_self_seconds{.*function="'
sed 1d ask.log >functions.prom
grep -qx "# EOF" functions.prom || fail "/functions does not end with # EOF"
promtool=$(command -v promtool || ls "$BUILD/consumers/prometheus/debian/usr/bin/promtool" 2>/dev/null)
if [ -n "$promtool" ]; then
	"$promtool" check metrics <metrics.prom >promtool.log 2>&1 || fail "promtool rejects /metrics"
else
	echo "skipped: check of /metrics by promtool, which is not installed"
fi
! ask /other || fail "an unknown path is answered"
grep -q 404 ask.err || fail "an unknown path does not give 404"
run 1 "$CPPROF" daemon --database other --listen "$port"
says "cannot listen"
! python3 -c 'import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)' "$(hostname -I | awk '{ print $1 }')" "$port" 2>/dev/null || fail "the port is reachable from other hosts"
kill -TERM "$daemon_pid"
wait "$daemon_pid" || fail "exit code $? of the daemon"
