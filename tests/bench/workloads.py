# SPDX-License-Identifier: Apache-2.0
"""The workloads: requirements, how to build and run each. All are deterministic, CPU bound, about five seconds long."""
import glob
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.join(HERE, "src")
WORK = os.path.join(os.environ.get("CPPROF_BENCH_DIR", os.path.join(HERE, "..", "..", "build", "bench")))
WORK = os.path.abspath(WORK)
BIN = os.path.join(WORK, "bin")
DATA = os.path.join(WORK, "data")
NO_TABLES = "-fno-asynchronous-unwind-tables -fno-unwind-tables -fno-exceptions -fomit-frame-pointer"


class Skip(Exception):
    """Why a workload cannot run here."""


def sh(command, **kw):
    done = subprocess.run(command, shell=True, cwd=WORK, text=True, capture_output=True, **kw)
    if done.returncode:
        raise Skip(f"{command.split()[0]}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'failed'}")
    return done.stdout.strip()


def built(name, command):
    """A binary in BIN, built once."""
    path = os.path.join(BIN, name)
    if not os.path.exists(path):
        sh(command.format(src=SRC, out=path, bin=BIN, data=DATA, no_tables=NO_TABLES))
    return path


def data(name, command):
    path = os.path.join(DATA, name)
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        sh(command.format(out=path, data=DATA, src=SRC))
    return path


def program(name):
    path = shutil.which(name)
    if not path:
        raise Skip(f"no program '{name}'")
    return path


def cc1plus():
    path = sh("g++ -print-prog-name=cc1plus")
    if not os.path.isabs(path):
        raise Skip("no cc1plus")
    return path


def corpus():
    """Deterministic bytes that compress like real data: code of the compiler and source of the headers."""
    return data("corpus.bin", f"cat {cc1plus()} $(find /usr/include -name '*.h' | sort | head -2000) | head -c 60000000 > {{out}}")


def amalgamation():
    """SQLite's amalgamation source, from the npm package better-sqlite3."""
    path = os.path.join(DATA, "sqlite", "sqlite3.c")
    if not os.path.exists(path):
        folder = os.path.join(DATA, "npm")
        os.makedirs(folder, exist_ok=True)
        sh(f"npm pack --silent better-sqlite3 --pack-destination {folder}")
        archive = glob.glob(folder + "/better-sqlite3-*.tgz")[0]
        os.makedirs(os.path.dirname(path), exist_ok=True)
        sh(f"tar -xzf {archive} -C {folder} package/deps/sqlite3")
        for name in ("sqlite3.c", "sqlite3.h"):
            shutil.copy(f"{folder}/package/deps/sqlite3/{name}", os.path.dirname(path))
    return os.path.dirname(path)


def sqlite(name, flags):
    folder = amalgamation()
    return built(name, f"gcc {flags} -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -I{folder} {{src}}/sqlite.c {folder}/sqlite3.c -lm -o {{out}}")


def clip():
    return data("clip.y4m", program("ffmpeg") + " -v error -y -f lavfi -i testsrc2=s=640x360:r=25:d=6,noise=alls=12:allf=t+u:all_seed=7,format=yuv420p -f yuv4mpegpipe {out}")


def clip_h264():
    clip()
    one = data("clip.264", program("x264") + " --quiet --threads 1 --preset medium --crf 23 -o {out} {data}/clip.y4m")
    return data("long.264", f"for i in $(seq 24); do cat {one}; done > {{out}}")


def clip_av1():
    clip()
    one = data("clip.ivf", program("ffmpeg") + " -v error -y -i {data}/clip.y4m -frames:v 60 -c:v libaom-av1 -cpu-used 8 -crf 30 -f ivf {out}")
    return data("long.ivf", program("ffmpeg") + f" -v error -y -stream_loop 62 -i {one} -c copy -f ivf {{out}}")


def openblas():
    lib = sorted(glob.glob("/usr/lib/*/openblas-pthread/libopenblas.so*") + glob.glob("/usr/lib/*/libopenblas.so*"))
    if not lib:
        raise Skip("no libopenblas")
    return built("blas", f"gcc -O2 -g -w {{src}}/blas.c {lib[0]} -Wl,--allow-shlib-undefined -Wl,-rpath,{os.path.dirname(lib[0])} -o {{out}}")


def deep(name, flags):
    return built(name, f"g++ -O2 {flags} -w {{src}}/deep.cpp -o {{out}}")


def thr16(name, flags):
    return built(name, f"gcc -O2 {flags} -w {{src}}/thr16.c -lm -lpthread -o {{out}}")


def stripped(name, of):
    return built(name, f"strip -s -o {{out}} {of}")


def go():
    tool = shutil.which("go") or next(iter(glob.glob("/usr/lib/go-*/bin/go")), None)
    if not tool:
        raise Skip("no go")
    return built("go", f"env GOCACHE={WORK}/gocache GO111MODULE=off {tool} build -o {{out}} {{src}}/go.go")


