#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cpprof annotate --cycles`: execution counts from every source (samples, bursts, exact counts) compared with callgrind, best
cases from llvm-mca, and the messages without llvm-mca.
usage: cycles.py [counts|best|callgrind]; needs CPPROF and SOURCE in the environment."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SOURCE"], "tests", "support"))
import machines  # noqa: E402

CPPROF = os.environ["CPPROF"]
SOURCE = os.path.join(os.environ["SOURCE"], "tests", "e2e", "cycles", "cycles.c")
ROUNDS = 3000000
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what} {detail}", flush=True)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def cycles(data, function, *options, **environment):
    ran = subprocess.run([CPPROF, "annotate", "--cycles", "--format", "json", *options, data, function],
                         capture_output=True, text=True, env={**os.environ, **environment})
    return ran, json.loads(ran.stdout) if ran.stdout.startswith("{") else {}


def callgrind(command):
    """Execution counts of the program's own instructions by address, from callgrind."""
    subprocess.run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--callgrind-out-file=grind.out", *command],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    counts, address, is_call, objects, ours = {}, 0, False, {}, False
    for line in open("grind.out"):
        found = re.match(r"(c?)ob=\((\d+)\)(?: (.*))?", line)
        if found:
            objects[found[2]] = found[3] or objects.get(found[2], "")
            if not found[1]:
                ours = os.path.basename(objects[found[2]]) == os.path.basename(command[0])
        elif line.startswith("calls="):
            is_call = True
        elif re.match(r"[+*0-9-]", line):
            words = line.split()
            step = words[0]
            address = address if step == "*" else address + int(step, 0) if step[0] == "+" else \
                address - int(step[1:], 0) if step[0] == "-" else int(step, 0)
            if not is_call and ours and len(words) > 2:
                counts[address] = counts.get(address, 0) + int(words[2])
            is_call = False
    return counts


def truth_of(counts, block):
    """callgrind's count of a block; the program is not position-independent, so addresses are the same."""
    return counts.get(int(block["vaddr"], 16))


def shares(found, counts, scale, takes_low):
    """Percentage of samples in blocks whose execution count is within 5, 10, 15 % of the truth, and in blocks with a count."""
    within, all_samples, told = {5: 0, 10: 0, 15: 0}, 0, 0
    for block in found["blocks"]:
        truth = truth_of(counts, block)
        all_samples += block["samples"]
        if truth is None or "executions" not in block or (block["confidence"] == "low" and not takes_low):
            continue
        told += block["samples"]
        for limit in within:
            off = abs(block["executions"] - truth * scale)
            within[limit] += block["samples"] if off <= limit / 100 * truth * scale else 0
    return {limit: 100 * n / told if told else 0 for limit, n in within.items()}, 100 * told / max(1, all_samples)


def print_shares(what, found, counts, scale, takes_low=False):
    share, told = shares(found, counts, scale, takes_low)
    print(f"| {what} | {told:.0f} % | {share[5]:.0f} / {share[10]:.0f} / {share[15]:.0f} % |", flush=True)


def exact(rounds):
    ran = subprocess.run([CPPROF, "paths", "-f", "work", "--format", "json", "-o", "counts.json", "--", "./cycles", str(rounds)],
                         capture_output=True, text=True)
    if ran.returncode == 3:
        skip("probes are not allowed: " + ran.stderr.strip())
    check("paths counts", ran.returncode == 0, ran.stderr)
    check("a whole run is marked as such", json.load(open("counts.json"))["whole"] is True)
    ran, found = cycles("cycles.data", "work", "--counts", "counts.json")
    check("annotate --cycles --counts", ran.returncode == 0, ran.stderr)
    shown = subprocess.run([CPPROF, "annotate", "--counts", "counts.json", "cycles.data", "work"], capture_output=True, text=True)
    check("annotate --counts lists the paths below the source", shown.returncode == 0 and re.search(
        r"75\.0%  lines (\d+ )+\d+; back to \d+\n.* 25\.0%  lines", shown.stdout), shown.stdout[-600:] + shown.stderr)
    return found


def of_another_command():
    counted = json.load(open("counts.json"))
    check("the command is in the counts", counted["command"].startswith("./cycles "), counted.get("command"))
    counted["command"] += "0"
    json.dump(counted, open("other.json", "w"))
    ran, found = cycles("cycles.data", "work", "--counts", "other.json")
    check("counts of another command are proportions, not exact", ran.returncode == 0 and all(block.get("confidence") != "exact" for block in found["blocks"]), found)


def record(rounds):
    subprocess.run(["gcc", "-O1", "-g", "-no-pie", "-o", "cycles", SOURCE], check=True)
    ran = subprocess.run([CPPROF, "record", "-o", "cycles.data", "--", "./cycles", str(rounds)], capture_output=True, text=True)
    if ran.returncode == 3:
        skip("recording is not allowed: " + ran.stderr.strip())
    ran, sampled = cycles("cycles.data", "work")
    check("annotate --cycles", ran.returncode == 0 and sampled.get("samples", 0) > 50, ran.stderr)
    check("the length of a cycle was measured", sampled.get("cycle_ns", 0) > 0.05, str(sampled.get("cycle_ns")))
    return sampled, ran.stderr


