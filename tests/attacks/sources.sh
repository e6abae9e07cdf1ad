#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Debug information may say that a program's source is any file. Root's reports show of it what the program's user
# could read; and what reports show is not for everybody.
. "$(dirname "$0")/../e2e/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to read what others cannot"
need setpriv gcc

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
hides() {
	! grep -q hunter2 "$@" || fail "a report shows what its process could not read: $*"
}
shows() {
	grep -q hunter2 "$@" || fail "a report does not show what its process could read: $*"
}

# The process of another user, watched by root. That it cannot be dumped makes it root's in /proc, and nowhere else.
start setpriv --reuid=65534 --regid=65534 --clear-groups "$HERE/claims"
run 0 "$CPPROF" attach -p "$pid" -d 0.3 -o theirs.data
run 0 "$CPPROF" annotate --all theirs.data burn
hides run.log
run 0 "$CPPROF" report theirs.data --html theirs.html
hides theirs.html
[ "$(mode theirs.html)" = 600 ] || fail "an HTML report has mode $(mode theirs.html)"
run 0 "$CPPROF" annotate --all --source-dir "$HERE" theirs.data burn
hides run.log
chmod 604 secret.txt
run 0 "$CPPROF" annotate --all theirs.data burn
shows run.log
chmod 600 secret.txt

# A process that becomes another user's.
run 0 "$CPPROF" record -o forked.data -- setpriv --reuid=65534 --regid=65534 --clear-groups "$HERE/claims"
run 0 "$CPPROF" annotate --all forked.data burn
hides run.log

# Root's own process, watched by root; and by somebody who typed sudo.
run 0 "$CPPROF" record -o own.data -- ./claims
run 0 "$CPPROF" annotate --all own.data burn
shows run.log
run 0 env SUDO_UID=65534 SUDO_GID=65534 "$CPPROF" annotate --all own.data burn
hides run.log
run 0 env SUDO_UID=65534 SUDO_GID=65534 "$CPPROF" report own.data --html sudo.html
hides sudo.html
[ "$(stat -c %u:%g sudo.html)" = 65534:65534 ] || fail "a report made under sudo belongs to $(stat -c %u sudo.html)"

# Who may read what is written.
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
[ "$(mode own.prom)" = 644 ] || fail "openmetrics does not keep the umask: $(mode own.prom)"
run 2 "$CPPROF" export own.data --mode 8 -o own.json
says "permissions in octal"
exit 0
