#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Checks the installed cpprof on a server: record, attach, report, export, resolve. Uses only a POSIX shell and basic
# tools, so that it runs in a root that contains only busybox. usage: installed.sh CPPROF FOLDER    FOLDER: for output
set -u
cpprof=$1
folder=$2

fail() {
	echo "FAILED: $*"
	[ -z "$pid" ] || kill -9 "$pid"
	exit 1
}

# Uses CPU time in the shell itself, so that no other program is needed.
burn='i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
pid=
export XDG_CACHE_HOME="$folder/cache" XDG_CONFIG_HOME="$folder/config" HOME="$folder"
mkdir -p "$folder/config/cpprof" "$folder/cache" || exit 2
cd "$folder" || exit 2

"$cpprof" --version | grep -q '^cpprof [0-9]' || fail "--version"
"$cpprof" record --help | grep -q 'usage: cpprof record' || fail "record --help"

"$cpprof" record -q -o record.data -- /bin/sh -c "$burn; exit 7"
code=$?
[ $code = 7 ] || fail "record ended with $code, not with the status of its command"
"$cpprof" check record.data >/dev/null || fail "check"
"$cpprof" report record.data --no-pager >report.txt || fail "report"
grep -q 'ran for .* samples' report.txt || fail "the report does not say how long the program ran"
grep -q '% complete' report.txt || fail "the report has no quality line"
complete=$(sed -n 's/.*samples, \([0-9]*\)[.0-9]*% complete.*/\1/p' report.txt)
[ "${complete:-0}" -ge 90 ] || fail "only '$complete' % of the stacks are complete"
"$cpprof" report record.data --html report.html 2>/dev/null || fail "report --html"
grep -q '<html' report.html || fail "report.html is not an HTML page"
"$cpprof" export record.data -o record.pb.gz || fail "export"
[ -s record.pb.gz ] || fail "the export is empty"
"$cpprof" resolve record.data -o resolved.data >/dev/null 2>resolve.txt || fail "resolve: $(cat resolve.txt)"

/bin/sh -c 'while :; do :; done' &
pid=$!
"$cpprof" attach -q -p $pid -d 1 -o attach.data || fail "attach"
kill -9 $pid
pid=
"$cpprof" report attach.data --no-pager | grep -q 'was watched for' || fail "report of attach"

# Features that need a library: the settings file (cJSON), and debuginfod, which is not available here.
echo '{ "report": { "view": "quality" } }' >config/cpprof/config.json
"$cpprof" report record.data --no-pager >settings.txt || fail "report with settings"
! cmp -s settings.txt report.txt || fail "the settings file is not used"
PATH=/nowhere DEBUGINFOD_URLS=http://127.0.0.1:1 "$cpprof" resolve record.data -o resolved.data --no-cache >/dev/null 2>resolve.txt ||
	fail "resolve without debuginfod"
grep -q 'debuginfod-find is not installed' resolve.txt || fail "no message says that debuginfod-find is missing"
exit 0
