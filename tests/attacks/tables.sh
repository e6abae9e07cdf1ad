#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A library with a symbol table of 512 MB and many functions, each of which might cause the table to be read: it is read
# only a few times, however many functions there are.
. "$(dirname "$0")/../e2e/lib.sh"
need_perf
need gcc python3 jq
export XDG_CACHE_HOME=$HERE/cache

# Each function is called through a PLT stub and does its work in a static function, so no symbol is found for the stub.
python3 - 320 <<'END' || fail "cannot write the programs"
import sys
n = int(sys.argv[1])
with open("library.c", "w") as file:
    print("volatile double x;", file=file)
    for i in range(n):
        print(f"__attribute__((noinline)) static void inner_{i}(int n) {{ for (int i = 0; i < n + {i}; i++) x = x * 1.0001 + 1; }}", file=file)
        print(f"void work_{i}(void) {{ inner_{i}(200000); }}", file=file)
with open("program.c", "w") as file:
    print("#include <stdlib.h>", file=file)
    print(*(f"void work_{i}(void);" for i in range(n)), sep="\n", file=file)
    print("int main(int argc, char **argv)\n{\n\tint n = atoi(argv[argc - 1]);", file=file)
    print(f"\tfor (int round = 0; round < 3 * {n} / n; round++) {{", file=file)
    print(*(f"\t\tif ({i} < n)\n\t\t\twork_{i}();" for i in range(n)), "\t}\n}", sep="\n", file=file)
END
gcc -O2 -fPIC -shared -fno-ipa-icf library.c -o libplain.so && gcc -O2 program.c -o program -L. -l:libplain.so -Wl,-rpath,"$HERE" ||
	skip "gcc cannot link"
python3 "$SOURCE/tests/attacks/make_elf.py" symbols libplain.so libtable.so $((512 << 20)) || fail "make_elf.py"
mv libtable.so libplain.so
truncate -s 600M libplain.so
cat libplain.so >/dev/null # fill the page cache before the first run

# measure N: sets $own to cpprof's CPU time in ns while N functions are called, without symbol lookup.
measure() {
	rm -rf cache
	run 0 "$CPPROF" record -q --no-resolve -o p.data -- ./program "$1"
	facts p.data
	[ "$(number samples)" -gt 100 ] || fail "only $(number samples) samples"
	run 0 "$CPPROF" export p.data -o p.json
	own=$(jq .quality.overhead.cpprof_cpu_ns p.json)
	[ "$own" -gt 0 ] || fail "the profile has no CPU time of cpprof"
}

measure 20
few=$own
measure 320
echo "20 functions cost $few ns, 320 functions $own ns"
[ "$own" -lt $((few * 4)) ] || fail "20 functions cost $few ns, 320 functions $own ns"
exit 0
