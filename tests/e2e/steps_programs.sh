#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares unwound stacks of real programs with single-stepping. Programs that are not installed are listed and skipped.
# Usage: steps_programs.sh [samples [name...]]; the thresholds are meaningful with 30000 samples, which take longer.
cpprof=${CPPROF:-cpprof} source=${SOURCE:-.} samples=${1:-120}
[ $# -eq 0 ] || shift
wanted="$*"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
skip() { echo "skipped: $1"; exit 77; }
cc=$(command -v cc || command -v gcc || command -v clang) || skip "no C compiler"
"$cpprof" verify steps -n 1 -i 1 -o "$work/probe" -- true || skip "single-stepping is not allowed here"
failed=0
: >"$work/found" # empty where only copies are run: those are judged by their stacks alone

# wants NAME...: is one of them to be run? Inputs that only other programs need are not created.
wants() {
	[ -n "$wanted" ] || return 0
	for each; do
		case " $wanted " in *" $each "*) return 0 ;; esac
	done
	return 1
}

# one MODE MIN_EXACT MODULES SKIP INTERVAL command: checks one program; at least half of the samples must be in MODULES
one() {
	mode=$1 exact=$2 modules=$3 skip=$4 interval=$5
	shift 5
	# On an emulated machine single steps are very slow: the longest runs are shortened.
	[ -z "${SLOW-}" ] || { [ "$interval" -lt 200 ] && [ "$skip" -lt 1000000 ]; } || interval=$((interval / SLOW)) skip=$((skip / SLOW))
	"$cpprof" verify steps -n "$samples" -i "$interval" -s "$skip" --activations --skip-loader --unwind "$mode" --min-exact "$exact" \
		--show 2 -o "$work/report" -- "$@" >/dev/null 2>"$work/errors" </dev/null
	code=$?
	line=$(sed -n 's/^samples *//p' "$work/report")
	share=$(awk -v modules="^($modules)" '/^ *[0-9]+ +exact.*complete [0-9]+  / { if ($NF ~ modules) in_modules += $1; all += $1 }
		END { printf "%d", all ? 100 * in_modules / all : 0 }' "$work/report")
	printf '%-10s %-8s %s, %s %% in %s\n' "$name" "$mode" "$line" "$share" "$modules"
	sed -n "s/^calls/                    calls/p" "$work/report"
	[ "$mode" != auto ] || sed -n 's/^calls *[1-9].*new *\([0-9.]*\) %.*/\1/p' "$work/report" >>"$work/found"
	[ $code -eq 0 ] && [ "$share" -ge 50 ] && [ "${line%% *}" = "$samples" ] && return
	echo "FAILED with $code: $*"
	cat "$work/report" "$work/errors"
	failed=1
}

# program NAME MODULES SKIP INTERVAL command
program() {
	name=$1
	shift
	wants "$name" || return
	if ! command -v "$4" >/dev/null; then
		echo "$name: not installed"
		return
	fi
	one auto 99.99 "$@"
	one analysis 99.9 "$@"
}

# sound NAME MIN_EXACT MODULES SKIP INTERVAL command: MIN_EXACT applies to the default mode only; by analysis alone, any share
# of the stacks may be incomplete. In neither mode may a wrong stack be reported as complete.
sound() {
	name=$1 least=$2
	shift 2
	wants "$name" || return
	if ! command -v "$4" >/dev/null; then
		echo "$name: not installed"
		return
	fi
	for mode in auto analysis; do
		one $mode "$least" "$@"
		grep -q '^samples.* wrong but complete 0$' "$work/report" || {
			echo "FAILED: $name: a wrong stack is reported as complete"
			failed=1
		}
		least=0
	done
}

# bare_copy FILE...: copies to $work/copies without symbols and unwind tables
bare_copy() {
	for file; do
		[ -e "$file" ] || continue
		objcopy -R .eh_frame -R .eh_frame_hdr -R .gnu_debugdata --strip-all "$file" "$work/copies/$(basename "$file")" || return 1
	done
}

# copy NAME MODULES SKIP INTERVAL command: with those copies, by analysis alone; the threshold is 0.1 points lower
copy() {
	name=$1
	shift
	wants "$name" || return
	command -v "$4" >/dev/null || return
	# With 600 samples, only the two that have failed in the past.
	case $samples$name in 600xz-copy | 600sqlite3-copy) ;; 600*) return ;; esac
	LD_LIBRARY_PATH=$work/copies one analysis 99.8 "$@"
}

