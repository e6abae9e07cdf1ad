# SPDX-License-Identifier: Apache-2.0
# Functions for the tests on the recordings in tests/data; sourced by them. CPPROF and SOURCE come from ctest.
. "$(dirname "${BASH_SOURCE[0]}")/../support/claims.sh"
export HOME=/nonexistent
data=$SOURCE/tests/data/tower
jit=$SOURCE/tests/data/jit

# The folder with the binaries of a recording.
root_of() {
	case $1 in
	jit_*) echo "$jit/root-${1#jit_}" ;;
	x86_64) echo "$data/root-x86_64" ;;
	*) echo "$data/root-aarch64" ;;
	esac
}
