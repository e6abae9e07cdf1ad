#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs a browser driver, makes reports of recordings, and runs the browser tests (*.mjs) on them.
set -u
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "skipped: no chromium"; exit 77; }
command -v npm >/dev/null || { echo "skipped: no npm"; exit 77; }
work=$BUILD/html
mkdir -p "$work" && cd "$work" || exit 2
if [ ! -d node_modules/axe-core ]; then
	npm install --silent --no-audit --no-fund puppeteer-core@24.43.1 axe-core@4.14.0 >npm.log 2>&1 || { echo "skipped: npm cannot install puppeteer-core"; exit 77; }
fi
"$CPPROF" record -q -o r.data -- "$BUILD/examples/stencil" 2 >/dev/null 2>err
status=$?
if [ $status = 3 ] || [ $status = 5 ]; then echo "skipped: $(head -1 err)"; exit 77; fi
"$CPPROF" report r.data --html r.html && "$CPPROF" export r.data -o r.json && "$CPPROF" export r.data -o r.top.json || exit 1
cp "$SOURCE"/tests/html/*.mjs .
mkdir -p pictures
node browse.mjs r.html r.json "$chromium" pictures || failed=1
"$CPPROF" record -q -o x.data -e cpu-clock -e page-faults -- "$BUILD/examples/stencil" 1 >/dev/null && "$CPPROF" report x.data --html x.html --metric cpu-clock --derive 'told = page-faults / samples' && "$CPPROF" export x.data -o x.json && "$CPPROF" annotate --metric cpu-clock --asm x.data main >x.asm || exit 1
"$BUILD/tests/make_profile" deep d.data && "$CPPROF" report d.data --html d.html || exit 1
node deep.mjs d.html "$chromium" || failed=1
for kind in empty none one kernel threads; do
	"$BUILD/tests/make_profile" $kind e.data && "$CPPROF" report e.data --html e-$kind.html || exit 1
done
node odd.mjs "$chromium" e-*.html d.html || failed=1
"$CPPROF" report r.data >r.txt && "$CPPROF" record -q -o p.data -- sh -c '"$0" 0.5 & "$0" 0.5 & wait' "$BUILD/examples/stencil" >/dev/null && "$CPPROF" report p.data --html p.html || exit 1
"$BUILD/tests/make_profile" instances n.data && "$CPPROF" report n.data --html n.html || exit 1
node first.mjs "$chromium" r.html r.txt p.html n.html || failed=1
node extras.mjs x.html x.json "$chromium" x.asm || failed=1
# Comparisons: real runs, two per side and one per side; synthetic ones that grow, shrink, or have little in common; ranks; statistics.
for i in 1 2; do
	for run in before:0.4:$i after:0.6:$((i + 2)); do
		IFS=: read -r side seconds rank <<<"$run"
		OMPI_COMM_WORLD_RANK=$rank "$CPPROF" record -q -o $side-$i.data -- "$BUILD/examples/stencil" $seconds >/dev/null || exit 1
	done
done
# compared NAME FILE...: as a page and as two views of JSON.
compared() {
	local name=$1
	shift
	"$CPPROF" diff --html "d-$name.html" "$@" && "$CPPROF" diff -f json --view flat "$@" >"d-$name.flat.json" && "$CPPROF" diff -f json --view tree --call-sites "$@" >"d-$name.tree.json"
}
"$BUILD/tests/make_profile" 1000 small.data && "$BUILD/tests/make_profile" 3000 large.data && "$BUILD/tests/make_profile" sample s.data && "$BUILD/tests/make_profile" kernel k.data || exit 1
compared runs before-1.data before-2.data -- after-1.data after-2.data && compared single before-1.data after-1.data && compared more small.data large.data &&
	compared less large.data small.data && compared other s.data k.data || exit 1
"$CPPROF" merge --reduce -o ranks.data before-?.data after-?.data && "$CPPROF" report ranks.data --html ranks.html && "$CPPROF" report ranks.data --view flat -f csv >ranks.csv || exit 1
"$CPPROF" stats --html stats.html before-?.data after-?.data && "$CPPROF" stats -f json --percent-limit 0.5 before-?.data after-?.data >stats.json || exit 1
node diff.mjs "$chromium" || failed=1
# Paths in the margin, if they can be counted.
cc -O1 -g -o cycles "$SOURCE/tests/e2e/cycles/cycles.c" && "$CPPROF" record -q -o c.data -- ./cycles 300000 >/dev/null || exit 1
if "$CPPROF" paths -f work --format json -o c.counts -- ./cycles 300000 >/dev/null 2>err; then
	"$CPPROF" report c.data --counts c.counts --html c.html && "$CPPROF" export c.data -o c.json || exit 1
	node ways.mjs c.html c.json c.counts "$chromium" || failed=1
else
	echo "not checked: paths in the margin: $(head -1 err)"
fi
# Facts about loops.
cc -O3 -g -pthread -o facts "$SOURCE/tests/html/facts.c" && "$CPPROF" record -q -o f.data -- ./facts 1500000 >/dev/null && "$CPPROF" report f.data --html f.html && "$CPPROF" report f.data --group-by loop -f csv >f.csv || exit 1
node facts.mjs f.html f.csv "$SOURCE/tests/html/facts.c" "$chromium" || failed=1
"$BUILD/tests/make_profile" hostile h.data && "$CPPROF" report h.data --html h.html && "$CPPROF" export h.data -o h.json || exit 1
"$BUILD/tests/make_profile" sample s.data && "$CPPROF" report s.data --html s.html || exit 1
node inert.mjs h.html h.json r.html "$chromium" s.html || failed=1
exit ${failed:-0}
