#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the package on another system, in a chroot: installs, uses and removes it in a Debian release, or, for "nothing",
# runs the program in a root with only busybox. The Debian chroots are made by debootstrap once and kept.
# usage: package_on.sh bullseye|bookworm|trixie|nothing; needs SOURCE and BUILD in the environment, and root
. "$(dirname "$0")/package_lib.sh"
system=$1 root=$packages/$1
[ "$(id -u)" = 0 ] || skip "only root can use chroot"
need unshare chroot
unshare -m true 2>/dev/null || skip "mount namespaces are not available"
deb=$(ls "$packages/made"/cpprof_*_"$(own_arch)".deb 2>/dev/null) || skip "there is no package: builds.package has not built one"
"$packages/unpacked/usr/bin/cpprof" record -q --no-resolve -o "$packages/probe.data" -- true >"$packages/probe.log" 2>&1
case $? in
0 | 5) ;;
*) skip "perf_event is not available here: $(head -n 1 "$packages/probe.log")" ;;
esac

make_nothing() {
	local busybox
	busybox=$(command -v busybox) || skip "no busybox (Debian: busybox-static)"
	readelf -lW "$busybox" | grep -q INTERP && skip "busybox is not static (Debian: busybox-static)"
	rm -rf "$root"
	mkdir -p "$root"/{bin,proc,tmp,dev}
	cp "$busybox" "$root/bin/busybox"
	for name in sh mkdir grep sed cat cmp kill; do
		ln -s busybox "$root/bin/$name"
	done
	cp "$packages/unpacked/usr/bin/cpprof" "$root/bin/"
}

make_debian() {
	local mirror
	[ ! -e "$root.made" ] || return 0
	command -v debootstrap >/dev/null || skip "no debootstrap"
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep '/debian/$' | head -n 1)
	rm -rf "$root"
	debootstrap --variant=minbase "$system" "$root" "${mirror:-http://deb.debian.org/debian}" >"$root.log" 2>&1 ||
		skip "debootstrap cannot make $system: $(tail -n 1 "$root.log")"
	touch "$root.made"
}

# Runs a command in the chroot, with a private /proc that is unmounted with the last process.
inside() {
	unshare -m --propagation private sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"' "$root" "$@"
}

files() {
	find "$root" -xdev \( -path "$root/proc" -o -path "$root/dev" -o -path "$root/tmp" -o -path "$root/var/lib/dpkg" -o -path "$root/var/log" \) -prune -o -print | sort
}

use() {
	rm -rf "$root/tmp/cpprof_test"
	mkdir -p "$root/tmp/cpprof_test"
	cp "$SOURCE/tests/builds/installed.sh" "$root/tmp/"
	inside /bin/sh /tmp/installed.sh "$1" /tmp/cpprof_test || fail "installed.sh on $system"
	rm -rf "$root/tmp/cpprof_test" "$root/tmp/installed.sh"
}

complete_words() {
	inside /bin/bash -c '. /usr/share/bash-completion/completions/cpprof
		COMP_WORDS=(cpprof rec) COMP_CWORD=1; _cpprof; echo "${COMPREPLY[@]}"
		COMP_WORDS=(cpprof report --view s) COMP_CWORD=3; _cpprof; echo "${COMPREPLY[@]}"'
}

if [ "$system" = nothing ]; then
	make_nothing
	use /bin/cpprof
	exit 0
fi

make_debian
inside dpkg --purge cpprof >/dev/null 2>&1
files >"$root.before"
cp "$deb" "$root/tmp/cpprof.deb"
inside dpkg -i /tmp/cpprof.deb >"$root.log" 2>&1 || { cat "$root.log"; fail "dpkg -i on $system"; }
[ -z "$(inside dpkg -V cpprof)" ] || fail "installed files differ from the packaged ones: $(inside dpkg -V cpprof)"
[ -s "$root/usr/share/man/man1/cpprof-record.1.gz" ] || fail "no manual page was installed"
[ "$(complete_words)" = $'record\nsummary' ] || fail "completion gives $(complete_words)"
use /usr/bin/cpprof
# Functions of a program in the chroot get names: perl exports its symbols.
inside /bin/sh -c 'cd /tmp && XDG_CACHE_HOME=/tmp cpprof record -q -o perl.data -- perl -e "\$i += \$_ % 7 for 1 .. 3000000" && cpprof report perl.data --no-pager' >"$root.log" 2>&1 ||
	{ cat "$root.log"; fail "record of perl"; }
grep -q 'Perl_' "$root.log" || { cat "$root.log"; fail "functions of perl have no names"; }
inside dpkg -r cpprof >"$root.log" 2>&1 || { cat "$root.log"; fail "dpkg -r on $system"; }
rm -rf "${root:?}"/tmp/*
files >"$root.after"
diff "$root.before" "$root.after" || fail "files are left behind after removal on $system"
