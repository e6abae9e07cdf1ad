#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# crowd: many threads and small ring buffers. Only cpprof's own scheduling priority changes, not that of the command, and
# samples, losses and times add up.
. "$(dirname "$0")/lib.sh"

# The command and its children inherit neither cpprof's nice value nor its scheduling policy (fields 19 and 41 of stat).
cat >ranks.sh <<'END'
rank() { sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f17,39; }
rank self
sh -c ". ./rank_only.sh"
END
sed -n 1p ranks.sh >rank_only.sh
echo 'rank self' >>rank_only.sh
sh ranks.sh >alone.txt
run 0 "$CPPROF" record -q -o r.data -F 1999 -- sh -c 'sh ranks.sh >profiled.txt; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
cmp alone.txt profiled.txt || fail "nice value or scheduling policy differ from those without cpprof: $(cat profiled.txt)"

# Ring buffers of the minimum size and more threads than CPUs: samples, losses and times are consistent (checked by facts).
run 0 "$CPPROF" record -q -F 999 -e cpu-clock --ring-size 1 -o t.data -- "$SPIN" 1 threads=30
facts t.data
[ "$(grep -c '^thread .* spin$' facts.log)" -ge 30 ] || fail "fewer than thirty threads of spin"
[ "$(number samples)" -ge 1 ] || fail "no samples"
exit 0
