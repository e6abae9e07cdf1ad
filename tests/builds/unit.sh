#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The unit file: systemd understands it, it has the capabilities that the daemon needs and no others, and the command
# line is one that the daemon takes. usage: unit.sh; needs CPPROF and SOURCE in the environment.
set -u
: "${SOURCE:?}" "${CPPROF:?}"
unit=$SOURCE/packaging/cpprof.service
command -v systemd-analyze >/dev/null || { echo "skipped: no systemd-analyze"; exit 77; }
folder=$(mktemp -d "${TMPDIR:-/tmp}/cpprof_test.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# The program is not installed where the unit has it.
sed "s|/usr/bin/cpprof|$CPPROF|; /^Documentation/d" "$unit" >"$folder/cpprof.service"
systemd-analyze verify --man=no "$folder/cpprof.service" >"$folder/log" 2>&1
if grep 'cpprof.service' "$folder/log"; then
	echo "FAILED: systemd does not understand the unit"
	exit 1
fi
wanted="CAP_BPF CAP_DAC_READ_SEARCH CAP_PERFMON CAP_SETGID CAP_SETUID CAP_SYS_PTRACE"
has=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr ' ' '\n' | sort | tr '\n' ' ')
[ "$has" = "$wanted " ] || { echo "FAILED: capabilities: $has"; exit 1; }
for limit in LimitNICE LimitRTPRIO; do
	grep -q "^$limit=" "$unit" || { echo "FAILED: no $limit"; exit 1; }
done
# Each option that it gives is one of the daemon's.
for option in $(sed -n 's/^ExecStart=//p' "$unit" | grep -o -- '--[a-z-]*'); do
	"$CPPROF" daemon --list-options | grep -qx -- "$option" || { echo "FAILED: the daemon has no $option"; exit 1; }
done
