#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Merges 100,000 ranks with --reduce: the result is below 100 MB, and the memory used below 512 MB. usage: merge_ranks.sh [N]
. "$(dirname "$0")/lib.sh"

"$BUILD/tests/bench/micro_merge" reduce "${1:-100000}" 2000 200000 >said.log || fail "cannot reduce"
cat said.log
disk=$(sed -n 's/.* \([0-9]*\)\.[0-9]* MB on disk.*/\1/p' said.log)
peak=$(sed -n 's/.* peak \([0-9]*\)\.[0-9]* MB$/\1/p' said.log)
[ "$disk" -lt 100 ] || fail "$disk MB on disk"
[ "$peak" -lt 512 ] || fail "$peak MB of memory"
