# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of `cpprof trace`: skips them if probes are not allowed."""
import re
import sys


def ask(returncode, said, check):
    """Looks at the result of a first trace, and skips the test if probes are not allowed. A program that the BPF verifier
    rejects also gives EACCES, but that is a failure."""
    is_refused = re.search("cannot load a BPF program: (?!.*(permi|Permi))", said)
    if is_refused or (returncode != 3 and "without libbpf" not in said):
        return check("a first trace", returncode in (0, 5), said)
    print("skipped: probes are not allowed here: " + said.strip().replace("\n", " "))
    return sys.exit(77)