cat >"$work/input.c" <<'END'
struct node { struct node *next; int value; };
int sum(struct node *n) { int s = 0; for (; n; n = n->next) switch (n->value & 7) {
	case 0: s += 3; break; case 1: s -= 4; break; case 2: s *= 2; break; case 5: s ^= n->value; break; default: s++; } return s; }
double horner(const double *c, int n, double x) { double r = 0; while (n--) r = r * x + c[n]; return r; }
END
# These run for as long as samples are needed.
# shellcheck disable=SC2016
bash_work='while :; do for i in {1..60}; do x=$((i * i)); y="${x//1/2}$y"; done; a=($y $y); echo "${#a[@]}"; type ls; y=; done'
# shellcheck disable=SC2016
perl_work='while (1) { my %h; $h{$_ % 97} .= "x$_" for 1 .. 2000; print join ",", sort keys %h }'
sqlite_work="create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < $((samples + 500)))
	insert into t select x, x * x % 97 from c; select b, count(*) from t group by b order by 2 desc limit 3;"
head -c 200000 "$(command -v "$cpprof")" >"$work/bytes"
if command -v git >/dev/null && wants git git-copy; then
	git init -q "$work/repository"
	for i in $(seq $((12 + samples / 1000))); do
		seq "$i" "$((i * 40))" >"$work/repository/numbers$((i % 3))"
		git -C "$work/repository" add . && git -C "$work/repository" -c user.name=me -c user.email=me@example.org commit -qm "change $i"
	done
fi
cat >"$work/fib.lua" <<'END'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function sorted(n)
	local t = {}
	for i = 1, n do t[i] = (i * 7919) % 1009 end
	table.sort(t, function(a, b) return a < b end)
	return t[1] + t[n]
end
local sum = 0
for i = 1, 2000000 do sum = sum + fib(12) + sorted(100) end
print(sum)
END
cat >"$work/lists.ml" <<'END'
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let () =
  let sum = ref 0 in
  for i = 1 to 1000000 do
    let a = Array.init 60 (fun j -> (j * 7919 + i) mod 101) in
    Array.sort compare a;
    let s = String.concat "," (List.map string_of_int (Array.to_list a)) in
    sum := !sum + fib 8 + String.length s + int_of_float (float_of_string (string_of_float (float i)))
  done;
  print_int !sum
END
! wants ocaml || ! command -v ocamlopt >/dev/null || (cd "$work" && ocamlopt -o ocaml lists.ml 2>/dev/null)
# The libraries are linked although the program uses dlsym, so that they are loaded and relocated at startup.
for library in libgmp.so.10 libcrypto.so.3 libc.so.6; do
	$cc -O2 -o "$work/uses-$library" "$source/tests/e2e/steps/assembly.c" -ldl -Wl,--no-as-needed -l:$library 2>/dev/null
done
compiler=$($cc -print-prog-name=cc1)
plain=$source/tests/e2e/steps/plain.c no_tables="-fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables"
$cc -O2 -static -o "$work/static" "$plain" 2>/dev/null
$cc -O2 -s -o "$work/stripped" "$plain" || exit 1
# shellcheck disable=SC2086
$cc -O2 $no_tables -o "$work/tableless" "$plain" && $cc -O2 -s $no_tables -o "$work/bare" "$plain" || exit 1
# shellcheck disable=SC2086
$cc -O2 -static -s -fstack-protector-all $no_tables -o "$work/protected" "$plain" 2>/dev/null
# More code than is searched as a whole while recording: that of the compiler, in front of the program's and between its own and
# the C library's. Calls that leave the foreign code end in the empty space around it.
if wants huge && command -v objcopy >/dev/null && [ -e "$compiler" ]; then
	objcopy -O binary --only-section=.text "$compiler" "$work/foreign"
	for _ in 1 2; do printf '.skip 65536\n.incbin "%s"\n.skip 65536\n' "$work/foreign"; done >"$work/foreign.s"
	# shellcheck disable=SC2086
	$cc -O2 $no_tables -c -o "$work/plain.o" "$plain" &&
		$cc -static -Wl,-z,noexecstack -o "$work/with_symbols" "$work/foreign.s" "$work/plain.o" "$work/foreign.s" 2>/dev/null &&
		objcopy -R .eh_frame -R .eh_frame_hdr --strip-all "$work/with_symbols" "$work/huge"
	rm -f "$work/foreign" "$work/with_symbols"
