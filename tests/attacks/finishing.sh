#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Symbol lookup may take forever: here a debuginfod server never answers. A signal ends the lookup, and the profile is
# written without symbols.
. "$(dirname "$0")/../e2e/lib.sh"
need gcc python3 strip
ldconfig -p 2>/dev/null | grep -q libdebuginfod.so.1 || skip "libdebuginfod is not installed"

echo 'volatile double x; int main(void) { for (int i = 0; i < 100000000; i++) x = x * 1.0001 + 1; }' >a.c
gcc -O1 -Wl,--build-id=sha1 a.c -o a || skip "gcc cannot link"
strip a
cat >silent.py <<'EOF'
import socket
server = socket.create_server(("127.0.0.1", 0))
with open("port.new", "w") as file:
    file.write(str(server.getsockname()[1]))
import os
os.rename("port.new", "port")
kept = []
while True:
    kept.append(server.accept())
    open("asked", "a").close()
EOF
start python3 silent.py
await test -s port
DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)
export DEBUGINFOD_URLS DEBUGINFOD_TIMEOUT=60 DEBUGINFOD_CACHE_PATH=$HERE/fetched no_proxy=127.0.0.1
export XDG_CACHE_HOME=$HERE/cache TMPDIR=$HERE/temporary
mkdir temporary

# ends SIGNAL CODE COMMAND...: sends the signal during symbol lookup; the exit status must be CODE.
ends() {
	local signal=$1 code=0
	rm -f asked
	env --default-signal=INT "${@:3}" >run.log 2>&1 &
	local one=$!
	started+=("$one")
	await test -e asked
	kill -"$signal" "$one"
	wait "$one" || code=$?
	[ "$code" = "$2" ] || fail "exit code $code, expected $2, after SIG$signal to: ${*:3}"
	says "the profile was written without them"
	local left
	left=$(find "$HERE" -name '*.new')
	[ -z "$left" ] || fail "left behind: $left: ${*:3}"
}
unnamed() {
	facts "$1"
	fact "resolved 0"
	[ "$(number samples)" -gt 10 ] || fail "only $(number samples) samples were kept"
}

ends INT 130 "$CPPROF" record -o int.data -- ./a
unnamed int.data
ends TERM 143 "$CPPROF" record -o term.data --raw raw.data -- ./a
unnamed term.data
run 0 env DEBUGINFOD_URLS= "$CPPROF" import --no-resolve -o raw_profile.data raw.data
run 0 env DEBUGINFOD_URLS= "$CPPROF" resolve term.data
facts term.data
fact "resolved 1"

# If the output is an export instead of a profile, the profile is kept in TMPDIR.
ends TERM 143 "$CPPROF" record --format json -o out.json -- ./a
[ ! -e out.json ] || fail "a partial export was written"
kept=$(sed -n 's/.*cpprof resolve //p' run.log)
unnamed "$kept"
rm -f temporary/*
run 0 env DEBUGINFOD_URLS= "$CPPROF" record --format json -o out.json -- ./a
[ -s out.json ] || fail "no export"
[ -z "$(ls temporary)" ] || fail "left behind: $(ls temporary)"
exit 0
