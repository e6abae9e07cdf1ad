#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests debuginfod with a server on the loopback: it is queried only if DEBUGINFOD_URLS names it, files of another program
# are refused, a stalled server times out, and progress is shown.
. "$(dirname "$0")/lib.sh"
need gcc objcopy strip nm readelf python3
case ${DEBUGINFOD_BY-library} in # a static cpprof runs debuginfod-find
library) ldconfig -p 2>/dev/null | grep -q libdebuginfod.so.1 || skip "no libdebuginfod" ;;
command) need debuginfod-find ;;
esac

printf 'int work(int x)\n{\n\treturn x * 3 + MARK;\n}\nint main(int argc, char **argv)\n{\n\t(void)argv;\n\treturn work(argc);\n}\n' >a.c
printf 'int other(int x)\n{\n\treturn x * 5;\n}\n' >b.c
make() { # NAME NUMBER: builds a program with a unique build-id and a separate debug file
	gcc -O1 -g -DMARK="$2" -Wl,--build-id=sha1 -o "$1.whole" a.c b.c || fail "cannot compile"
	strip -g "$1.whole" -o "$1"
	objcopy --only-keep-debug "$1.whole" "$1.debug"
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}
mkdir served
id=$(make plain 1)
absent=$(make absent 2)
wrong=$(make wrong 3)
stalled=$(make stalled 4)
slow=$(make slow 5)
[ "$id" != "$absent" ] || fail "two programs have the same build-id"
cp plain.debug "served/$id.debug"
cp plain.debug "served/$wrong.debug"
cp slow.debug "served/$slow.slow"
touch "served/$stalled.stall"
python3 "$TESTS/server.py" served port 2>server.log &
started+=($!)
for _ in $(seq 100); do
	[ -s port ] && break
	sleep 0.05
done
[ -s port ] || skip "cannot start a server on the loopback"
url=http://127.0.0.1:$(cat port)
export DEBUGINFOD_CACHE_PATH=$HERE/fetched no_proxy=127.0.0.1
line='"file":"'$HERE'/a.c","line":'
symbols=plain.whole

# No server is queried unless the user names one.
locate plain work -v
grep -qF "$line" out.log && fail "line numbers without debug information"
[ ! -e served/asked ] || fail "a server was queried although none was named"

DEBUGINFOD_URLS=$url locate plain work -v
shows "$line"
warns "asking debuginfod for 'plain'"
grep -q "/buildid/$id/debuginfo" served/asked || fail "the server was not queried"

DEBUGINFOD_URLS=$url locate absent work -v
warns "debuginfod does not have 'absent'"
shows '"function":"work","file":null'

# The server's files are checked like any others.
DEBUGINFOD_URLS=$url locate wrong work
warns "warning: .* does not belong to 'wrong': its build-id differs"
grep -qF "$line" out.log && fail "a refused file was used"

# No server, or one that does not answer: a warning, and names from symbols only.
DEBUGINFOD_URLS=http://127.0.0.1:1 locate absent work
shows '"function":"work","file":null'
DEBUGINFOD_TIMEOUT=1 DEBUGINFOD_URLS=$url locate stalled work
warns "warning: debuginfod failed for 'stalled'"
grep -q $'\r' err.log && fail "progress is shown although stderr is not a terminal"
shows '"function":"work","file":null'

# On a terminal, a progress line is shown after a second and erased at the end; otherwise there is none.
cat >terminal.py <<'P'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.dup2(os.open("address", os.O_RDONLY), 0)
    os.dup2(os.open("out.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
try:
    while True:
        piece = os.read(fd, 4096)
        if not piece:
            break
        text += piece
except OSError:
    pass
os.waitpid(pid, 0)
sys.stdout.write(text.decode(errors="replace"))
P
nm slow.whole | awk '$3 == "work" || $3 == "other" { print $1 }' >address
DEBUGINFOD_URLS=$url python3 terminal.py "$CPPROF" inspect locations --no-cache --threads 1 slow >err.log
shows "$line"
shows "$HERE/b.c"
warns "fetching debug information of 'slow': [0-9]* of [0-9]* KiB"
warns "looking up names: 1 of 2 units"
[ "$(tail -c 4 err.log)" = $'\r\e[K' ] || fail "the progress line is not erased"
exit 0
