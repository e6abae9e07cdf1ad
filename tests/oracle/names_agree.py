#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Evaluates the output of `cpprof verify names --json`: nearly all addresses must agree with each library, except for known
errors of that library. A library that cannot read a file is left out. usage: names_agree.py NAME JSON [LIBRARY...]"""
import json
import sys

LEAST = 99.9  # percent


def main():
    name, path, *unable = sys.argv[1:]
    said = json.load(open(path))
    failed = said['addresses'] == 0
    for library in ('libdwarf', 'libdw'):
        if library not in said:
            print(f'{name}: not checked, cpprof was built without it: {library}')
            continue
        r = said[library]
        if library in unable:
            print(f"  {library} {r['version']}: left out, it does not support this kind of file")
            continue
        judged = r['compared'] - r['known_errors']
        percent = 100.0 * r['agree'] / judged if judged else 100.0 * (r['compared'] > 0)
        stopped = f", {r['stopped']}" if r['stopped'] else ''
        print(f"  {library} {r['version']}: {r['compared']} compared, {r['known_errors']} known errors, {r['silent']} not said, "
              f"else {percent:.3f} % agree{stopped}")
        failed = failed or percent < LEAST or stopped != ''
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
