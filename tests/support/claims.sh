# SPDX-License-Identifier: Apache-2.0
# Functions for script tests; sourced by them. Each test gets a temporary folder, $HERE, which is removed at the end, and
# everything started in it is ended. When a check fails, the folder's *.log files are printed.

set -u
# No leak detection: it can take seconds per process, and the unit tests do it. Other errors are still detected.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
: "${CPPROF:?}"
HERE=$(mktemp -d "${TMPDIR:-/tmp}/cpprof_test.XXXXXX")
chmod 755 "$HERE"
cd "$HERE" || exit 1
started=()
trap 'for pid in "${started[@]}"; do kill -9 "$pid" 2>/dev/null; done; cd /; rm -rf "$HERE"' EXIT

skip() {
	echo "skipped: $*"
	exit 77
}

fail() {
	echo "FAILED: $*"
	for file in "$HERE"/*.log; do
		[ -e "$file" ] && echo "--- $(basename "$file")" && tail -20 "$file"
	done
	exit 1
}

need() {
	for tool in "$@"; do
		command -v "$tool" >/dev/null || skip "no $tool"
	done
}

need_perf() {
	local code=0
	"$CPPROF" record -q --no-resolve -o probe.data -- true >probe.log 2>&1 || code=$?
	case $code in
	0 | 5) ;;
	*) skip "perf_event is not available here: $(head -1 probe.log)" ;;
	esac
}
