#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks the systemd unit: systemd accepts it, it has exactly the capabilities that the daemon needs, and the daemon
# accepts its command line. usage: unit.sh; needs CPPROF and SOURCE in the environment.
set -u
: "${SOURCE:?}" "${CPPROF:?}"
unit=$SOURCE/packaging/cpprof.service
command -v systemd-analyze >/dev/null || { echo "skipped: no systemd-analyze"; exit 77; }
folder=$(mktemp -d "${TMPDIR:-/tmp}/cpprof_test.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# cpprof is not installed at the path in the unit.
sed "s|/usr/bin/cpprof|$CPPROF|; /^Documentation/d" "$unit" >"$folder/cpprof.service"
systemd-analyze verify --man=no "$folder/cpprof.service" >"$folder/log" 2>&1
if grep 'cpprof.service' "$folder/log"; then
	echo "FAILED: systemd does not accept the unit"
	exit 1
fi
wanted="CAP_BPF CAP_DAC_READ_SEARCH CAP_PERFMON CAP_SETGID CAP_SETUID CAP_SYS_PTRACE"
has=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr ' ' '\n' | sort | tr '\n' ' ')
[ "$has" = "$wanted " ] || { echo "FAILED: capabilities: $has"; exit 1; }
for limit in LimitNICE LimitRTPRIO; do
	grep -q "^$limit=" "$unit" || { echo "FAILED: no $limit"; exit 1; }
done
# The daemon accepts every option in ExecStart.
for option in $(sed -n 's/^ExecStart=//p' "$unit" | grep -o -- '--[a-z-]*'); do
	"$CPPROF" daemon --list-options | grep -qx -- "$option" || { echo "FAILED: the daemon has no $option"; exit 1; }
done
