# SPDX-License-Identifier: Apache-2.0
# Sourced by script tests: a folder of their own, gone at the end with everything started in it, and words to make
# claims with. The folder is $HERE; what is in its *.log is shown when a claim fails.

set -u
# Looking for leaks costs seconds a process on some machines; unit tests do it. Everything else is looked for.
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
