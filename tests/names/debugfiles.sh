#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests where debug information is found, in which order, and which files are refused.
. "$(dirname "$0")/lib.sh"
need gcc objcopy strip nm xz readelf

printf 'int work(int x)\n{\n\treturn x * 3;\n}\nstatic __attribute__((noinline)) int hidden(int x)\n{\n\treturn x - 1;\n}\nint main(int argc, char **argv)\n{\n\t(void)argv;\n\treturn work(argc) + hidden(argc);\n}\n' >a.c
gcc -O1 -g -Wl,--build-id=sha1 -o whole a.c || fail "cannot compile"
symbols=$HERE/whole
id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
objcopy --only-keep-debug whole all.debug
at_line='"file":"'$HERE'/a.c","line":'

# In the binary itself: nothing else is searched.
locate whole work -v
shows '"function":"work"'
shows "$at_line"
grep -q "no '" err.log && fail "searched other places although the binary has debug information"

# Stripped: only the names of exported functions, unless a debug file is in one of these places.
strip -g whole -o bare
locate bare work -v
shows '"function":"work"'
grep -qF "$at_line" out.log && fail "line numbers without debug information"
warns "debug information of 'bare'"
warns "no '/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug'"

mkdir -p dirs/.build-id/"${id:0:2}"
cp all.debug dirs/.build-id/"${id:0:2}"/"${id:2}".debug
locate bare work --debug-dir "$HERE/dirs" -v
shows "$at_line"
warns "found '$HERE/dirs/.build-id/"

mkdir -p sysroot/usr/lib/debug/.build-id/"${id:0:2}"
cp all.debug sysroot/usr/lib/debug/.build-id/"${id:0:2}"/"${id:2}".debug
locate bare work --symfs "$HERE/sysroot" -v
shows "$at_line"
warns "found '$HERE/sysroot/usr/lib/debug/.build-id/"

# By debug link: next to the binary and in .debug; a file found by build-id is preferred.
cp all.debug linked.debug
objcopy --add-gnu-debuglink=linked.debug bare linked
locate linked work -v
shows "$at_line"
warns "found 'linked.debug'\|found '/linked.debug'\|found '$HERE/linked.debug'\|found './linked.debug'"
locate "$HERE/linked" work -v --debug-dir "$HERE/dirs"
warns "found '$HERE/dirs/.build-id/"
mkdir .debug
mv linked.debug .debug/
locate "$HERE/linked" work -v
shows "$at_line"
warns "found '$HERE/.debug/linked.debug'"

# Another program's debug file is refused, by build-id or by checksum, with a warning even without -v.
sed 's/x \* 3/x * 5 + 7/' a.c >b.c
gcc -O1 -g -Wl,--build-id=sha1 -o other b.c
objcopy --only-keep-debug other .debug/linked.debug
locate "$HERE/linked" work
warns "warning: debug file '$HERE/.debug/linked.debug' does not belong to '$HERE/linked': its build-id differs"
grep -qF "a.c" out.log && fail "a refused file was used"
grep -qF "b.c" out.log && fail "a refused file was used"
objcopy --remove-section .note.gnu.build-id "$HERE/linked" nameless
locate "$HERE/nameless" work
warns "its checksum differs"

# Names of functions that are only in the compressed symbol table in the binary (.gnu_debugdata).
nm whole --format=posix --defined-only | awk '$2 == "t" && $1 == "hidden" { print $1 }' >keep
objcopy -S --remove-section .gnu_debuglink --keep-symbols=keep whole mini 2>/dev/null
[ -n "$(nm mini 2>/dev/null)" ] || fail "the reduced symbol table is empty"
xz -k mini
strip whole -o stripped
objcopy --add-section .gnu_debugdata=mini.xz stripped packed
locate packed hidden
shows '"function":"hidden"'
locate stripped hidden
shows '"function":"stripped+0x'
cp out.log before
locate stripped hidden
cmp -s before out.log || fail "a synthetic name changes"

# Compressed sections, in every format that this objcopy supports.
for way in zlib zlib-gnu zlib-gabi zstd; do
	objcopy --compress-debug-sections=$way whole small 2>/dev/null || { echo "not checked: $way"; continue; }
	locate small work
	shows "$at_line"
done

# Of a compressed file only the sections needed for the address are unpacked: each function, looked up alone, has the same
# location as in the uncompressed file, also in units that refer to later units, and in one missing from .debug_aranges.
mkdir plain packed_twin
for i in 1 2 3 4 5; do
	printf 'static inline __attribute__((always_inline)) int in_%s(int x)\n{\n\treturn x * %s + 7;\n}\nint f_%s(int x)\n{\n\treturn in_%s(x) ^ in_%s(x + 1);\n}\n' \
		$i $i $i $i $i >u$i.c
done
printf 'int f_1(int), f_2(int), f_3(int), f_4(int), f_5(int);\nint main(int argc, char **argv)\n{\n\t(void)argv;\n\treturn f_1(argc) + f_2(argc) + f_3(argc) + f_4(argc) + f_5(argc);\n}\n' >m.c
for how in "-O1" "-O1 -flto -fno-inline-functions -fno-inline-small-functions -fno-inline-functions-called-once"; do
	for i in u1 u2 u3 u4 u5 m; do gcc $how -g -c $i.c -o $i.o || fail "cannot compile"; done
	objcopy --remove-section .debug_aranges --remove-section .rela.debug_aranges u3.o || fail "cannot remove .debug_aranges"
	gcc $how -g -o plain/many u1.o u2.o u3.o u4.o u5.o m.o || fail "cannot link"
	objcopy --compress-debug-sections=zlib plain/many packed_twin/many
	symbols=$HERE/plain/many
	for f in f_1 f_2 f_3 f_4 f_5 main; do
		locate plain/many $f
		grep -q '"line":' out.log || fail "no line for $f, $how"
		mv out.log expected
		locate packed_twin/many $f
		cmp -s expected out.log || fail "the location of $f differs in the compressed file, $how"
	done
done
symbols=$HERE/whole

# Rewritten paths.
locate whole work --source-map "$HERE=/new"
shows '"file":"/new/a.c"'
exit 0
