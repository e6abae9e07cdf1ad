#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Debug information can name any file as source. Reports made by root show only files that the user of the profiled process
# could read, and reports are not world-readable.
. "$(dirname "$0")/../e2e/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to read what others cannot"
need setpriv gcc python3

echo 'int secret_of_root; /* hunter2 */' >secret.txt
for i in $(seq 200); do echo "hunter2 line $i"; done >>secret.txt
chmod 600 secret.txt
cat >claims.c <<EOF
#include <sys/prctl.h>
#line 1 "$HERE/secret.txt"
volatile double x;
__attribute__((noinline)) void burn(void) { for (int i = 0; i < 100000000; i++) x = x * 1.0001 + 1; }
int main(void) { prctl(PR_SET_DUMPABLE, 0); burn(); }
EOF
gcc -O1 -g claims.c -o claims || skip "gcc cannot link"
chmod 755 claims

mode() { stat -c %a "$1"; }
# The parts of an HTML report are compressed.
cat >unpack.py <<'EOF'
import base64, re, sys, zlib
parts = re.findall('id="(?:source-[0-9]*|block-meta)">([^<]*)<', open(sys.argv[1]).read())
assert parts
for part in parts:
    print(zlib.decompress(base64.b64decode(part), -15).decode(errors="replace"))
EOF
# shown COMMAND...: is the file's text in what the command prints, or in its out.html?
shown() {
	rm -f out.html
	run 0 "$@"
	[ ! -e out.html ] || python3 unpack.py out.html >>run.log 2>&1 || fail "cannot unpack the HTML report of: $*"
	grep -q hunter2 run.log
}
hides() {
	! shown "$@" || fail "shows a file that the process could not read: $*"
}
shows() {
	shown "$@" || fail "does not show a file that the process could read: $*"
}

as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
# Root attaches to another user's process. It is not dumpable, so its files in /proc belong to root, although the process
# does not.
start "${as_nobody[@]}" "$HERE/claims"
run 0 "$CPPROF" attach -p "$pid" -d 0.3 -o theirs.data
# A process of root that changes its user ID, and one that does not.
run 0 "$CPPROF" record -o forked.data -- "${as_nobody[@]}" "$HERE/claims"
run 0 "$CPPROF" record -o own.data --raw own.raw -- ./claims
# A raw recording does not contain the user of a process, but the owner of the program's file is known.
cp claims their_claims
chown 65534:65534 their_claims
run 0 "$CPPROF" record -o /dev/null --raw theirs.raw -- "${as_nobody[@]}" ./their_claims
run 0 "$CPPROF" import -o imported.data theirs.raw
run 0 "$CPPROF" merge -o merged.data theirs.data own.data
# A profile owned by another user may be forged, for example claim that the process was root's.
cp own.data forged.data
chown 65534:65534 forged.data

# A program that another user starts from root's process, and that has ended before cpprof could ask whose it was.
cat >late.sh <<EOF
while [ ! -e go ]; do sleep 0.01; done
${as_nobody[*]} "$HERE/claims"
touch ended
EOF
# late OPTION...
late() {
	rm -f go ended
	start "$CPPROF" record -q -o late.data "$@" -- bash late.sh
	await pgrep -P "$pid" >/dev/null
	sleep "$(slow 0.5)"
	kill -STOP "$pid"
	touch go
	await test -e ended
	kill -CONT "$pid"
	wait "$pid" || fail "record $*: exit code $?"
	hides "$CPPROF" annotate --all late.data burn
}

# each_command hides|shows: every command that shows source, on processes of the other user.
each_command() {
	local file view
	for file in theirs forked imported merged; do
		"$1" "$CPPROF" annotate --all "$file.data" burn
		"$1" "$CPPROF" report "$file.data" --html out.html
	done
	for view in tree hot loops; do
		"$1" "$CPPROF" report --view "$view" theirs.data
	done
	"$1" "$CPPROF" report --view loops --format json theirs.data
	"$1" "$CPPROF" report --view tree --format csv theirs.data
	"$1" "$CPPROF" annotate --all --source-dir "$HERE" theirs.data burn
	"$1" "$CPPROF" export theirs.data -o out.html
	"$1" "$CPPROF" diff theirs.data own.data --html out.html
	"$1" "$CPPROF" import theirs.raw -o out.html
	"$1" "$CPPROF" record -o out.html -- "${as_nobody[@]}" "$HERE/claims"
	"$1" "$CPPROF" record -o watched.data --watch out.html -- "${as_nobody[@]}" "$HERE/claims"
}
each_command hides
run 0 "$CPPROF" annotate --all theirs.data burn
says "was not found, or user 65534 may not read it"
late
late --deep-stack 0
late -a
hides "$CPPROF" report forged.data --html out.html
hides "$CPPROF" annotate --all - burn <forged.data
shows "$CPPROF" annotate --all - burn <own.data
# The author of what comes through a pipe is unknown.
hides "$CPPROF" annotate --all - burn < <(cat own.data)
hides "$CPPROF" export forged.data -o out.html
chmod 604 secret.txt
each_command shows
chmod 600 secret.txt
run 0 "$CPPROF" report theirs.data --html theirs.html
[ "$(mode theirs.html)" = 600 ] || fail "an HTML report has mode $(mode theirs.html)"

# Root's own process, profiled by root; and by a user with sudo.
shows "$CPPROF" annotate --all own.data burn
shows "$CPPROF" export own.data -o out.html
shows "$CPPROF" diff own.data own.data --html out.html
shows "$CPPROF" import own.raw -o out.html
hides env SUDO_UID=65534 SUDO_GID=65534 "$CPPROF" annotate --all own.data burn
hides env SUDO_UID=65534 SUDO_GID=65534 "$CPPROF" import own.raw -o out.html
hides env SUDO_UID=65534 SUDO_GID=65534 "$CPPROF" report own.data --html out.html
[ "$(stat -c %u:%g out.html)" = 65534:65534 ] || fail "a report made under sudo belongs to $(stat -c %u out.html)"

# Permissions of the files that are written.
umask 022
run 0 "$CPPROF" export own.data -o own.json
[ "$(mode own.json)" = 600 ] || fail "an export has mode $(mode own.json)"
run 0 "$CPPROF" export own.data --mode 640 -o own.json
[ "$(mode own.json)" = 640 ] || fail "--mode 640 gave $(mode own.json)"
run 0 "$CPPROF" merge --mode 644 -o merged.data own.data
[ "$(mode merged.data)" = 644 ] || fail "--mode 644 gave $(mode merged.data)"
run 0 "$CPPROF" record --mode 664 -o mode.data -- "$SPIN" 0.1
[ "$(mode mode.data)" = 664 ] || fail "--mode 664 gave $(mode mode.data)"
run 0 "$CPPROF" export own.data -f openmetrics -o own.prom
[ "$(mode own.prom)" = 644 ] || fail "openmetrics does not honour the umask: $(mode own.prom)"
run 2 "$CPPROF" export own.data --mode 8 -o own.json
says "permissions in octal"
exit 0
