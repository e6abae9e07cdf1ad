#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds programs with debug information in all formats, and compares cpprof's locations of random instructions with
# llvm-symbolizer and addr2line, and those at regular intervals with libdwarf and libdw.
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

# build NAME COMPILER ARGS: compiles the program unless it exists; skips it if the compiler is not installed.
build() {
	local name=$1 compiler=$2
	shift 2
	command -v "$compiler" >/dev/null || { echo "not checked, no $compiler: $name"; return 1; }
	[ -e "$name/$name" ] && return 0
	mkdir -p "$name"
	(cd "$name" && "$compiler" "$@" -o "$name" 2>log) || { cat "$name/log"; exit 1; }
}

# check NAME [OPTIONS OF locations.py]; $unable: libraries that do not support this kind of file
failed=0 unable=
check() {
	local name=$1
	shift
	python3 "$here/locations.py" --cpprof "$cpprof" --option=--no-cache --count $count "$@" "$name/$name" || failed=1
	"$cpprof" verify names --json --every $every "$name/$name" >"$name/names.json" || failed=1
	python3 "$here/names_agree.py" $name "$name/names.json" $unable || failed=1
}

# copied NAME FROM COMMAND...: runs COMMAND IN OUT on another program. Tools that cannot read the result read the original.
copied() {
	local name=$1 from=$2
	shift 2
	command -v "${1%_to}" >/dev/null || { echo "not checked, no ${1%_to}: $name"; return; }
	mkdir -p "$name"
	[ -e "$name/$name" ] || "$@" "$from/$from" "$name/$name" 2>"$name/log" || { echo "not checked, $1 cannot: $name"; return; }
	check "$name" --peers-on "$from/$from"
}

# dwz does not change files that it cannot make smaller.
dwz_to() {
	dwz -o "$2" "$1" && [ -e "$2" ]
}

c=$here/programs/lists.c cxx=$here/programs/shapes.cc
count=400 every=5
[ $mode = full ] && count=10000

for version in 2 3 4 5; do
	build c-gcc-$version gcc -O2 -g -gdwarf-$version "$c" && check c-gcc-$version
	build c-clang-$version clang -O2 -g -gdwarf-$version "$c" && check c-clang-$version
done
build c-lto gcc -O2 -g -flto "$c" && check c-lto
build c-gz gcc -O2 -g -gz "$c" && check c-gz
build c-split-gcc gcc -O2 -g -gsplit-dwarf "$c" && check c-split-gcc
build c-split-clang clang -O2 -g -gdwarf-4 -gsplit-dwarf "$c" && check c-split-clang
build c-lto-clang clang -O2 -g -flto -fuse-ld=lld "$c" && check c-lto-clang
build c-64 gcc -O2 -g -gdwarf-5 -gdwarf64 "$c" && check c-64 --peers-on c-gcc-5/c-gcc-5
build c-types gcc -O2 -g -gdwarf-5 -fdebug-types-section "$c" && check c-types
build c-types-4 gcc -O2 -g -gdwarf-4 -fdebug-types-section "$c" && check c-types-4
build c-split-types gcc -O2 -g -gdwarf-5 -gsplit-dwarf -fdebug-types-section "$c" && check c-split-types --peers-on c-gcc-5/c-gcc-5
build c-lines gcc -O2 -g1 "$c" && check c-lines
build c-gmlt clang -O2 -gmlt "$c" && check c-gmlt
copied c-dwz c-gcc-5 dwz_to
unable="libdwarf libdw"
copied c-zstd c-gcc-5 objcopy --compress-debug-sections=zstd
unable=
build fortran gfortran -O2 -g "$here/programs/waves.f90" && check fortran
build cxx-gcc-5 g++ -std=c++17 -O2 -g "$cxx" && check cxx-gcc-5

# A stripped program with its debug file next to it.
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
	build cxx-64 g++ -std=c++17 -O2 -g -gdwarf-5 -gdwarf64 "$cxx" && check cxx-64 --peers-on cxx-gcc-5/cxx-gcc-5
	build cxx-types g++ -std=c++17 -O2 -g -gdwarf-5 -fdebug-types-section "$cxx" && check cxx-types
	build cxx-split-types g++ -std=c++17 -O2 -g -gdwarf-5 -gsplit-dwarf -fdebug-types-section "$cxx" &&
		check cxx-split-types --peers-on cxx-gcc-5/cxx-gcc-5
	build cxx-gmlt g++ -std=c++17 -O2 -g1 "$cxx" && check cxx-gmlt
	copied cxx-dwz cxx-gcc-5 dwz_to
	unable="libdwarf libdw"
	copied cxx-zstd cxx-gcc-5 objcopy --compress-debug-sections=zstd
	unable=
	build cxx-lines clang++ -std=c++17 -O2 -gline-tables-only "$cxx" && check cxx-lines
	build rust rustc -O -g "$here/programs/words.rs" && check rust
	build rust-debug rustc -g "$here/programs/words.rs" && check rust-debug

	# go build takes -o before its sources.
	if command -v go >/dev/null; then
		mkdir -p go
		[ -e go/go ] || (cp "$here/../stacks/program.go" go/ && cd go && GOCACHE=$PWD/cache GO111MODULE=off CGO_ENABLED=0 go build -o go program.go)
		check go
	else
		echo "not checked, no go: go"
	fi

	# dwp packages of split units; the .dwo files are removed.
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

	# Two programs that share a dwz file; the other tools, which do not support this, read the originals.
	if command -v dwz >/dev/null; then
		if [ ! -e dwz-a/dwz-a ]; then
			mkdir -p dwz-a dwz-b
			cp cxx-gcc-5/cxx-gcc-5 dwz-a/dwz-a
			cp cxx-lto/cxx-lto dwz-b/dwz-b
			dwz -m dwz-a/common.dwz -M "$work/dwz-a/common.dwz" dwz-a/dwz-a dwz-b/dwz-b
		fi
		check dwz-a --peers-on cxx-gcc-5/cxx-gcc-5
		check dwz-b --peers-on cxx-lto/cxx-lto
		if [ ! -e dwz5-a/dwz5-a ]; then
			mkdir -p dwz5-a dwz5-b
			cp cxx-gcc-5/cxx-gcc-5 dwz5-a/dwz5-a
			cp cxx-lto/cxx-lto dwz5-b/dwz5-b
			dwz -5 -m dwz5-a/common.dwz -M "$work/dwz5-a/common.dwz" dwz5-a/dwz5-a dwz5-b/dwz5-b
		fi
		check dwz5-a --peers-on cxx-gcc-5/cxx-gcc-5
		check dwz5-b --peers-on cxx-lto/cxx-lto
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
