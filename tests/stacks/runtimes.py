#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Runtimes that generate code, or use the stack in unusual ways: what share of their stacks is complete, and does importing
a raw recording, which contains the code that was read, give the same stacks?
docs/limits.md has the figures, and says why some are low. Stacks that are not complete must be marked as such.

usage: runtimes.py [NAME...]      CPPROF comes from the environment
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
import machines  # noqa: E402

CPPROF = os.path.abspath(os.environ.get("CPPROF", "cpprof"))
SRC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runtimes")
BUILT = os.path.join(os.path.abspath(os.environ.get("BUILD", ".")), "tests", "stacks")  # built for an emulated machine
MIN_SAMPLES = 100
ENOUGH, MAX_RUNS = 1000, 6  # a program is run again until there are enough samples: some are short on fast machines
# The program for qemu-user is for the other architecture.
FOREIGN_CC = machines.tool(machines.OTHER, "gcc")

# least: minimum percentage of complete stacks
Runtime = namedtuple("Runtime", "name need build run least")
RUNTIMES = [
    Runtime("luajit", ["luajit"], "true", f"luajit {SRC}/work.lua", 20),
    Runtime("luajit-joff", ["luajit"], "true", f"luajit -joff {SRC}/work.lua", 99.9),
    Runtime("ocaml", ["ocamlopt"], f"cp {SRC}/work.ml . && ocamlopt -o work work.ml", "./work", 99),  # caml_raise_exn: sp is already the handler's; up to 0.6 % of samples are there
    Runtime("ruby", ["ruby"], "true", f"ruby {SRC}/work.rb", 99.5),
    Runtime("erlang", ["erl", "erlc"], f"erlc {SRC}/work.erl", "erl -noshell -s work main", 5),
    Runtime("ghc", ["ghc"], f"cp {SRC}/work.hs . && ghc -v0 -O1 work.hs -o work", "./work", 1),
    Runtime("sbcl", ["sbcl"], "true", f"sbcl --script {SRC}/work.lisp", 0.1),
    Runtime("php", ["php"], "true",
            f"php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing {SRC}/work.php", 80),
    Runtime("guile", ["guile"], "true", f"guile --no-auto-compile {SRC}/work.scm", 99),
    Runtime("qemu-user", [f"qemu-{machines.OTHER}", FOREIGN_CC], f"{FOREIGN_CC} -O1 -static -o work {SRC}/work.c",
            f"qemu-{machines.OTHER} ./work", 99),
    Runtime("mono", ["mono", "mcs"], f"mcs -out:work.exe {SRC}/work.cs", "mono work.exe", 95),
    Runtime("pypy", ["pypy3"], "true", f"pypy3 {SRC}/work.py", 5),
    Runtime("pascal", ["fpc"], f"fpc -v0 -O2 -FE. {SRC}/work.pas", "./work", 99.9),  # its code has no unwind tables
    Runtime("d", ["ldc2"], f"ldc2 -O2 -of=work {SRC}/work.d", "./work", 99.9),  # with fibers
    Runtime("prolog", ["swipl"], "true", f"swipl -q -g work -t halt {SRC}/work.pl", 99.9),
    Runtime("R", ["R"], "true", f"R --vanilla --slave -f {SRC}/work.R", 99.9),
]


def shell(command, folder):
    done = subprocess.run(command, shell=True, cwd=folder, text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: exit {done.returncode}\n{done.stderr[-500:]}")
    return done.stdout


def is_built(runtime):
    return os.access(os.path.join(BUILT, runtime.name), os.X_OK)


def ends_of(profile, folder):
    return json.loads(shell(f"{CPPROF} report {profile} --view quality --format json", folder))["quality"]["by_end"]


def lacking(runtime):
    """Why it cannot run here; None = it can."""
    if is_built(runtime):
        return next((f"no program '{tool}'" for tool in runtime.need if tool != FOREIGN_CC and not shutil.which(tool)), None)
    for tool in runtime.need:
        if not shutil.which(tool):
            return f"no program '{tool}'"
    linked = FOREIGN_CC not in runtime.need or subprocess.run(
        [FOREIGN_CC, "-static", "-x", "c", "-o", "/dev/null", "-"], input="int main(void) { return 0; }", text=True, capture_output=True, check=False).returncode == 0
    return None if linked else f"no C library of {machines.OTHER}"


def judge(runtime):
    live, again = Counter(), Counter()
    with tempfile.TemporaryDirectory(prefix="cpprof_runtimes.") as folder:
        shell(f"cp {BUILT}/{runtime.name} work" if is_built(runtime) else runtime.build, folder)
        for _ in range(MAX_RUNS):
            shell(f"{CPPROF} record -q -F 1999 --workers 1 --raw raw -o live --no-resolve -- {runtime.run}", folder)
            shell(f"{CPPROF} import -q --no-resolve -o again raw", folder)
            live.update(ends_of("live", folder))
            again.update(ends_of("again", folder))
            if sum(live.values()) >= ENOUGH:
                break
    total = sum(live.values())
    share = 100 * live.get("complete", 0) / total if total else 0
    is_good = total >= MIN_SAMPLES and share >= runtime.least and live == again
    print(f"{'ok    ' if is_good else 'FAILED'} {runtime.name:12} {share:6.2f} % complete of {total} (wanted {runtime.least}): {dict(live)}"
          + ("" if live == again else f"; imported {dict(again)}"), flush=True)
    return is_good


def main():
    failed = 0
    if subprocess.run([CPPROF, "record", "-q", "-o", "/dev/null", "--", "true"], capture_output=True, check=False).returncode == 3:
        print("skipped: recording is not permitted here")
        sys.exit(77)
    for runtime in RUNTIMES:
        if sys.argv[1:] and runtime.name not in sys.argv[1:]:
            continue
        why = lacking(runtime)
        if why:
            print(f"skip   {runtime.name:12} {why}")
            continue
        try:
            failed += not judge(runtime)
        except RuntimeError as fault:
            print(f"FAILED {runtime.name:12} {fault}")
            failed += 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
