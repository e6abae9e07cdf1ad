#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests how functions are named: PLT stubs, parts and clones, mangled names, functions without symbols.
. "$(dirname "$0")/lib.sh"
need gcc g++ objcopy objdump nm strip

# at FILE VADDR OPTIONS...: the location of an address, to out.log
at() {
	local file=$1 vaddr=$2
	shift 2
	echo "$vaddr" | "$CPPROF" inspect locations --no-cache "$@" "$file" >out.log 2>err.log || fail "inspect locations $file"
}

cat >a.cc <<'C'
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
namespace shape {
template <typename T> struct square {
	T side;
	__attribute__((noinline)) T area(T scale) const;
};
template <typename T> T square<T>::area(T scale) const
{
	return side * side * scale;
}
template struct square<int>;
__attribute__((cold, noinline)) void complain(const char *why)
{
	std::fprintf(stderr, "%s\n", why);
}
__attribute__((noinline)) int check(int scale)
{
	if (scale < 0) {
		complain("negative");
		throw std::runtime_error("scale");
	}
	return scale + 1;
}
}
int main(int argc, char **)
{
	shape::square<int> s{ argc };
	std::printf("%d\n", s.area(shape::check(argc)));
	return std::abs(argc) > 100;
}
C
g++ -O2 -g -freorder-blocks-and-partition -o program a.cc || fail "cannot compile"

# A PLT stub is named after the function that it calls.
stub=$(objdump -d --no-show-raw-insn program | sed -n 's/^0*\([0-9a-f]*\) <fprintf@plt>:.*/\1/p;s/^0*\([0-9a-f]*\) <fwrite@plt>:.*/\1/p' | head -1)
if [ -n "$stub" ]; then
	at program "$stub"
	grep -Eq '"function":"(fprintf|fwrite)@plt"' out.log || fail "a PLT stub is not named after its target"
fi

# With and without demangling.
mangled=_ZNK5shape6squareIiE4areaEi
symbols=program
locate program $mangled
shows '"function":"shape::square<int>::area(int) const"'
locate program $mangled --no-demangle
shows "\"function\":\"$mangled\""

# A cold part is shown as such, with the function's name, with and without debug information.
cold=$(nm program | awk '$3 == "_ZN5shape5checkEi.cold" { print $1 }')
[ -n "$cold" ] || fail "the compiler made no cold part"
at program "$cold"
shows 'shape::check(int) [.cold]'
strip -g program -o bare
at bare "$cold"
shows 'shape::check(int) [.cold]'

# Clones, under the names that the compiler gives them.
cat >clones.s <<'S'
	.text
	.globl main
	.type main, %function
main:	ret
	.size main, .-main
	.type work.constprop.0, %function
work.constprop.0: ret
	.size work.constprop.0, .-work.constprop.0
	.type work.part.3.isra.1, %function
work.part.3.isra.1: ret
	.size work.part.3.isra.1, .-work.part.3.isra.1
	.type plain.name, %function
plain.name: ret
	.size plain.name, .-plain.name
	.globl twin
	.type twin, %function
	.type local_twin, %function
local_twin:
twin:	ret
	.size twin, .-twin
	.size local_twin, .-local_twin
	.type sized, %function
sized:
unsized:
	ret
	.size sized, .-sized
	.section .note.GNU-stack,"",%progbits
S
gcc -o clones clones.s || fail "cannot assemble"
symbols=clones
locate clones work.constprop.0
shows '"function":"work [.constprop]"'
locate clones work.part.3.isra.1
shows '"function":"work [.part.isra]"'
locate clones plain.name
shows '"function":"plain.name"'
# Of two symbols at one address: global before local, with a size before without.
locate clones local_twin
shows '"function":"twin"'
locate clones unsized
shows '"function":"sized"'

# A label without a size does not give its name to distant functions without symbols: here they are 8000 bytes apart.
case $(uname -m) in
aarch64) call=bl nops=2000 ;;
*) call=call nops=8000 ;;
esac
cat >label.s <<S
	.text
	.globl main
	.type main, %function
main:	$call .Lnameless
	ret
	.size main, .-main
	.globl label
label:	.rept $nops
	nop
	.endr
	ret
	.balign 16
.Lnameless:
	nop
	ret
	.globl data_behind
	.section .note.GNU-stack,"",%progbits
S
gcc -o label label.s || fail "cannot assemble"
symbols=label
locate label label
shows '"function":"label"'
vaddr=$(objdump -d --no-show-raw-insn label | awk '/<main>:/ { in_main = 1 } in_main && $2 ~ /^(bl|call)$/ { print $3; exit }')
at label "$vaddr"
shows "\"function\":\"label+0x${vaddr#0x}\""

# Symbols in sections that are not loaded have no address, neither in the program nor in its debug file.
cat >linked.s <<'S'
	.text
	.globl main
	.type main, %function
main:	.rept 4000
	nop
	.endr
	ret
	.section .debug_info,"",%progbits
	.balign 4
	.globl work.c.2904843b
	.hidden work.c.2904843b
	.skip 0x1200
work.c.2904843b:
	.long 0
	.section .note.GNU-stack,"",%progbits
S
gcc -o linked linked.s || fail "cannot assemble"
objcopy --only-keep-debug linked linked.debug && strip -g --strip-unneeded linked -o linked.bare &&
	objcopy --add-gnu-debuglink=linked.debug linked.bare || fail "cannot split"
vaddr=$(nm linked | awk '$3 == "work.c.2904843b" { print $1 }')
for file in linked linked.bare; do
	at $file "$(printf %x $((0x$vaddr + 4)))"
	shows '"function":"main"'
done

# The result does not depend on the number of threads.
objdump -d --no-show-raw-insn program | awk -F: '/^ +[0-9a-f]+:/ { gsub(/ /, "", $1); print $1 }' >addresses
for threads in 1 2 7; do
	"$CPPROF" inspect locations --no-cache --threads $threads program <addresses >out.$threads || fail "inspect locations"
	cmp -s out.1 out.$threads || fail "the result differs with $threads threads"
done
[ -z "$(ls -A cache)" ] || fail "--no-cache writes to the store"

# With a cold, a warm and a damaged store the result is the same.
for turn in cold warm damaged; do
	"$CPPROF" inspect locations program <addresses >out.$turn || fail "inspect locations"
	cmp -s out.1 out.$turn || fail "the result differs with the $turn store"
	for entry in cache/cpprof/*; do
		[ $turn = warm ] && printf '\1\2\3\4' | dd of="$entry" bs=1 seek=200 conv=notrunc 2>/dev/null
	done
done

# A store with part of the addresses, and one with more than are requested; the addresses reversed and repeated.
rm -rf cache/cpprof
awk 'NR % 7 == 0' addresses >some
"$CPPROF" inspect locations program <some >out.some || fail "inspect locations"
"$CPPROF" inspect locations program <addresses >out.more || fail "inspect locations"
cmp -s out.1 out.more || fail "the result differs with a store of some of the addresses"
tac some some | "$CPPROF" inspect locations program >out.few || fail "inspect locations"
tac out.some out.some | cmp -s - out.few || fail "the result differs with a store of more addresses"
exit 0
