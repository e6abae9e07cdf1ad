#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares the stacks of programs that cannot be single-stepped with the runtime's own stack walker.

Four threads (node-alone: one) call leaf functions, each by a different path through two mutually recursive functions. Each leaf lets the
runtime print its stack once, then works. In every complete stack that contains a leaf, the program's functions must be
those that the runtime printed, frame by frame.

usage: witness.py [go | java | node | node-alone]      CPPROF comes from the environment
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

CPPROF = os.path.abspath(os.environ.get("CPPROF", "cpprof"))
N_LEAVES = 12
MIN_JUDGED = 150  # fewer are not significant
OURS = re.compile(r"\b((?:leaf|path)_[a-z0-9]+)")

GO_LEAF = """
//go:noinline
func leaf_{i}() int {{ tell({i}); s := {i}; for i := 0; i < 900000; i++ {{ s += i ^ s>>3 }}; return s }}
"""
GO = """package main
import ("fmt"; "runtime"; "strings"; "sync"; "sync/atomic"; "time")
var told [%d]int32
var lock sync.Mutex
func tell(i int) {
	if !atomic.CompareAndSwapInt32(&told[i], 0, 1) { return }
	var pcs [128]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	names := []string{}
	for { f, more := frames.Next(); names = append(names, f.Function); if !more { break } }
	lock.Lock(); fmt.Println("stack", strings.Join(names, ";")); lock.Unlock()
}
//go:noinline
func path_a(bits, n int, leaf func() int) int {
	if n == 0 { return leaf() + 1 }
	if bits&1 == 1 { return path_a(bits>>1, n-1, leaf) + 1 }
	return path_b(bits>>1, n-1, leaf) + 1
}
//go:noinline
func path_b(bits, n int, leaf func() int) int {
	var room [40]int
	room[n] = bits
	if n == 0 { return leaf() + room[0] }
	if bits&2 == 2 { return path_b(bits>>1, n-1, leaf) + room[n] }
	return path_a(bits>>1, n-1, leaf) + room[n]
}
func main() {
	var wait sync.WaitGroup
	end := time.Now().Add(3 * time.Second)
	for t := 0; t < 4; t++ {
		wait.Add(1)
		go func(t int) {
			for i := t; time.Now().Before(end); i++ { path_a(0x5a3c*(i%%%d+1), 5+i%%%d, leaves[i%%%d]); _ = make([]byte, 100000) }
			wait.Done()
		}(t)
	}
	wait.Wait()
}
"""

JAVA_LEAF = """
	static int leaf_{i}() {{ if (!told[{i}]) tell({i}); int s = {i}; for (int i = 0; i < 900000; i++) s += i ^ s >> 3; return s; }}
"""
JAVA = """public class Witness {
	static boolean[] told = new boolean[%d];
	static volatile int sink;
	static synchronized void tell(int i) {
		if (told[i]) return;
		told[i] = true;
		StringBuilder names = new StringBuilder();
		for (StackTraceElement e : Thread.currentThread().getStackTrace()) names.append(e.getMethodName()).append(';');
		System.out.println("stack " + names);
	}
	static int call(int leaf) { switch (leaf) { %s } return 0; }
	static int path_a(int bits, int n, int leaf) {
		if (n == 0) return call(leaf) + 1;
		return (bits & 1) == 1 ? path_a(bits >> 1, n - 1, leaf) + 1 : path_b(bits >> 1, n - 1, leaf) + 1;
	}
	static int path_b(int bits, int n, int leaf) {
		if (n == 0) return call(leaf) + 2;
		return (bits & 2) == 2 ? path_b(bits >> 1, n - 1, leaf) + 2 : path_a(bits >> 1, n - 1, leaf) + 2;
	}
	public static void main(String[] arguments) throws Exception {
		long end = System.nanoTime() + 5000000000L;
		Thread[] threads = new Thread[4];
		for (int t = 0; t < 4; t++) {
			final int first = t;
			threads[t] = new Thread(() -> {
				for (int i = first; System.nanoTime() < end; i++) sink = path_a(0x5a3c * (i %% %d + 1), 5 + i %% %d, i %% %d);
			});
			threads[t].start();
		}
		for (Thread thread : threads) thread.join();
	}
"""

