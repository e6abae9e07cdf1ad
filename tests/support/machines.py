# SPDX-License-Identifier: Apache-2.0
"""The architecture of this machine, the other supported one, and the names of tools for either."""
import platform
import re
import shutil

NAMES = {"x86_64": "x86-64", "aarch64": "AArch64"}
HOST = platform.machine()
OTHER = "x86_64" if HOST == "aarch64" else "aarch64"


def triplet(machine):
    return f"{machine}-linux-gnu"


def tool(machine, name):
    """gcc, g++, gfortran, objdump for a machine: without a prefix for this one, as not every distribution has prefixed ones."""
    return name if machine == HOST else f"{triplet(machine)}-{name}"


def needed(command):
    """The programs that a compiler's command needs: clang links with GCC's libraries for its target."""
    program = command.split()[0]
    target = re.search(r"--target=(\S+)", command)
    return [program, f"{target[1]}-{'g++' if program.endswith('++') else 'gcc'}"] if target else [program]


def missing(command):
    """Why a command cannot be run; None if it can."""
    for program in needed(command):
        if shutil.which(program):
            continue
        # Debian names the packages of these compilers the other way round, with a dash in x86-64.
        parts = re.fullmatch(r"(\w+-linux-gnu)-(.+)", program)
        return f"no {program}" + (f" (Debian: {parts[2]}-{parts[1].replace('_', '-')})" if parts else "")
    return None
