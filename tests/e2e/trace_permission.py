# SPDX-License-Identifier: Apache-2.0
"""Whether tests of `cpprof trace` can run here."""
import re
import sys


def ask(returncode, said, check):
    """From a first trace: ends the test as skipped where probes may not be set. What the kernel's verifier refuses looks like a lack of
    permission, too (EACCES), but is a failure."""
    is_refused = re.search("cannot load a BPF program: (?!.*(permi|Permi))", said)
    if is_refused or (returncode != 3 and "without libbpf" not in said):
        return check("a first trace", returncode in (0, 5), said)
    print("skipped: probes may not be set here: " + said.strip().replace("\n", " "))
    return sys.exit(77)
