#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# cpprof without the libraries that it can do without: it builds, links none of them, and its unit tests pass, as does
# what it says of their absence. usage: without.sh FOLDER; needs SOURCE in the environment.
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
	grep -q "no $library:" "$folder.log" || fail "nothing is said of the missing $library"
done
cmake --build "$folder" -j2 >"$folder.log" 2>&1 || fail "building"
needed=$(readelf -d "$folder/cmd/cpprof" | grep NEEDED) || fail "readelf"
for library in libbpf libcjson libdwarf libdw; do
	grep -q "\[$library\.so" <<<"$needed" && fail "it needs $library all the same"
done
"$folder/cmd/cpprof" --version | grep -q 'decoder: zydis' || fail "the decoder is not Zydis"
ctest --test-dir "$folder" --output-on-failure --no-tests=error -L unit >"$folder.log" 2>&1 || fail "unit tests"
grep 'tests passed' "$folder.log"
ctest --test-dir "$folder" --output-on-failure --no-tests=error -R '^e2e\.settings$' >"$folder.log" 2>&1 || fail "settings"
grep 'tests passed' "$folder.log"