def counts_are_exact(counted, rounds):
    headers = [loop for loop in counted["loops"] if loop["samples"]]
    check("one loop", len(headers) == 1 and headers[0]["executions"] == rounds, str(headers))
    for block in counted["blocks"]:
        check("counts are exact", block["confidence"] == "exact", str(block))
    most = sorted((way["count"] for way in counted["ways"]), reverse=True)[:2]
    check("two paths around the loop, one of them in a quarter of the iterations",
          abs(most[0] - rounds * 3 // 4) <= 1 and abs(most[1] - rounds // 4) <= 1, str(most))
    check("samples of all paths add up to those of all blocks", abs(sum(w["samples"] for w in counted["ways"]) - counted["samples"]) < 0.01,
          str([w["samples"] for w in counted["ways"]]))
    check("some paths are dense, some are sparse", {w["dense"] for w in counted["ways"] if w["samples"]} == {True, False})


def best_cases(counted, said):
    if not counted.get("model"):
        skip("llvm-mca gives no best case here: " + said.strip())
    loop = [loop for loop in counted["loops"] if loop["samples"]][0]
    check("a best case of the loop: 64 multiplications in a chain take more than 64 cycles", loop.get("best", 0) > 64, str(loop))
    check("every block has a best case", all(b.get("best", 0) > 0 for b in counted["blocks"]))
    ran, again = cycles("cycles.data", "work", "--counts", "counts.json")
    check("best cases are the same the second time", again == counted, ran.stderr)


def grind(sampled, counted, rounds):
    truth = callgrind(["./cycles", str(rounds // 10)])
    for block in counted["blocks"]:
        want = truth_of(truth, block)
        if want is None and not block["executions"]:
            continue
        check("the count equals callgrind's", want is not None and block["executions"] in (want, want * 10),
              f"{block['vaddr']}: {block['executions']} {want}")
    print("| source | samples in blocks with a count | within 5 / 10 / 15 % |\n|---|---|---|")
    print_shares("samples", sampled, truth, 10)
    print_shares("samples, low confidence too", sampled, truth, 10, True)
    bursts(truth, rounds)
    print_shares("counts", counted, truth, 10)


def bursts(truth, rounds):
    """A path around the loop has 170 instructions: where a step takes 12 us or more, no burst of 2 ms contains one."""
    said = subprocess.run([CPPROF, "paths", "--bursts", "--rate", "100", "--format", "json", "-o", "bursts.json", "-f", "work", "--",
                           "./cycles", str(10 * rounds)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
    if "the paths are longer than a burst" in said:
        print("skipped: bursts:", said.strip().splitlines()[0])
        return
    ran, proportions = cycles("cycles.data", "work", "--counts", "bursts.json")
    check("bursts give proportions", ran.returncode == 0, ran.stderr + said)
    if ran.returncode == 0:
        print_shares("bursts", proportions, truth, 10)
        print_shares("bursts, low confidence too", proportions, truth, 10, True)


def unknown_cpu():
    """A processor that LLVM has no name for: recorded ones are recognised, or a message says what to do."""
    ran, _ = cycles("cycles.data", "work", PATH="/nonexistent")
    check("the processor is recognised, or a message asks for it", "llvm-19" in ran.stderr or "give it with --cpu NAME" in ran.stderr, ran.stderr)
    ran, _ = cycles("cycles.data", "work", "--cpu", "no-such-processor")
    check("with a name that LLVM does not know, the rest is shown", ran.returncode == 0, ran.stderr)
    has_mca = any(shutil.which(f"llvm-mca{suffix}") for suffix in ("", *(f"-{version}" for version in range(13, 41))))
    check("... and a message says so", not has_mca or "'no-such-processor'" in ran.stderr and "-mcpu=help" in ran.stderr or "no model of this processor" in ran.stderr, ran.stderr)


def without_mca():
    cpu = {"x86_64": "skylake", "aarch64": "neoverse-n1"}[machines.HOST]  # whatever this machine is
    ran, found = cycles("cycles.data", "work", "--counts", "counts.json", "--cpu", cpu, PATH="/nonexistent")
    check("it works without llvm-mca", ran.returncode == 0 and found["blocks"], ran.stderr)
    check("a message names the package", "llvm-19" in ran.stderr, ran.stderr)
    check("no best case", not any("best" in block for block in found["blocks"]))
    ran = subprocess.run([CPPROF, "annotate", "--cycles", "--counts", "cycles.data", "cycles.data", "work"],
                         capture_output=True, text=True)
    check("a file without counts is refused", ran.returncode == 1 and "no counts" in ran.stderr, ran.stderr)
    ran = subprocess.run([CPPROF, "annotate", "--cycles", "cycles.data", "main"], capture_output=True, text=True)
    check("no crash for a function without samples", ran.returncode in (0, 1), ran.stderr)
    with open("cycles", "ab") as file:
        file.write(b"x")
    subprocess.run(["gcc", "-O2", "-g", "-no-pie", "-o", "cycles", SOURCE], check=True)
    ran = subprocess.run([CPPROF, "annotate", "--cycles", "cycles.data", "work"], capture_output=True, text=True)
    check("another build is refused", ran.returncode == 1 and "not the binary that was recorded" in ran.stderr, ran.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = folder
    mode = sys.argv[1] if len(sys.argv) > 1 else "counts"
    if mode == "callgrind" and not shutil.which("valgrind"):
        skip("valgrind is not installed")
    estimated, message = record(ROUNDS)
    exactly = exact(ROUNDS)
    if mode == "best":
        best_cases(exactly, message)
    elif mode == "callgrind":
        grind(estimated, exactly, ROUNDS)
    else:
        counts_are_exact(exactly, ROUNDS)
        of_another_command()
        unknown_cpu()
        without_mca()
print(f"{passed} checks passed, {failed} failed")
sys.exit(1 if failed else 0)