fi

program ls 'ls|libc' 0 100 ls -lR /usr/share
program xz 'liblzma' 200000 100 xz -k -c "$work/bytes"
program bash 'bash|libc' 20000 100 bash -c "$bash_work"
program python3 'python3' 300000 100 /usr/bin/python3 -S -c 'import json
print(sum(len(json.dumps({"a": i, "b": [i] * 3})) for i in range(10 ** 9)))'
program perl 'perl|libc' 100000 100 perl -e "$perl_work"
program git 'git|libz|libc' 20000 100 git --git-dir="$work/repository/.git" log --stat
program sqlite3 'libsqlite3|sqlite3|libc' 20000 100 sqlite3 :memory: "$sqlite_work"
program cc1 'cc1|libc' 1000000 100 "$compiler" -quiet -O2 -o "$work/input.s" "$work/input.c"
program gmp 'libgmp' 50000 100 "$work/uses-libgmp.so.10" gmp
program openssl 'libcrypto' 50000 100 "$work/uses-libcrypto.so.3" crypto
program libc 'libc|uses-libc' 50000 20 "$work/uses-libc.so.6" libc
program static 'static' 0 30 "$work/static"
program stripped 'stripped|libc' 0 30 "$work/stripped"
program tableless 'tableless|libc' 0 30 "$work/tableless"
program bare 'bare|libc' 0 30 "$work/bare"
program protected 'protected' 0 30 "$work/protected"
program huge 'huge' 0 $((60000 / samples + 1)) "$work/huge"
program x264 'libx264' 300000 100 x264 --quiet --threads 1 --input-res 64x48 --demuxer raw -o "$work/out.264" "$work/bytes"
program dav1d 'libdav1d' 20000 100 dav1d -q --threads 1 -i "$source/tests/data/steps/tiny.ivf" -o "$work/out.y4m"
sound luajit 0 'luajit|libgcc|libc|\[jit' 400000 400 luajit "$work/fib.lua"
sound luajit-joff 99.99 'luajit' 400000 400 luajit -joff "$work/fib.lua"
sound ocaml 99.99 'ocaml|libc' 400000 200 "$work/ocaml"
sound ruby 99.9 'libruby|libc' 400000 200 ruby "$source/tests/stacks/runtimes/work.rb"
sound php 80 'php|libc|\[jit' 400000 200 php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing "$source/tests/stacks/runtimes/work.php"

mkdir "$work/copies"
libraries=$(dirname "$(ldd "$work/stripped" | sed -n 's/.*=> \(.*libc.so.6\).*/\1/p')")
if wants xz-copy bash-copy perl-copy git-copy sqlite3-copy && command -v objcopy >/dev/null &&
	bare_copy /usr/bin/bash /usr/bin/git /usr/bin/perl "$libraries"/libc.so.6 \
	"$libraries"/liblzma.so.5 /usr/lib/*-linux-gnu/libsqlite3.so.0; then
	copy xz-copy 'liblzma' 200000 100 xz -k -c "$work/bytes"
	copy bash-copy 'bash|libc' 20000 100 "$work/copies/bash" -c "$bash_work"
	copy perl-copy 'perl|libc' 100000 100 "$work/copies/perl" -e "$perl_work"
	copy git-copy 'git|libz|libc' 20000 100 "$work/copies/git" --git-dir="$work/repository/.git" log --stat
	copy sqlite3-copy 'libsqlite3|sqlite3|libc' 20000 100 sqlite3 :memory: "$sqlite_work"
fi
# On average, at least 75 % of the new calls are detected.
awk '{ sum += $1 } END { printf "new calls detected: %.1f %% on average\n", NR ? sum / NR : 0; exit NR && sum / NR < 75 }' "$work/found" || failed=1
exit $failed
