# SPDX-License-Identifier: Apache-2.0
# Functions for the tests of packages; sourced by them.
set -u
: "${SOURCE:?}" "${BUILD:?}"
packages=$BUILD/packages # downloads and builds; kept between runs

skip() {
	echo "skipped: $*"
	exit 77
}

fail() {
	echo "FAILED: $*"
	exit 1
}

need() {
	for tool in "$@"; do
		command -v "$tool" >/dev/null || skip "no $tool"
	done
}

own_arch() {
	case $(uname -m) in x86_64) echo amd64 ;; *) echo arm64 ;; esac
}

# pack SOURCE ARCH FOLDER: sets $deb and $tarball.
pack() {
	local log=$3.log
	mkdir -p "$3"
	rm -f "$3"/cpprof[-_]*
	"$1/packaging/package.sh" "$2" "$3" >"$log.made" 2>"$log" || {
		grep -q 'archive' <<<"$(tail -n 1 "$log")" && skip "$(tail -n 1 "$log")"
		tail -n 40 "$log"
		fail "packaging for $2"
	}
	tarball=$(sed -n '/\.tar\.gz$/p' "$log.made")
	deb=$(sed -n '/\.deb$/p' "$log.made")
	[ -s "$deb" ] && [ -s "$tarball" ] || fail "no package was built for $2"
}

# check_contents DEB TARBALL ARCH FOLDER: all files are there, the program is static; leaves the package unpacked in FOLDER.
check_contents() {
	local tree=$4 program page
	rm -rf "$tree"
	mkdir -p "$tree"
	dpkg-deb -x "$1" "$tree" || fail "dpkg-deb cannot unpack $1"
	[ "$(dpkg-deb -f "$1" Architecture)" = "$3" ] || fail "its architecture is not $3"
	[ -z "$(dpkg-deb -f "$1" Depends)" ] || fail "it depends on packages"
	dpkg-deb -f "$1" Built-Using | grep -q 'glibc (= .*), .*zydis (= ' || fail "Built-Using does not list the linked libraries"
	program=$tree/usr/bin/cpprof
	[ -x "$program" ] || fail "there is no usr/bin/cpprof"
	readelf -lW "$program" | grep -q INTERP && fail "the program has a program interpreter"
	readelf -dW "$program" | grep -q NEEDED && fail "the program needs libraries"
	readelf -hW "$program" | grep -q 'Type: *DYN' || fail "the program is not position-independent"
	readelf -SW "$program" | grep -q '\.debug_info' && fail "the program is not stripped"
	grep -qF "$SOURCE" "$program" && fail "the program contains the path of its sources"
	for page in '' $(sed -n 's/^foreach(command "" \(.*\))/\1/p' "$SOURCE/cmd/CMakeLists.txt"); do
		[ -s "$tree/usr/share/man/man1/cpprof${page:+-$page}.1.gz" ] || fail "there is no manual page '$page'"
		zcat "$tree/usr/share/man/man1/cpprof${page:+-$page}.1.gz" | grep -q '^\.SH NAME' || fail "manual page '$page' is empty"
	done
	[ -s "$tree/usr/share/bash-completion/completions/cpprof" ] || fail "there is no completion"
	[ -s "$tree/usr/share/doc/cpprof/licenses/libelf" ] || fail "there are no licences"
	find "$tree" -perm /022 ! -type l | grep -q . && fail "others may write to: $(find "$tree" -perm /022)"
	check_tarball "$2" "$program"
	check_by_lintian "$1"
}

# The archive contains the same program, and unpacks into a single folder.
check_tarball() {
	tar -tzf "$1" | grep -qv '^cpprof-[^/]*/' && fail "$1 unpacks into more than one folder"
	tar -xOzf "$1" --wildcards '*/bin/cpprof' | cmp - "$2" || fail "the two packages have different programs"
	tar -tzf "$1" | grep -q '/share/man/man1/cpprof-record\.1$' || fail "$1 has no manual pages"
	tar -tzf "$1" | grep -q '/share/bash-completion/completions/cpprof$' || fail "$1 has no completion"
	tar -tzf "$1" | grep -q '/share/doc/cpprof/LICENSE$' || fail "$1 has no licence"
}

# Skipped if lintian is not installed: the essentials are checked above.
check_by_lintian() {
	command -v lintian >/dev/null || return 0
	lintian --allow-root --fail-on error "$1" || fail "lintian"
}
