# SPDX-License-Identifier: Apache-2.0
"""The profilers: how each is started, which files it writes, how its result is read."""
import glob
import json
import os
import re
import shutil
import subprocess

from workloads import HERE, WORK

CPPROF = os.environ.get("CPPROF", os.path.join(HERE, "..", "..", "build", "release", "cmd", "cpprof"))
RATE = "999"
# Keeps perf away from the user's cache: symbols of a cached unstripped copy would be used for a stripped file.
PERF = f"perf --buildid-dir {WORK}/perf-cache"
ROOTS = re.compile(r"^(_start|_dl_start|_dl_start_user|__libc_start_main.*|__libc_start_call_main|clone3?|__clone3?|"
                   r"start_thread|thread_start|runtime\.goexit.*|runtime\.rt0_go.*|runtime\.mstart.*|__clone_internal)$")
FRAME = re.compile(r"^\s+([0-9a-f]+)\s+(.*?)\s+\((.*)\)\s*$")


def reaches_root(stack):
    """Recognises roots by name; in a stripped program the frame below libc's start routine is _start."""
    if not stack:
        return False
    below_start = len(stack) > 1 and stack[-2][0].startswith("__libc_start_main")
    return bool(ROOTS.match(stack[-1][0])) or below_start


def perf_complete(path):
    """Share of user samples whose outermost frame is a root, as unwound by perf."""
    script = subprocess.Popen(f"{PERF} script -i {path} -F comm,tid,ip,sym,dso --max-stack 4096 --no-inline".split(),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
    total = rooted = 0
    comm, stack = "", []
    for line in list(script.stdout) + ["\n"]:
        if line.strip() and line[0] not in " \t":
            comm, stack = line.split()[0], []
        elif line.strip():
            match = FRAME.match(line)
            stack.append((match[2].split("+")[0], match[3]) if match else ("?", "?"))
        elif stack or comm:
            user = [f for f in stack if not f[1].startswith("[kernel") and not f[1].startswith("[guest")]
            if comm not in ("timewrap", "perf", "perf-exec") and len(user) == len(stack):
                total += 1
                rooted += reaches_root(user)
            comm, stack = "", []
    script.wait()
    return {"samples": total, "complete_pct": 100 * rooted / total if total else None}


def perf_lost(path):
    out = subprocess.run(f"{PERF} report -i {path} --stats".split(), capture_output=True, text=True).stdout
    return sum(int(m) for m in re.findall(r"LOST(?:_SAMPLES)? events:\s+(\d+)", out))


def perf_read(path):
    return perf_complete(path) | {"lost": perf_lost(path)}


def cpprof_read(path):
    out = subprocess.run([CPPROF, "export", path, "--format", "json", "--max-nodes", "100"], capture_output=True, text=True)
    if out.returncode:
        return {"error": out.stderr.strip()}
    quality = json.loads(out.stdout)
    quality = quality.get("quality", quality)
    samples = quality["samples"]
    complete = quality["unwind"]["complete"]
    return {"samples": samples, "complete_pct": 100 * complete / samples if samples else None,
            "lost": quality["lost_samples"], "by_end": quality["unwind"]["by_end"], "told_cpu_s": quality["overhead"]["cpprof_cpu_ns"] / 1e9}


def gprofng_read(path):
    """Reads the experiments of the programs below the wrapper; a stack is complete if its root is the start of a program or thread."""
    total = whole = 0.0
    for child in glob.glob(os.path.join(path, "_*.er")):
        text = subprocess.run(["gprofng", "display", "text", "-calltree", child], capture_output=True, text=True).stdout
        rows = [(float(m[1]), len(m[2]), m[3]) for m in re.finditer(r"^(\d+\.\d*)\s+\d+\.\d*(\s+(?:\|\s*)*)\+-(\S+)", text, re.M)]
        depth = rows[0][1] if rows else 0
        total += rows[0][0] if rows else 0
        whole += sum(time for time, at, name in rows if at == depth + 2 and ROOTS.match(name))
    return {"complete_pct": 100 * whole / total, "samples": round(1000 * total)} if total else {}


CPPROF_RECORD = f"{CPPROF} record -q -F {RATE} -e cpu-clock -o {{out}}"
CPPROF_REPORT = {"inlines": f"{CPPROF} report {{out}} --no-pager --view tree"}

# record: command before the target; resolve: command that adds names, if reporting does not; read: how to read its own
# statistics; report: commands whose time is measured; store: peer whose run has left the store that this one uses
PEERS = {
    "none": dict(record="", out=None, read=None, report={}),
    # Unwinding alone, with names added by a separate command; then as users do, the first time and the second.
    "cpprof": dict(record=CPPROF_RECORD + " --no-resolve --", out="cpprof.data", read=cpprof_read,
                   resolve=f"{CPPROF} resolve -q {{out}}", report={}),
    "cpprof_first": dict(record=CPPROF_RECORD + " --", out="cpprof.data", read=cpprof_read, report=CPPROF_REPORT),
    "cpprof_again": dict(record=CPPROF_RECORD + " --", out="cpprof.data", read=cpprof_read, report=CPPROF_REPORT, store="cpprof_first"),
    "perf": dict(record=f"{PERF} record -F {RATE} -e cpu-clock --call-graph dwarf,8192 -o {{out}} --", out="perf.data", read=perf_read,
                 report={"inlines": f"{PERF} report -i {{out}} --stdio", "no_inlines": f"{PERF} report -i {{out}} --stdio --no-inline"}),
    "perf_fp": dict(record=f"{PERF} record -F {RATE} -e cpu-clock --call-graph fp -o {{out}} --", out="perf.data", read=perf_read, report={}),
    "gprofng": dict(record="gprofng collect app -p 1001u -O {out}", out="exp.er", read=gprofng_read, report={}),
}


def add_before(path):
    """An earlier build as a peer, to compare this build's cpprof and cpprof_first with."""
    for name in ("cpprof", "cpprof_first"):
        mine = PEERS[name]
        PEERS[name.replace("cpprof", "before")] = {**mine, "report": {}} | {
            key: mine[key].replace(CPPROF, path) for key in ("record", "resolve") if key in mine}


def available(name):
    if name in ("none",) or name.startswith("before"):
        return None
    if name.startswith("cpprof"):
        return None if os.access(CPPROF, os.X_OK) else f"cpprof is not built at {CPPROF}"
    program = "gprofng" if name == "gprofng" else "perf"
    return None if shutil.which(program) else f"{program} is not installed"