def java():
    program("java")
    if not os.path.exists(BIN + "/Bench.class"):
        sh(f"{program('javac')} -d {BIN} {SRC}/Bench.java")
    return f"{program('java')} -Xmx512m -cp {BIN} Bench"


# name -> (Debian packages it needs, a function that builds it and returns the command, environment)
WORKLOADS = {
    "xz": (["xz-utils"], lambda: f"{program('xz')} -6 -T1 -c {data('xz.bin', f'head -c 6000000 {corpus()} > {{out}}')}", {}),
    "zstd": (["zstd"], lambda: f"{program('zstd')} -17 -T1 -q -c {data('zstd.bin', f'head -c 8000000 {corpus()} > {{out}}')}", {}),
    "cc1plus": (["g++"], lambda: f"{cc1plus()} -quiet -O2 -g0 -std=c++17 -fpreprocessed {data('cxx.ii', 'g++ -std=c++17 -E -O2 {src}/cxx.cpp -o {out}')} -o /dev/null", {}),
    "python": (["python3"], lambda: f"{shutil.which('python3.11', path='/usr/bin') or program('python3')} {SRC}/python.py 120", {"PYTHONHASHSEED": "0"}),
    "perl": (["perl"], lambda: f"{program('perl')} {SRC}/perl.pl 250", {"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}),
    "sqlite": (["gcc"], lambda: sqlite("sqlite", "-O3 -g") + " 60", {}),
    "libcrypto": (["libssl-dev"], lambda: built("crypto", "gcc -O2 -g -w {src}/crypto.c -lcrypto -o {out}") + " 20", {}),
    "x264": (["x264", "ffmpeg"], lambda: f"{program('x264')} --quiet --no-progress --threads 1 --preset medium --crf 23 -o /dev/null {clip()}", {}),
    "dav1d": (["dav1d", "ffmpeg"], lambda: f"{program('dav1d')} -q --threads 1 --muxer null -o /dev/null -i {clip_av1()}", {}),
    "ffmpeg": (["ffmpeg", "x264"], lambda: f"{program('ffmpeg')} -v error -nostdin -threads 1 -f h264 -i {clip_h264()} -f null -", {}),
    "gmp": (["libgmp-dev"], lambda: built("gmp", "gcc -O2 -g -w {src}/gmp.c -lgmp -o {out}") + " 19", {}),
    "openblas": (["libopenblas0-pthread"], lambda: openblas() + " 20", {"OPENBLAS_NUM_THREADS": "1"}),
    "fortran": (["gfortran"], lambda: built("fortran", "gfortran -O3 -g {src}/fortran.f90 -o {out}") + " 60", {}),
    "cxx": (["g++"], lambda: built("cxx", "g++ -O3 -g -std=c++17 -w {src}/cxx.cpp -o {out}") + " 125", {}),
    "deep500": (["g++"], lambda: deep("deep", "-g -fno-exceptions") + " 500 2700", {}),
    "deep2500": (["g++"], lambda: deep("deep", "-g -fno-exceptions") + " 2500 2500", {}),
    "thr16": (["gcc"], lambda: thr16("thr16", "-g") + " 260", {}),
    "node": (["nodejs"], lambda: f"{program('node')} {SRC}/node.js 380", {}),
    "java": (["default-jdk-headless"], lambda: java() + " 320", {}),
    "rust": ([], lambda: built("rust", program("rustc") + " -O -g {src}/rust.rs -o {out}") + " 85", {}),
    "go": (["golang-go"], lambda: go() + " 220", {}),
    "sqlite_stripped": (["gcc"], lambda: stripped("sqlite_stripped", sqlite("sqlite", "-O3 -g")) + " 60", {}),
    "sqlite_notables": (["gcc"], lambda: sqlite("sqlite_notables", "-O3 " + NO_TABLES) + " 60", {}),
    "deep500_notables": (["g++"], lambda: deep("deep_notables", NO_TABLES) + " 500 2500", {}),
    "thr16_notables": (["gcc"], lambda: thr16("thr16_notables", NO_TABLES) + " 260", {}),
}
QUICK = ["xz", "cxx", "cc1plus", "sqlite_notables", "deep500", "thr16"]


def prepare(name, install):
    """The command line and environment of a workload; raises Skip with the reason."""
    packages, make, env = WORKLOADS[name]
    os.makedirs(BIN, exist_ok=True)
    os.makedirs(DATA, exist_ok=True)
    install(packages)
    return make().split(), env


def tool(name):
    """One of the benchmark's own programs."""
    flags = "-static" if name == "timewrap" else ""
    return built(name, f"gcc -O2 {flags} {{src}}/{name}.c -o {{out}}")
