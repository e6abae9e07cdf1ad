#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cpprof trace` of functions that are hard or impossible to probe: either every call is counted, or a message says why not.
usage: trace_bad.py; needs CPPROF in the environment."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import trace_permission

CPPROF = os.environ["CPPROF"]
OWN = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#define OWN __attribute__((noinline, noclone, noipa))\nstatic volatile unsigned sum;\n"
passed = failed = skipped = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what} {detail}", flush=True)


def skip(why):
    global skipped
    skipped += 1
    print("skipped: " + why)


def build(name, *sources, flags=()):
    for i, text in enumerate(sources):
        with open(f"{name}{i}.c", "w") as file:
            file.write(OWN + text)
    subprocess.run(["cc", "-O2", "-g", "-fomit-frame-pointer", *flags, *(f"{name}{i}.c" for i in range(len(sources))), "-o", name], check=True)


def rows(name):
    report = subprocess.run([CPPROF, "report", "--view", "calls", "--format", "json", "--limit", "0", name], capture_output=True, text=True)
    return [(row["path"].split(" > "), row["calls"]) for row in json.loads(report.stdout)["rows"]] if report.stdout else []


def count(name, function):
    return sum(n for path, n in rows(name) if path[-1] == function)


def trace(*options, name="t.data"):
    return subprocess.run([CPPROF, "trace", "--max-overhead", "0", "-o", name, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def attach(program, *options, name="t.data", before=lambda target: None):
    """Traces a process that waits for a line of input; before: called with the process before tracing starts."""
    target = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    before(target)
    tracer = subprocess.Popen([CPPROF, "trace", "--max-overhead", "0", "-o", name, *options, "-p", str(target.pid)], stderr=subprocess.PIPE, text=True)
    said = tracer.stderr.readline()
    out = target.communicate("\n")[0]
    return out, said + tracer.communicate()[1]


def permitted():
    build("first", "int main(void) { return 0; }\n")
    tried = trace("-q", "-f", "main", "--", "./first")
    trace_permission.ask(tried.returncode, tried.stderr, check)


def symbols(program):
    lines = subprocess.run(["nm", program], capture_output=True, text=True).stdout.splitlines()
    return {line.split()[-1]: int(line.split()[0], 16) for line in lines if len(line.split()) == 3}


PLACES = """
OWN static int hidden_away(int n) { sum += n; return n; }
OWN void one(void) { __asm__ volatile(""); }
OWN int after(int n) { sum++; return n * 3; }
OWN int jumps(int n) { sum += 2; return after(n + 1); }
int main(void) { getchar(); for (int i = 0; i < 60; i++) { one(); jumps(i); hidden_away(i); } puts("done"); }
"""


def check_all_places(program):
    for exits in ("auto", "code", "return"):
        ran = trace("--exits", exits, "-f", "hidden_away", "-f", "one", "-f", "jumps", "-f", "after", "--", program)
        got = {f: count("t.data", f) for f in ("hidden_away", "one", "jumps", "after")}
        check(f"{program}, exits {exits}: static function, single instruction, tail call: every call is counted", set(got.values()) == {60} and ran.stdout == "done\n", (got, ran.stderr))


def check_places():
    build("places", PLACES)
    where = symbols("places")
    check_all_places("./places")
    ran = trace("-f", f"places+{where['after']:#x}", "--", "./places")
    check("by file and address", count("t.data", "after") == 60, ran.stderr)
    ran = trace("-f", f"places+{where['after'] + 2:#x}", "--", "./places")
    check("an address in the middle of an instruction", "no function starts there" in ran.stderr and ran.stdout == "done\n", ran.stderr)
    ran = trace("-f", f"places+{where['sum']:#x}", "--", "./places")
    check("an address in data", f"there is no code at 'places+{where['sum']:#x}'" in ran.stderr and ran.stdout == "done\n", ran.stderr)
    ran = trace("-f", "places:one", "-f", "nothing_of_this_name", "--", "./places")
    check("one of two names exists", count("t.data", "one") == 60 and "there is no function named 'nothing_of_this_name'" in ran.stderr, ran.stderr)


def check_signed_return():
    """A return instruction that authenticates its address (AArch64) cannot be probed: the return address is probed instead, and
    other functions are still traced."""
    if os.uname().machine != "aarch64":
        return skip("return address authentication exists on AArch64 only")
    build("protected", PLACES, flags=["-mbranch-protection=standard"])
    check_all_places("./protected")
    build("signed", """
__asm__(".text\\n.globl own_end\\n.type own_end, %function\\nown_end:\\n cbz w0, 1f\\n add w0, w0, #1\\n1: .inst 0xd65f0bff\\n.size own_end, .-own_end\\n");
int own_end(int n);
OWN int other(int n) { sum += n; return n; }
int main(int argc, char **argv) { (void)argv; getchar(); for (int i = 0; i < 10; i++) other(i); puts("done"); return argc > 9 ? own_end(argc) : 0; }
""")
    out, said = attach("./signed", "-f", "own_end", "-f", "other")
    check("a return that cannot be probed: its return address is", "cannot trace" not in said and "tracing 2 functions" in said and count("t.data", "other") == 10 and out == "done\n", said)
    out, said = attach("./signed", "-f", "own_end", "-f", "other", "--exits", "code")
    check("unless --exits code is given", "cannot trace own_end" in said and "try --exits return" in said and count("t.data", "other") == 10, said)


def check_twins():
    """Two static functions of the same name are distinguished."""
    build("twins", "OWN static int twin(int n) { sum += n; return n; }\nOWN int from_a(int n) { return twin(n) + 1; }\n",
          "OWN static int twin(int n) { sum -= n; return n; }\nOWN int from_b(int n) { return twin(n) + 1; }\n",
          "int from_a(int), from_b(int);\nint main(void) { for (int i = 0; i < 30; i++) { from_a(i); if (i % 3 == 0) from_b(i); } }\n")
    ran = trace("-f", "twin", "--", "./twins")
    got = {path[-2]: n for path, n in rows("t.data") if path[-1] == "twin"}
    check("functions of the same name are distinguished", got == {"from_a": 30, "from_b": 10}, (got, ran.stderr))


def check_replaced():
    """The executable was replaced after the start: the running code is traced, or a message says that the file was replaced."""
    build("old", "OWN int work(int n) { sum += n; return n; }\nint main(void) { getchar(); for (int i = 0; i < 40; i++) work(i); puts(\"done\"); }\n")
    build("new", "OWN int other(int n) { sum ^= n; return n; }\nOWN int work(int n) { sum += n * 3; return other(n); }\nint main(void) { getchar(); work(1); puts(\"new\"); }\n")
    out, said = attach(["./old"], "-f", "old:work", before=lambda target: os.replace("new", "old"))
    check("a file that was replaced", out == "done\n" and (count("t.data", "work") == 40 or "was replaced" in said), (out, said, rows("t.data")))


def check_forks():
    build("forks", """
#include <string.h>
#include <sys/wait.h>
OWN int work(int n) { sum += n; return n; }
OWN int work_of_child(int n) { sum += n; return n; }
OWN int work_behind_exec(int n) { sum += n; return n; }
int main(int argc, char **argv) {
	if (argc > 1) { for (int i = 0; i < 7; i++) work_behind_exec(i); return 0; }
	for (int i = 0; i < 10; i++) work(i);
	pid_t child = fork();
	if (!child) { usleep(getenv("SLOW") ? 6000000 : 700000); for (int i = 0; i < 5; i++) work_of_child(i); execl(argv[0], argv[0], "x", NULL); }
	waitpid(child, NULL, 0);
	for (int i = 0; i < 3; i++) work(i);
	puts("done");
}
""")
    ran = trace("-f", "work*", "--", os.path.abspath("forks"))
    got = {f: count("t.data", f) for f in ("work", "work_of_child", "work_behind_exec")}
    check("fork and exec", got == {"work": 13, "work_of_child": 5, "work_behind_exec": 7} and ran.stdout == "done\n", (got, ran.stderr))


def check_many():
    release = [int(part) for part in re.findall(r"\d+", os.uname().release)[:2]]
    n, most = 1500, 1024 if release >= [6, 6] else 128  # older kernels remove probes one by one
    text = "".join(f"OWN int gen_{i}(int n) {{ sum += n; return n + {i}; }}\n" for i in range(n))
    build("many", text + "int main(void) {" + "".join(f"gen_{i}(1);" for i in range(n)) + " puts(\"done\"); }\n")
    ran = trace("-f", "gen_*", "--max-overhead", "0", "--", "./many")
    got = [calls for path, calls in rows("t.data") if path[-1].startswith("gen_")]
    check("the maximum number of functions", len(got) == most and set(got) == {1} and ran.stdout == "done\n", (len(got), ran.stderr))
    check("the message says how many are left out", f"{n - most} more functions match but are not traced: at most {most} can be" in ran.stderr, ran.stderr)


WORK = """
OWN int work(int n) { sum += n; return n; }
int main(void) { getchar(); for (int i = 0; i < 500; i++) work(i); puts("done"); }
"""


def check_deep():
    """A stack of 40 KB: the part beyond the snapshot is also read, from the first call on."""
    build("deep", """
#include <string.h>
OWN int work(int n) { sum += n; usleep(2000); return n; }
OWN int down(int depth, int n) { char room[1000]; memset(room, depth, sizeof(room)); int got = depth ? down(depth - 1, n) : work(n); sum += room[n]; return got + 1; }
int main(void) { for (int i = 0; i < 900; i++) down(40 + i % 2, i); puts("done"); }
""")
    for exits in ("code", "return"):
        ran = trace("--exits", exits, "-f", "work", "--", "./deep")
        whole = sum(n for path, n in rows("t.data") if path[-1] == "work" and "main" in path and path.count("down") in (41, 42))
        check(f"deep stacks, exits {exits}", count("t.data", "work") == 900 and whole == 900 and ran.stdout == "done\n", (whole, ran.stderr))


def check_two():
    """Two cpprof trace the same function of one process."""
    for exits in ("code", "return"):
        target = subprocess.Popen(["./shared"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        tracers = [subprocess.Popen([CPPROF, "trace", "--max-overhead", "0", "--exits", exits, "-f", "work", "-o", f"two{i}.data", "-p", str(target.pid)], stderr=subprocess.PIPE, text=True) for i in range(2)]
        said = [tracer.stderr.readline() for tracer in tracers]
        out = target.communicate("\n")[0]
        said += [tracer.communicate()[1] for tracer in tracers]
        got = [count(f"two{i}.data", "work") for i in range(2)]
        check(f"two traces of one function, exits {exits}", out == "done\n" and got == [500, 500], (got, said))


def check_bpftrace():
    if not shutil.which("bpftrace"):
        return skip("no bpftrace")
    path = os.path.abspath("shared")
    program = f'uprobe:{path}:work {{ @entered = count(); }} uretprobe:{path}:work {{ @left = count(); }} BEGIN {{ printf("ready\\n"); }}'
    for exits in ("code", "return"):
        peer = subprocess.Popen(["bpftrace", "-e", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = []
        for line in peer.stdout:
            lines.append(line)
            if "ready" in line:
                break
        if not any("ready" in line for line in lines):
            peer.wait()
            return skip("bpftrace does not run here: " + " ".join(lines).strip()[:200])
        out, said = attach([path], "--exits", exits, "-f", "work")
        peer.send_signal(signal.SIGINT)
        theirs = dict(re.findall(r"@(\w+): (\d+)", peer.communicate()[0]))
        check(f"together with bpftrace on the same function, exits {exits}", out == "done\n" and count("t.data", "work") == 500 and theirs == {"entered": "500", "left": "500"}, (said, theirs, rows("t.data")))
        check(f"... with complete call paths, exits {exits}", rows("t.data") and all(path[0] == "_start" for path, _ in rows("t.data")), rows("t.data"))


def check_filter():
    """On x86-64, some kernels handle a probed return with a system call, which a seccomp filter of the process may forbid."""
    build("filtered", """
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
OWN int work(int n) { sum += n; return n; }
int main(void) {
	struct sock_filter all = { .code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW };
	struct sock_fprog program = { 1, &all };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 1;
	puts("filtered"); fflush(stdout); getchar();
	for (int i = 0; i < 25; i++) work(i);
	puts("done");
}
""")
    for exits in ("auto", "return"):
        out, said = attach(["./filtered"], "--exits", exits, "-f", "work", before=lambda target: target.stdout.readline())
        is_refused = exits == "return" and os.uname().machine == "x86_64"
        check(f"a seccomp filter, exits {exits}", out == "done\n" and count("t.data", "work") == (0 if is_refused else 25), (out, said, rows("t.data")))
        check(f"... the message appears only if returns cannot be probed, exits {exits}", is_refused == ("a seccomp filter may kill the process" in said), said)


def check_death():
    """The process exits or is killed inside a call."""
    build("dies", """
#include <signal.h>
OWN int work(int n) { sum += n; if (n == 20) raise(SIGKILL); if (n == 30) abort(); if (n == 40) _exit(3); return n; }
int main(int argc, char **argv) { for (int i = atoi(argv[1]); i < 100; i++) work(i); }
""")
    for start, n in ((0, 20), (21, 9), (31, 9)):
        for exits in ("code", "return"):
            ran = trace("--exits", exits, "-f", "work", "--", "./dies", str(start))
            check(f"death in call {n}, exits {exits}", count("t.data", "work") == n and "1 call did not return" in ran.stderr, (rows("t.data"), ran.stderr))


def check_jit():
    """JIT code is not in a file, so it cannot be probed."""
    build("jit", """
#include <string.h>
#include <sys/mman.h>
int main(void) {
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#if defined(__x86_64__)
	memcpy(code, "\\xc3", 1);
#else
	memcpy(code, "\\xc0\\x03\\x5f\\xd6", 4);
#endif
	__builtin___clear_cache((char *)code, (char *)code + 4);
	char name[64];
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(name, "w");
	fprintf(map, "%lx 1000 jitted_function\\n", (unsigned long)code);
	fclose(map);
	getchar();
	for (int i = 0; i < 10; i++) ((void (*)(void))code)();
	unlink(name);
	puts("done");
}
""")
    out, said = attach(["./jit"], "-f", "jitted_function")
    check("JIT code is refused", out == "done\n" and "there is no function named 'jitted_function'" in said, (out, said))


RUST = """
mod shop {
    pub struct Shelf { pub n: u64 }
    impl Shelf {
        #[inline(never)]
        pub fn take(&mut self, k: u64) -> u64 { self.n = self.n.wrapping_mul(31) ^ std::hint::black_box(k); self.n }
    }
}
fn main() {
    let mut shelf = shop::Shelf { n: 1 };
    let mut sum = 0u64;
    for i in 0..25 { sum = sum.wrapping_add(shelf.take(i)); }
    println!("{}", sum != 0);
}
"""


def check_rust():
    if not shutil.which("rustc"):
        return skip("no rustc")
    with open("r.rs", "w") as file:
        file.write(RUST)
    for mangling in ("legacy", "v0"):
        if subprocess.run(["rustc", "-O", "-C", f"symbol-mangling-version={mangling}", "r.rs", "-o", "rusty"], capture_output=True).returncode and \
           subprocess.run(["rustc", "-O", "r.rs", "-o", "rusty"], capture_output=True).returncode:
            return skip("rustc does not run here")
        ran = trace("-f", "*shop::Shelf*::take", "--", "./rusty")
        got = sum(n for path, n in rows("t.data") if "take" in path[-1])
        check(f"Rust, {mangling}: by the name that reports print", got == 25 and ran.stdout == "true\n", (rows("t.data"), ran.stderr))


if not shutil.which("cc"):
    print("skipped: no C compiler")
    sys.exit(77)
place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
folder = place.name
os.chdir(folder)
permitted()
build("shared", WORK)
for one in (check_places, check_signed_return, check_twins, check_replaced, check_forks, check_many, check_deep, check_two, check_bpftrace, check_filter, check_death, check_jit, check_rust):
    one()
print(f"tally: {passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed else 0)
