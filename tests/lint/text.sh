#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every C file has its licence in the first line, and no file contains a path of a developer's machine.
# usage: text.sh [TREE]
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 2
status=0

for file in $(find base binary collector recipes unwinder symbolize structure profile report recording verify cmd tests examples \
	-name '*.[ch]' -not -path '*/data/*' -not -name '*.skel.h'); do
	head -n1 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || { echo "$file: no licence line"; status=1; }
done
if grep -rnE --include='*.[ch]' --include='*.md' --include='*.sh' --include='*.py' --include='CMakeLists.txt' \
	'/(root|work|home/[a-z]+)/' base binary collector recipes unwinder symbolize structure profile report recording verify cmd tests docs \
	examples packaging third_party README.md 2>/dev/null | grep -v 'tests/lint/text.sh'; then
	echo "a path of a developer's machine"
	status=1
fi
exit $status
