#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests cpprof without its optional libraries: it builds without all of them and without each one, links none of those,
# passes its unit tests, and tells the user what is missing. usage: without.sh FOLDER; needs SOURCE in the environment.
set -u
: "${SOURCE:?}"
folder=$1

fail() {
	echo "FAILED: $1"
	tail -n 40 "$folder.log"
	exit 1
}

mkdir -p "$(dirname "$folder")"
cmake -S "$SOURCE" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 -DCPPROF_WERROR=ON -DCPPROF_DECODER=zydis \
	-DCPPROF_BPF=OFF -DCPPROF_CJSON=OFF -DCPPROF_LIBDWARF=OFF -DCPPROF_LIBDW=OFF >"$folder.log" 2>&1 || fail "configuring"
for library in libbpf cJSON; do
	grep -q "no $library:" "$folder.log" || fail "CMake does not report that $library is missing"
done
cmake --build "$folder" -j2 >"$folder.log" 2>&1 || fail "building"
needed=$(readelf -d "$folder/cmd/cpprof" | grep NEEDED) || fail "readelf"
for library in libbpf libcjson libdwarf libdw; do
	grep -q "\[$library\.so" <<<"$needed" && fail "cpprof is linked with $library"
done
"$folder/cmd/cpprof" --version | grep -q 'decoder: zydis' || fail "the decoder is not Zydis"
ctest --test-dir "$folder" --output-on-failure --no-tests=error -L unit >"$folder.log" 2>&1 || fail "unit tests"
grep 'tests passed' "$folder.log"
ctest --test-dir "$folder" --output-on-failure --no-tests=error -R '^e2e\.settings$' >"$folder.log" 2>&1 || fail "settings"
grep 'tests passed' "$folder.log"

# record -v and the profile say why stacks are cut off.
cpprof=$folder/cmd/cpprof profile=$folder/deep.data
why='stacks deeper than --stack-size are cut off: cpprof was built without libbpf'
code=0
"$cpprof" record -v -o "$profile" -- "$folder/tests/e2e/paths" 0.3 2500 100000 >"$folder.log" 2>&1 || code=$?
case $code in
0)
	grep -q "$why" "$folder.log" || fail "-v does not say why stacks are cut off"
	"$cpprof" report --no-pager --view quality "$profile" >"$folder.log" 2>&1 || fail "report"
	grep -q "$why" "$folder.log" || fail "the quality view does not say why stacks are cut off"
	"$folder/tests/e2e/facts" "$profile" >"$folder.log" || fail "the profile is inconsistent"
	grep -q '^end snapshot_ended' "$folder.log" || fail "no stack was cut off at the end of the snapshot"
	;;
5) echo "not checked, perf_event is not available here: where stacks end without libbpf" ;;
*) fail "record ended with $code" ;;
esac

# --reader fails for a missing library; functions in a unit that our reader refuses keep their symbol names.
for reader in libdwarf libdw; do
	echo 0 | "$cpprof" inspect locations --reader $reader "$cpprof" >"$folder.log" 2>&1 && fail "--reader $reader"
	grep -q 'built without it' "$folder.log" || fail "--reader $reader does not say why"
done
ctest --test-dir "$folder" --output-on-failure --no-tests=error -R '^names\.refused$' >"$folder.log" 2>&1 || fail "refused units"
grep 'tests passed' "$folder.log"

for library in BPF CJSON LIBDWARF LIBDW; do
	options=()
	for other in BPF CJSON LIBDWARF LIBDW; do
		options+=("-DCPPROF_$other=$([ $other = $library ] && echo OFF || echo ON)")
	done
	cmake "$folder" "${options[@]}" >"$folder.log" 2>&1 || fail "configuring without $library alone"
	cmake --build "$folder" -j2 --target cpprof >"$folder.log" 2>&1 || fail "building without $library alone"
	"$cpprof" --version >"$folder.log" || fail "cpprof without $library alone"
done
echo "built without each of libbpf, cJSON, libdwarf and libdw"
