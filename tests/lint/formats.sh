#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The table in docs/formats.md is the one the exporters make, and the README names every format.
# usage: formats.sh; needs CPPROF and SOURCE in the environment. With CPPROF_REFRESH set, writes the table anew.
set -u
cd "$SOURCE" || exit 2
status=0
table=$("$CPPROF" export --list-formats) || exit 1

if [ -n "${CPPROF_REFRESH-}" ]; then
	{ sed '/^|/,$d' docs/formats.md; echo "$table"; sed '1,/^|/d' docs/formats.md | grep -v '^|'; } >docs/formats.md.new
	mv docs/formats.md.new docs/formats.md
fi
if ! diff <(grep '^|' docs/formats.md) <(echo "$table"); then
	echo "docs/formats.md does not hold what 'cpprof export --list-formats' prints"
	status=1
fi
for format in $(echo "$table" | sed -n 's/^| `\([a-z-]*\)`.*/\1/p'); do
	grep -q "cpprof export .*\b$format\b" README.md || { echo "README.md does not name the format $format"; status=1; }
done
exit $status
