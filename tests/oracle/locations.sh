#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds programs in every way debug information is stored, and holds what cpprof says of random
# instructions in them against llvm-symbolizer and addr2line.
#
# usage: locations.sh CPPROF short|full DIRECTORY
set -e
cpprof=$1 mode=$2 work=$3
here=$(cd "$(dirname "$0")" && pwd)
for tool in llvm-symbolizer addr2line python3 readelf; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
mkdir -p "$work"
cd "$work"
export DEBUGINFOD_URLS=

# build NAME COMPILER ARGS: compiles only what is missing; a compiler that is not there skips the program.
build() {
	local name=$1 compiler=$2
	shift 2
	command -v "$compiler" >/dev/null || { echo "not checked, no $compiler: $name"; return 1; }
	[ -e "$name/$name" ] && return 0
	mkdir -p "$name"
	(cd "$name" && "$compiler" "$@" -o "$name" 2>log) || { cat "$name/log"; exit 1; }
}

# check NAME [OPTIONS OF locations.py]
failed=0
check() {
	local name=$1
	shift
	python3 "$here/locations.py" --cpprof "$cpprof" --option=--no-cache --count $count "$@" "$name/$name" || failed=1
}

c=$here/programs/lists.c cxx=$here/programs/shapes.cc
count=400
[ $mode = full ] && count=10000

for version in 2 3 4 5; do
	build c-gcc-$version gcc -O2 -g -gdwarf-$version "$c" && check c-gcc-$version
	build c-clang-$version clang -O2 -g -gdwarf-$version "$c" && check c-clang-$version
done
build c-lto gcc -O2 -g -flto "$c" && check c-lto
build c-gz gcc -O2 -g -gz "$c" && check c-gz
build c-split-gcc gcc -O2 -g -gsplit-dwarf "$c" && check c-split-gcc
build c-split-clang clang -O2 -g -gdwarf-4 -gsplit-dwarf "$c" && check c-split-clang
build fortran gfortran -O2 -g "$here/programs/waves.f90" && check fortran
build cxx-gcc-5 g++ -std=c++17 -O2 -g "$cxx" && check cxx-gcc-5

# A stripped program and its debug file beside it.
if [ ! -e link/link ] && [ -e cxx-gcc-5/cxx-gcc-5 ]; then
	mkdir -p link
	objcopy --only-keep-debug cxx-gcc-5/cxx-gcc-5 link/link.debug
	strip -g cxx-gcc-5/cxx-gcc-5 -o link/link
	(cd link && objcopy --add-gnu-debuglink=link.debug link)
fi
check link

if [ $mode = full ]; then
	for version in 2 3 4 5; do
		build cxx-gcc-$version g++ -std=c++17 -O2 -g -gdwarf-$version "$cxx" && check cxx-gcc-$version
		[ $version -ge 4 ] || continue
		build cxx-clang-$version clang++ -std=c++17 -O2 -g -gdwarf-$version "$cxx" && check cxx-clang-$version
		build cxx-gcc-split-$version g++ -std=c++17 -O2 -g -gdwarf-$version -gsplit-dwarf "$cxx" && check cxx-gcc-split-$version
		build cxx-clang-split-$version clang++ -std=c++17 -O2 -g -gdwarf-$version -gsplit-dwarf "$cxx" && check cxx-clang-split-$version
	done
	build cxx-gz g++ -std=c++17 -O2 -g -gz "$cxx" && check cxx-gz
	build cxx-lto g++ -std=c++17 -O2 -g -flto "$cxx" && check cxx-lto
	build cxx-O3 g++ -std=c++17 -O3 -g "$cxx" && check cxx-O3
	build cxx-lines clang++ -std=c++17 -O2 -gline-tables-only "$cxx" && check cxx-lines
	build rust rustc -O -g "$here/programs/words.rs" && check rust
	build rust-debug rustc -g "$here/programs/words.rs" && check rust-debug

	# Packages of split units; the .dwo files are out of the way.
	if command -v llvm-dwp >/dev/null; then
		for program in cxx-gcc-split-4 cxx-gcc-split-5 cxx-clang-split-4 cxx-clang-split-5; do
			if [ ! -e $program-dwp/$program-dwp ]; then
				mkdir -p $program-dwp/aside
				(cd $program && llvm-dwp -e $program -o ../$program-dwp/$program-dwp.dwp)
				cp $program/$program $program-dwp/$program-dwp
			fi
			mv $program/*.dwo $program-dwp/aside/
			check $program-dwp
			mv $program-dwp/aside/*.dwo $program/
		done
	fi

	# Two programs that share a dwz file; the peers, which know nothing of it, read the originals.
	if command -v dwz >/dev/null; then
		if [ ! -e dwz-a/dwz-a ]; then
			mkdir -p dwz-a dwz-b
			cp cxx-gcc-5/cxx-gcc-5 dwz-a/dwz-a
			cp cxx-lto/cxx-lto dwz-b/dwz-b
			dwz -m dwz-a/common.dwz -M "$work/dwz-a/common.dwz" dwz-a/dwz-a dwz-b/dwz-b
		fi
		check dwz-a --peers-on cxx-gcc-5/cxx-gcc-5
		check dwz-b --peers-on cxx-lto/cxx-lto
	fi

	# The C library with its separate debug file, if that is installed.
	libc=$(ldd /bin/sh | sed -n 's/.*libc\.so[^>]*=> \([^ ]*\).*/\1/p')
	id=$(readelf -n "$libc" | sed -n 's/.*Build ID: //p')
	debug=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
	if [ -e "$debug" ]; then
		mkdir -p libc
		cp "$libc" libc/libc
		check libc --symbols-from "$debug"
	else
		echo "not checked, no debug file: $libc"
	fi
fi
exit $failed