NODE_LEAF = """
function leaf_{i}() {{ tell({i}); let s = {i}; for (let i = 0; i < 900000; i++) s = (s + (i ^ s >> 3)) | 0; return s; }}
leaves[{i}] = leaf_{i};
"""
NODE = """
const {{ Worker, isMainThread }} = require('worker_threads');
Error.stackTraceLimit = Infinity;
const leaves = [], told = [];
function tell(i) {{
	if (told[i]) return;
	told[i] = true;
	if (isMainThread) console.log('stack ' + new Error().stack.split('\\n').slice(1).map(line => line.trim().split(' ')[1]).join(';'));
}}
function path_a(bits, n, leaf) {{
	if (n === 0) return leaf() + 1;
	return bits & 1 ? path_a(bits >> 1, n - 1, leaf) + 1 : path_b(bits >> 1, n - 1, leaf) + 1;
}}
function path_b(bits, n, leaf) {{
	if (n === 0) return leaf() + 2;
	return bits & 2 ? path_b(bits >> 1, n - 1, leaf) + 2 : path_a(bits >> 1, n - 1, leaf) + 2;
}}
if (isMainThread) for (let t = 0; t < {others}; t++) new Worker(__filename);
let sum = 0;
for (let end = Date.now() + 4000, i = 0; Date.now() < end; i++) sum += path_a(0x5a3c * (i % {n} + 1), 5 + i % {n}, leaves[i % {n}]);
"""


def shell(command, folder):
    done = subprocess.run(command, shell=True, cwd=folder, text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: exit {done.returncode}\n{done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout


def write(folder, name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)


def each_leaf(pattern):
    return "".join(pattern.format(i=i) for i in range(N_LEAVES))


def make_go(folder):
    names = ", ".join(f"leaf_{i}" for i in range(N_LEAVES))
    write(folder, "witness.go", GO % ((N_LEAVES,) * 4) + each_leaf(GO_LEAF) + f"var leaves = []func() int{{ {names} }}\n")
    shell("GOCACHE=$PWD/cache GO111MODULE=off go build -o witness witness.go", folder)
    return "./witness"


def make_java(folder):
    cases = " ".join(f"case {i}: return leaf_{i}();" for i in range(N_LEAVES))
    write(folder, "Witness.java", JAVA % (N_LEAVES, cases, N_LEAVES, N_LEAVES, N_LEAVES) + each_leaf(JAVA_LEAF) + "}\n")
    shell("javac Witness.java", folder)
    # The machine's stack has no inlined frames; interpreted frames have no names.
    return "java -Xcomp -XX:-Inline -XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp . Witness"


def make_node(folder, others=3):
    write(folder, "witness.js", NODE.format(n=N_LEAVES, others=others).replace("if (isMainThread) for", each_leaf(NODE_LEAF) + "if (isMainThread) for", 1))
    return "node --perf-basic-prof --interpreted-frames-native-stack --no-turbo-inlining witness.js"


def make_node_alone(folder):
    """The threads of Node 18 overwrite each other's lines in the perf map: then many functions have no name."""
    return make_node(folder, others=0)


RUNTIMES = {"go": (["go"], make_go), "java": (["javac", "java"], make_java), "node": (["node"], make_node),
            "node-alone": (["node"], make_node_alone)}


def judge(name, make):
    """Counts the stacks that agree with the runtime's, and lists those that do not."""
    with tempfile.TemporaryDirectory(prefix="cpprof_witness.") as folder:
        command = make(folder)
        told = shell(f"{CPPROF} record -q -F 997 -o profile -- {command}", folder)
        folded = shell(f"{CPPROF} export profile --format folded --weight samples --loops off -o -", folder)
    truth = {}
    for line in told.splitlines():
        if line.startswith("stack "):
            ours = OURS.findall(line)
            truth[ours[0]] = ours
    n, wrong = 0, []
    for line in folded.splitlines():
        stack, _, count = line.rpartition(" ")
        ours = OURS.findall(stack)[::-1]
        # A method that ran before it was compiled has no name: "Interpreter".
        if not ours or ours[0] not in truth or "<incomplete>" in stack or ";Interpreter" in stack:
            continue
        n += int(count)
        if ours != truth[ours[0]]:
            wrong.append(line)
    print(f"{'ok    ' if not wrong and n >= MIN_JUDGED else 'FAILED'} {name:10} {n} samples in {len(truth)} leaves, {len(wrong)} stacks are not the runtime's")
    for line in wrong[:3]:
        print("  " + line)
    return not wrong and n >= MIN_JUDGED


def main():
    failed = 0
    if subprocess.run([CPPROF, "record", "-q", "-o", "/dev/null", "--", "true"], capture_output=True, check=False).returncode == 3:
        print("skipped: recording is not permitted here")
        sys.exit(77)
    for name in sys.argv[1:] or RUNTIMES:
        tools, make = RUNTIMES[name]
        lacks = [tool for tool in tools if not shutil.which(tool)]
        if lacks:
            print(f"skip   {name:10} no program '{lacks[0]}'")
            continue
        try:
            failed += not judge(name, make)
        except RuntimeError as fault:
            print(f"FAILED {name:10} {fault}")
            failed += 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
