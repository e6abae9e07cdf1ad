# SPDX-License-Identifier: Apache-2.0
"""The architecture of this machine, the other supported one, and the names of tools for either."""
import functools
import platform
import re
import shutil
import subprocess

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


@functools.cache
def has_library(compiler):
    """Whether programs can be linked: Debian does not install the C library of another machine with a compiler for it."""
    return "/" in subprocess.run([compiler, "-print-file-name=crt1.o"], capture_output=True, text=True, check=False).stdout


def missing(command):
    """Why a command cannot be run; None if it can."""
    for program in needed(command):
        is_cross = re.fullmatch(r"\w+-linux-gnu-(gcc|g\+\+|gfortran)", program)
        if shutil.which(program) and is_cross and not has_library(program):
            return f"no C library for {program} (Debian: libc6-dev-{'arm64' if OTHER == 'aarch64' else 'amd64'}-cross)"
        if shutil.which(program):
            continue
        # Debian names the packages of these compilers the other way round, with a dash in x86-64.
        parts = re.fullmatch(r"(\w+-linux-gnu)-(.+)", program)
        return f"no {program}" + (f" (Debian: {parts[2]}-{parts[1].replace('_', '-')})" if parts else "")
    return None
