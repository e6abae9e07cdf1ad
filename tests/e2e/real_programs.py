#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real programs, with record and attach: at least 99 % of the stacks that fit into the snapshot are complete, the others are
reported as `snapshot ended`, and all sums agree."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

CPPROF = os.environ["CPPROF"]
SPIN = os.path.join(os.environ["BUILD"], "tests", "e2e", "spin")
passed = failed = skipped = 0


def skip_all(why):
    print("skipped: " + why)
    sys.exit(77)


def claim(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(("ok: " if ok else "FAILED: ") + what)


def write_inputs():
    """Compressible text, and C code that takes a compiler seconds."""
    dice = random.Random(42)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randint(2, 9))) for _ in range(4000)]
    with open("big.txt", "w") as out:
        for _ in range(6):  # about 7 MB
            out.write(" ".join(dice.choices(words, k=155000)) + "\n")
    with open("big.c", "w") as out:
        for i in range(1500):
            out.write(f"""struct s{i} {{ int a, b[{i % 7 + 2}]; double d; }};
int f{i}(struct s{i} *p, int n)
{{
	int sum = {i};
	for (int i = 0; i < n; i++)
		for (int k = 0; k < {i % 7 + 2}; k++)
			switch ((p[i].a + k) % 5) {{
			case 0: sum += p[i].b[k] * {i}; break;
			case 1: sum ^= p[i].b[k] << (k & 7); break;
			case 2: p[i].d += sum / (k + 1.5); break;
			default: sum -= {f'f{i - 1}((struct s{i - 1} *)p, n / 2)' if i else 'n'};
			}}
	return sum;
}}
""")


PYTHON = """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(sum(fib(22) + len(sorted(str(i) for i in range(20000))) for _ in range(200)))
"""

RUBY = """
def fib(n) n < 2 ? n : fib(n - 1) + fib(n - 2) end
fibers = 8.times.map { Fiber.new { loop { Fiber.yield fib(16) } } }
puts 3000.times.sum { fibers.sum(&:resume) }
"""

# The command, and the name of the process to attach to.
PROGRAMS = {
    "xz": (["xz", "-k", "-9", "-c", "big.txt"], "xz"),
    "gcc -O2": (["gcc", "-O2", "-c", "big.c", "-o", "big.o"], "cc1"),
    "python3": (["python3", "-c", PYTHON], "python3"),
    "ruby with fibers": (["ruby", "-e", RUBY], "ruby"),
    "16 threads": ([SPIN, "4", "threads=16"], "spin"),
}


def judge(name, file):
    text = subprocess.run([CPPROF, "report", file, "--view", "quality", "--format", "json"], capture_output=True, text=True, check=True).stdout
    quality = json.loads(text)["quality"]
    ends, n = quality["by_end"], quality["samples"]
    fit = n - ends.get("snapshot_ended", 0)
    claim(n >= 200, f"{name}: {n} samples")
    claim(fit and ends.get("complete", 0) >= .99 * fit, f"{name}: {ends}")
    checked = subprocess.run([CPPROF, "check", file], capture_output=True, text=True)
    claim(checked.returncode == 0, f"{name}: sums agree {checked.stderr.strip()}")


def record(name, argv, options):
    done = subprocess.run([CPPROF, "record", "-q", *options, "-o", "r.data", "--", *argv], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        claim(False, f"{name}: exit code {done.returncode} {done.stderr.strip()}")
        return
    judge(f"record {name} {' '.join(options)}", "r.data")


def child_named(pid, comm):
    """The process of that name among pid and its descendants; None if it has not started yet or has exited."""
    try:
        with open(f"/proc/{pid}/comm") as file:
            if file.read().strip()[:15] == comm[:15]:
                return pid
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = file.read().split()
    except OSError:
        return None
    return next(filter(None, (child_named(int(child), comm) for child in children)), None)


def attach(name, argv, comm):
    target = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    pid = None
    while pid is None and target.poll() is None:
        pid = child_named(target.pid, comm)
        time.sleep(.02)
    time.sleep(.3)
    done = subprocess.run([CPPROF, "attach", "-q", "-p", str(pid), "-d", "2", "-o", "a.data"], capture_output=True, text=True)
    claim(done.returncode == 0, f"attach {name}: exit code {done.returncode} {done.stderr.strip()}")
    if done.returncode == 0:
        judge(f"attach {name}", "a.data")
    claim(target.wait() == 0, f"attach {name}: the target exits with status 0")


def main():
    global skipped
    os.chdir(tempfile.mkdtemp())
    probe = subprocess.run([CPPROF, "record", "-q", "-o", "p.data", "--", "true"], capture_output=True, text=True)
    if probe.returncode not in (0, 5):
        skip_all("perf_event is not available here: " + probe.stderr.strip())
    write_inputs()
    for name, (argv, comm) in PROGRAMS.items():
        if not shutil.which(argv[0]):
            skipped += 1
            print(f"skipped: {argv[0]} is not installed")
            continue
        record(name, argv, [])
        attach(name, argv, comm)
    if shutil.which("gcc"):
        record("gcc -O2", PROGRAMS["gcc -O2"][0], ["--stack-size", "65528"])
    shutil.rmtree(os.getcwd())
    print(f"tally: {passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


main()
