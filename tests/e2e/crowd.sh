#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# crowd: many threads and little room. What is taken to keep up is taken by the profiler alone, and what is told adds up.
. "$(dirname "$0")/lib.sh"

# Neither weight nor class of the profiler reach the command or what that starts (fields 19 and 41 of stat).
cat >ranks.sh <<'END'
rank() { sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f17,39; }
rank self
sh -c ". ./rank_only.sh"
END
sed -n 1p ranks.sh >rank_only.sh
echo 'rank self' >>rank_only.sh
sh ranks.sh >alone.txt
run 0 "$CPPROF" record -q -o r.data -F 1999 -- sh -c 'sh ranks.sh >profiled.txt; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
cmp alone.txt profiled.txt || fail "the command has another rank than it would have alone: $(cat profiled.txt)"

# Rings of the least size, and more threads than CPUs: samples, losses and time are told and agree with each other.
run 0 "$CPPROF" record -q -F 999 -e cpu-clock --ring-size 1 -o t.data -- "$SPIN" 1 threads=30
facts t.data
[ "$(grep -c '^thread .* spin$' facts.log)" -ge 30 ] || fail "not thirty threads of spin"
[ "$(number samples)" -ge 1 ] || fail "$(number samples) samples"
exit 0
