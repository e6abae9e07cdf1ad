#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a newcomer types: the output format follows from the file name, attaching to a parent includes its children, and
# mistakes are harmless.
. "$(dirname "$0")/lib.sh"

# The name of the output determines its format.
for name in page.html page.svg page.pb.gz page.json.gz; do
	run 0 "$CPPROF" record -o "$name" -- "$SPIN" 0.2
	says "wrote $name"
done
head -c 15 page.html | grep -qi '<!doctype html>' || fail "page.html is not HTML"
grep -q '<svg' page.svg || fail "page.svg is not SVG"
gzip -t page.pb.gz || fail "page.pb.gz is not gzip"
gzip -dc page.json.gz | grep -q '"quality"' || fail "page.json.gz is not a JSON profile"
ln -s "$SPIN" spin_raw
run 0 "$CPPROF" record -o one.data --raw raw.data -- ./spin_raw 0.2
run 0 "$CPPROF" import -o import.svg raw.data
grep -q '<svg' import.svg || fail "import.svg is not SVG"
run 0 "$CPPROF" merge -o merge.svg one.data one.data
grep -q '<svg' merge.svg || fail "merge.svg is not SVG"

# An unspecific extension such as .prof gives a cpprof profile.
run 0 "$CPPROF" record -o x.prof -- "$SPIN" 0.2
says "wrote x.prof; look at it with: cpprof report x.prof"
run 0 "$CPPROF" report x.prof

# --label, also in a --watch file, which is rewritten during the recording.
run 0 "$CPPROF" record --watch w.prom --interval 0.2 --label service=shop -o one.data -- "$SPIN" 0.5
grep -q 'service="shop"' w.prom || fail "--watch has no --label"
run 0 "$CPPROF" record -o l.prom --label service=shop -- "$SPIN" 0.2
grep -q 'service="shop"' l.prom || fail "-o l.prom has no --label"
run 2 "$CPPROF" record --label "1x=y" -- true
says "a label name consists of letters"

# A message names the HTML file, and --open opens it.
printf '#!/bin/sh\necho "$1" >opened\n' >open_with
chmod +x open_with
run 0 "$CPPROF" report one.data --html out.html
says "wrote out.html; open it in a browser"
BROWSER=./open_with run 0 "$CPPROF" report one.data --html out.html --open
[ "$(cat opened)" = out.html ] || fail "report --open opened nothing"
rm opened
BROWSER=./open_with run 0 "$CPPROF" record -o rec.html --open -- "$SPIN" 0.2
[ "$(cat opened)" = rec.html ] || fail "record --open opened nothing"
run 2 "$CPPROF" record --open -- true

# A parent that sleeps while its children are busy: attaching to it profiles them; with --no-inherit it does not, and a
# message names a busy child.
cat >master.sh <<'END'
"$1" 300 &
echo $! >outer
(
	"$1" 300 &
	echo $! >inner
	wait
) &
wait
END
start bash master.sh "$SPIN"
master=$pid
await test -s outer
await test -s inner
started+=("$(cat outer)" "$(cat inner)")
run 0 "$CPPROF" attach -p "$master" -d 0.5 -o m.data
says "child processes are profiled, too"
facts m.data
fact "^thread $(cat outer) of $(cat outer) samples [1-9]"
fact "^thread $(cat inner) of $(cat inner) samples [1-9]"
run 5 "$CPPROF" attach -p "$master" --no-inherit -d 0.3 -o m.data
says "child process [0-9]* (spin) is busy; try: cpprof attach -p [0-9]"
kill -9 "$(cat outer)"

# All processes are descendants of process 1: attaching to it does not include its children.
if [ "$(id -u)" = 0 ] && [ "$(readlink /proc/self/ns/pid)" = "pid:[4026531836]" ]; then
	"$CPPROF" attach -p 1 -d 0.2 -o init.data >run.log 2>&1
	says "its child processes are not profiled"
fi

# The report counts its targets correctly, and long command lines are shortened with the parenthesis closed.
pids=
for i in 1 2 3 4 5 6 7 8 9 10; do
	start "$SPIN" 300
	await grep -q spin "/proc/$pid/comm"
	pids=$pids,$pid
done
run 0 "$CPPROF" attach -p "${pids#,}" -d 0.5 -o ten.data
kill -9 ${pids//,/ }
run 0 "$CPPROF" report ten.data
says "^10 processes (spin) were watched for"
start sh -c 'while :; do :; done' "an argument" "that makes" "the command line" "of this shell" "longer than a title"
run 0 "$CPPROF" attach -p "$pid" -d 0.3 -o long.data
kill -9 "$pid"
run 0 "$CPPROF" report long.data
says "^process $pid (.*) was watched"
run 0 "$CPPROF" import -o imported.data raw.data
run 0 "$CPPROF" report imported.data
says "^./spin_raw 0.2 was watched"

# Progress on a terminal: elapsed time, and how to stop.
if command -v python3 >/dev/null; then
	start "$SPIN" 300
	python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$CPPROF" attach -p "$pid" -d 2 -o p.data >run.log 2>&1 </dev/null
	kill -9 "$pid"
	says "[0-9] s of 2 s, .* complete; Ctrl-C ends and writes"
fi

# Code without symbols: the report says how to get them.
if command -v strip >/dev/null; then
	strip -o bare "$SPIN"
	run 0 "$CPPROF" record -o bare.data -- ./bare 0.3
	run 0 "$CPPROF" report bare.data
	says "is in code of bare that has no symbols"
	says "DEBUGINFOD_URLS="
	tr '\n' ' ' <run.log | grep -q "cpprof resolve bare.data" || fail "the report does not say to run cpprof resolve"
	run 0 "$CPPROF" report one.data
	! grep -q DEBUGINFOD run.log || fail "the report recommends debuginfod although symbols are there"
fi

# ... from the package of the file, if it has one; the same in every view.
run 0 "$CPPROF" record -o shell.data -- sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done'
run 0 "$CPPROF" report --view tree shell.data
packaged=$(tr '\n' ' ' <run.log | grep -o 'install [^ ]*-dbgsym')
if [ -n "$packaged" ]; then
	run 0 "$CPPROF" report shell.data
	tr '\n' ' ' <run.log | grep -qF "$packaged" || fail "only the tree says: $packaged"
fi

# If one of several targets does not exist, the others are still profiled; a run without samples does not overwrite the
# previous profile.
start "$SPIN" 300
run 0 "$CPPROF" attach -p "2147480000,$pid" -d 0.3
says "process 2147480000 is not profiled: there is no such process"
says "wrote cpprof.data"
run 0 "$CPPROF" attach -t "2147480000,$pid" -d 0.3 -o t.data
says "thread 2147480000 is not profiled: there is no such thread"
run 4 "$CPPROF" attach -p 2147480000,2147480001 -d 0.3
before=$(cksum <cpprof.data)
run 5 "$CPPROF" record -c 1000000000 -- true # a period longer than the command runs, even on a slow machine
says "cpprof.data was not changed"
start sleep 300
await grep -q "(sleep) S" "/proc/$pid/stat"
run 5 "$CPPROF" attach -p "$pid" -d 0.3 --checkpoint 0.1
[ "$(cksum <cpprof.data)" = "$before" ] || fail "a run without samples replaced a profile"
[ ! -e cpprof.data.old ] || fail "a run without samples renamed a profile"

exit 0
