#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the live tests in an emulated machine of the other architecture, under Debian's kernel.
# usage: run.sh [-a x86_64|aarch64] [-s SCRIPT | NAME...]; BUILD and SOURCE come from ctest. Without names: all tests.
# With -s: runs that script in the machine and prints its output.
# Prints "passed|failed|skipped NAME" for each test, and a tally. All downloads and builds are in $BUILD/machine.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
SOURCE=${SOURCE:-$(realpath "$here/../..")}
BUILD=${BUILD:-$SOURCE/build/dev}
limit=${MACHINE_SECONDS:-7200} # time limit for the whole run
targets=(cpprof stencil test_base test_cmd test_collector creators spin spin_plugin churn shares paths one_path forbid wander calls calls_plugin deep_calls shared_cpu hot_calls blocks facts waits waits_fp waits_bare idle mixed kinds
	recall_agrees same_profile fault_target jitter asleep visitor)

skip() {
	echo "skipped: $*"
	exit 77
}

case $(uname -m) in x86_64) arch=aarch64 ;; aarch64) arch=x86_64 ;; *) skip "neither x86-64 nor AArch64" ;; esac
script=
while getopts a:s: option; do
	case $option in a) arch=$OPTARG ;; s) script=$OPTARG ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
folder=$BUILD/machine/$arch
mkdir -p "$folder"

need() {
	command -v "$1" >/dev/null || skip "no $1 (Debian: $2)"
}

# Rebuilds the image if the scripts that make it have changed. Without root, fakeroot provides the owners.
make_image() {
	local key as=()
	key=$(cat "$here/image.sh" "$here/init.sh" | sha256sum)
	[ "$key" = "$(cat "$folder/key" 2>/dev/null)" ] && return
	need cpio cpio
	need mke2fs e2fsprogs
	rm -f "$folder/key"
	[ "$(id -u)" = 0 ] || { need fakeroot fakeroot; as=(fakeroot); }
	echo "making a Debian image for $arch"
	"${as[@]}" bash "$here/image.sh" "$arch" "$folder" >"$folder/image.log" 2>&1 || {
		tail -20 "$folder/image.log"
		grep -qE 'Could not resolve|Temporary failure|Unable to (connect|fetch|locate)' "$folder/image.log" &&
			skip "Debian's packages of $arch cannot be downloaded"
		echo "failed: the image of $arch cannot be made"
		exit 1
	}
	echo "$key" >"$folder/key"
}

# The programs that run in the machine, optimized: a debug build would be too slow under emulation.
# Compiler and libraries are those of the preset "cross".
make_programs() {
	local toolchain=()
	programs=$folder/programs
	if [ "$arch" != "$(uname -m)" ]; then
		need "$arch-linux-gnu-gcc" "gcc-${arch/_/-}-linux-gnu"
		[ -e "$SOURCE/build/sysroot/.packages" ] || skip "no libraries of $arch in build/sysroot; try ./bootstrap test --machine"
		toolchain=(-DCMAKE_TOOLCHAIN_FILE="$SOURCE/third_party/cross.cmake" -DCPPROF_CROSS_FOR_MACHINE=ON)
	fi
	echo "building cpprof for $arch"
	if ! { cmake -S "$SOURCE" -B "$programs" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O2 -g" "${toolchain[@]}" &&
		cmake --build "$programs" --target "${targets[@]}"; } >"$folder/programs.log" 2>&1; then
		tail -20 "$folder/programs.log"
		echo "failed: cpprof cannot be built for $arch"
		exit 1
	fi
}

# Go programs are cross-compiled on the host, as the machine has no Go compiler. Without Go on the host their tests are skipped.
make_go_programs() {
	local to=$programs/tests/stacks of=$SOURCE/tests/stacks e2e=tests/e2e
	command -v go >/dev/null || return 0
	mkdir -p "$to"
	sh "$of/deep_go.sh" >"$folder/deep.go"
	export GO111MODULE=off GOCACHE=$folder/go CGO_ENABLED=0 GOARCH=amd64
	[ "$arch" = x86_64 ] || GOARCH=arm64
	go build -o "$to/go" "$of/program.go"
	go build -ldflags '-s -w' -o "$to/go-stripped" "$of/program.go"
	go build -o "$to/go-clock" "$of/clock.go"
	go build -o "$to/go-deep" "$folder/deep.go"
	go build -o "$programs/$e2e/grower" "$SOURCE/$e2e/grower.go"
}

