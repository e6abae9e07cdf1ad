#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Repeated runs and MPI ranks: --repeat writes a profile for each run and stops after a failed one; %r is the rank; a killed
# rank leaves its last checkpoint; unresolved profiles of ranks can be merged and then resolved.
. "$(dirname "$0")/lib.sh"
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID

# Each run has its own file and quality line.
run 0 "$CPPROF" record --repeat 3 -o run-%n.data -- "$SPIN" 0.2
[ "$(grep -c 'cpprof: quality: ' run.log)" = 3 ] || fail "not every run has a quality line"
says "run 2 of 3"
for i in 1 2 3; do
	facts run-$i.data
done
run 0 "$CPPROF" record -q --repeat 2 -- "$SPIN" 0.1
facts cpprof-2.data
[ ! -e cpprof.data ] || fail "a run was written to cpprof.data"
run 0 "$CPPROF" merge -o runs.data run-1.data run-2.data run-3.data
facts runs.data

# The first failed run is the last.
printf '#!/bin/sh\necho x >>count\n"$1" 0.1\n[ "$(wc -l <count)" -lt 2 ] || exit 9\n' >fails
chmod +x fails
run 9 "$CPPROF" record --repeat 4 -o fail-%n.data -- ./fails "$SPIN"
says "run 2 of 4 failed; the others were not started"
[ "$(wc -l <count)" = 2 ] || fail "runs were started after the failed one"
facts fail-1.data
facts fail-2.data

# SIGINT also ends the series.
start "$CPPROF" record --repeat 3 -o stop-%n.data -- "$SPIN" 30
await test -e /proc/$pid/task/$pid/children
await sh -c "grep -q . /proc/$pid/task/$pid/children"
sleep 0.5
kill -INT $pid
wait $pid
[ -e stop-1.data ] || fail "the interrupted run left no profile"
[ ! -e stop-2.data ] || fail "another run was started after SIGINT"

# Usage errors.
run 2 "$CPPROF" record --repeat 3 -o one.data -- "$SPIN" 0.1
says "put %n into -o 'one.data'"
run 2 "$CPPROF" record --repeat 3 -o run-%n.data --raw raw.data -- "$SPIN" 0.1
says "put %n into --raw 'raw.data'"
run 2 "$CPPROF" attach --repeat 3 -p $$
says "--repeat needs a command to run"
run 2 "$CPPROF" record -o rank-%r.data -- "$SPIN" 0.1
says "%r stands for the rank in an MPI job"

# Ranks, from the variables that mpirun and srun set.
for rank in 0 1 2 3; do
	OMPI_COMM_WORLD_RANK=$rank SLURM_PROCID=7 run 0 "$CPPROF" record -q --no-resolve -o rank-%r.data -- "$SPIN" 0.2
	facts rank-$rank.data
	fact "rank $rank"
done
[ ! -e rank-7.data ] || fail "SLURM_PROCID took precedence over OMPI_COMM_WORLD_RANK"
run 0 "$CPPROF" merge -o job.data rank-0.data rank-1.data rank-2.data rank-3.data
run 0 "$CPPROF" resolve job.data
facts job.data
fact "rank 3"
"$CPPROF" report job.data >report.log || fail "no report of the merged job"
grep -q spin report.log || fail "the merged profile was not resolved"

# A killed rank: its last checkpoint is a valid profile.
OMPI_COMM_WORLD_RANK=5 start "$CPPROF" record -q --checkpoint 0.3 -o rank-%r.data -- "$SPIN" 5
await test -s rank-5.data
kill -KILL $pid
wait $pid
facts rank-5.data
run 0 "$CPPROF" merge -o job.data rank-0.data rank-5.data
facts job.data
fact "rank 5"
