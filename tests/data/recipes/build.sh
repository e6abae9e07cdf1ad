#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Rebuilds the binaries of this folder. Needs gcc and clang with cross compilers for both machines; the
# goldens beside them belong to exactly these files, so refresh those in the same commit:
#     build.sh && tests/golden/recipes.sh --refresh
set -e
cd "$(dirname "$0")"
X86=${X86:-x86_64-linux-gnu-gcc}
ARM=${ARM:-aarch64-linux-gnu-gcc}
LINK="-nostdlib -ffreestanding -fno-builtin -fasynchronous-unwind-tables -Wl,--build-id=none -Wl,-z,max-page-size=4096"

$X86 $LINK -static -Wl,-e,byte_switch rules_x86_64.S -o rules_x86_64
$ARM $LINK -static -Wl,-e,byte_table rules_aarch64.S -o rules_aarch64

# NAME FLAGS...
x86() { name=$1; shift; $X86 $LINK "$@" sample.c -o "x86_64_$name"; }
arm() { name=$1; shift; $ARM $LINK "$@" sample.c -o "aarch64_$name"; }
clang_x86() { name=$1; shift; clang -Qunused-arguments --target=x86_64-linux-gnu $LINK -fuse-ld="$(command -v x86_64-linux-gnu-ld)" "$@" sample.c -o "x86_64_$name"; }
clang_arm() { name=$1; shift; clang -Qunused-arguments --target=aarch64-linux-gnu $LINK -fuse-ld="$(command -v aarch64-linux-gnu-ld)" "$@" sample.c -o "aarch64_$name"; }

x86 gcc_O0 -O0 -pie -fPIE
x86 gcc_O1_static -O1 -static -no-pie
x86 gcc_O2 -O2 -pie -fPIE
x86 gcc_O3_v3 -O3 -march=x86-64-v3 -fno-plt -pie -fPIE
x86 gcc_Os -Os -pie -fPIE
x86 gcc_frame_pointer -O2 -fno-omit-frame-pointer -pie -fPIE
x86 gcc_hardened -O2 -fcf-protection=full -fstack-clash-protection -pie -fPIE
x86 gcc_profiled -O2 -pg -pie -fPIE
x86 gcc_no_tables -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -pie -fPIE
arm gcc_O0 -O0 -pie -fPIE
arm gcc_O2 -O2 -pie -fPIE
arm gcc_Os -Os -static -no-pie
arm gcc_hardened -O2 -mbranch-protection=standard -fstack-clash-protection -pie -fPIE
arm gcc_no_tables -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -pie -fPIE
clang_arm clang_O2 -O2 -pie -fPIE
clang_arm clang_O0 -O0 -pie -fPIE
clang_x86 clang_O2 -O2 -pie -fPIE
clang_x86 clang_O0 -O0 -pie -fPIE

# Nothing but code: neither symbols nor unwind entries.
X86_STRIP=${X86_STRIP:-x86_64-linux-gnu-strip}
cp x86_64_gcc_no_tables x86_64_gcc_stripped
$X86_STRIP -s x86_64_gcc_stripped
cp aarch64_gcc_no_tables aarch64_gcc_stripped
${ARM_STRIP:-aarch64-linux-gnu-strip} -s aarch64_gcc_stripped