# Rust programs are cross-compiled, because rustc is too large for the image; this needs a host rustc of the same version as the
# target's standard library. Also builds a program of the host's architecture, which qemu-user runs in the machine.
make_other_programs() {
	local to=$programs/tests/stacks of=$SOURCE/tests/stacks rust
	mkdir -p "$to"
	[ "$arch" != "$(uname -m)" ] || return 0
	if [ -x /usr/bin/rustc ] && [ ! -x "$to/rust-stripped" ]; then
		dpkg-deb -x "$folder"/libstd-rust-dev_*.deb "$folder/rust"
		rust=(/usr/bin/rustc --target "$arch-unknown-linux-gnu" --sysroot "$folder/rust/usr"
			-C linker="$arch-linux-gnu-gcc" -O "$of/program.rs")
		if ! "${rust[@]}" -g -o "$to/rust" || ! "${rust[@]}" -C strip=symbols -o "$to/rust-stripped"; then
			rm -f "$to/rust" "$to/rust-stripped"
		fi
	fi >"$folder/rust.log" 2>&1
	cc -O1 -static -o "$to/qemu-user" "$of/runtimes/work.c" 2>/dev/null || rm -f "$to/qemu-user"
}

# A second disk with cpprof, the test programs and scripts, laid out as the scripts expect.
make_disk() {
	local tree=$folder/disk.tree
	rm -rf "$tree"
	mkdir -p "$tree/source" "$tree/build"
	cp -a "$SOURCE/tests" "$tree/source/"
	rm -rf "$tree"/source/tests/{fuzz,golden,unit}
	(cd "$SOURCE" && cp --parents -t "$tree/source" docs/faults.md tests/golden/format.py tests/golden/format_paths.py)
	(cd "$programs" && find cmd examples tests -type f -executable ! -path '*/CMakeFiles/*' ! -path '*/fuzz/*' \
		-exec cp --parents -t "$tree/build" {} +)
	[ ! -x "$BUILD/packages/unpacked_cross/usr/bin/cpprof" ] || [ "$arch" = "$(uname -m)" ] ||
		cp "$BUILD/packages/unpacked_cross/usr/bin/cpprof" "$tree/build/packaged"
	echo "$*" >"$tree/wanted"
	[ -z "$script" ] || cp "$script" "$tree/script"
	rm -f "$folder/cpprof.img"
	mke2fs -q -t ext4 -L cpprof -E root_owner=0:0 -d "$tree" "$folder/cpprof.img" 300m
	rm -rf "$tree"
}

# Writes to the disks are discarded (snapshot=on).
# The machine's clock counts executed instructions, 4 ns each, and skips idle time, so that no timer is late on a busy host.
# This needs a single CPU: qemu 7.2 never starts a second one in this mode.
boot() {
	local machine console
	case $arch in
	x86_64) machine=(qemu-system-x86_64 -M q35 -cpu max) console=ttyS0 ;;
	aarch64) machine=(qemu-system-aarch64 -M virt -cpu cortex-a72) console=ttyAMA0 ;;
	esac
	TMPDIR=$folder timeout -k 20 "$limit" "${machine[@]}" -accel tcg -icount shift=2,sleep=off -smp 1 -m 2048 -display none -monitor none \
		-serial stdio -nic none -no-reboot -kernel "$folder/vmlinuz" -initrd "$folder/initrd" \
		-append "console=$console quiet loglevel=2 panic=-1 preempt=full" \
		-drive "file=$folder/root.img,format=raw,if=virtio,snapshot=on" \
		-drive "file=$folder/cpprof.img,format=raw,if=virtio,snapshot=on" </dev/null 2>&1 | sed -u 's/\r$//'
}

case $arch in
x86_64) need qemu-system-x86_64 qemu-system-x86 ;;
aarch64) need qemu-system-aarch64 qemu-system-arm ;;
esac
make_image
make_programs
make_go_programs
make_other_programs
make_disk "$@"
if [ -n "$script" ]; then
	boot
	exit
fi
echo "booting Linux $(cat "$folder/kernel") ($arch)"
boot | tee "$folder/console.log" | sed -un 's/^machine: \(kernel\|passed\|failed\|skipped\|cannot\|no\) /\1 /p'

# The output of failed tests, then the tally. If the machine stopped early, that counts as a failure.
count() { grep -c "^machine: $1 " "$folder/console.log" || true; }
passed=$(count passed) failed=$(count failed) skipped=$(count skipped)
awk '/^machine: begin / { text = ""; next } /^machine: failed / { print "--- " substr($0, 10); printf "%s", text }
	{ text = text $0 "\n" }' "$folder/console.log"
# The parts that were skipped in tests that ran.
awk '/^machine: begin / { n = 0 } /^machine: (passed|failed) / { for (i = 0; i < n; i++) print "left out of " $3 ": " left[i]; n = 0 }
	/^(skipped:|skip ) *[^ ]|: (not installed|cannot be built here|no [a-z0-9-]+)$/ { sub(/^(skipped:|skip) */, ""); left[n++] = $0 }' \
	"$folder/console.log"
if ! grep -q '^machine: done$' "$folder/console.log"; then
	echo "failed machine: it stopped before the last test; the end of its output:"
	tail -15 "$folder/console.log"
	failed=$((failed + 1))
fi
echo "tally: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
