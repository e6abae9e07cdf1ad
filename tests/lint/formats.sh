#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The table in docs/formats.md equals the output of `cpprof export --list-formats`, and the README names every format.
# usage: formats.sh; needs CPPROF and SOURCE in the environment. With CPPROF_REFRESH set, rewrites the table.
set -u
cd "$SOURCE" || exit 2
status=0
table=$("$CPPROF" export --list-formats) || exit 1

if [ -n "${CPPROF_REFRESH-}" ]; then
	{ sed '/^|/,$d' docs/formats.md; echo "$table"; sed '1,/^|/d' docs/formats.md | grep -v '^|'; } >docs/formats.md.new
	mv docs/formats.md.new docs/formats.md
fi
if ! diff <(grep '^|' docs/formats.md) <(echo "$table"); then
	echo "the table in docs/formats.md differs from 'cpprof export --list-formats'"
	status=1
fi
for format in $(echo "$table" | sed -n 's/^| `\([a-z-]*\)`.*/\1/p'); do
	grep -q "cpprof export .*\b$format\b" README.md || { echo "README.md does not name the format $format"; status=1; }
done
exit $status
