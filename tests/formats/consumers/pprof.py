#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pprof program reads our export with the same sums, and refuses damaged files."""
import gzip
import os
import re
import shutil

from common import check, debian, document, done, enter, export, profiles, run, skip, totals


def build():
    """Builds pprof from Debian's source packages, without a network."""
    if not shutil.which("go"):
        skip("go is not installed")
    if os.path.exists("pprof"):
        return
    root = debian("golang-github-google-pprof-dev", "golang-github-ianlancetaylor-demangle-dev", "golang-github-chzyer-readline-dev",
                  "golang-golang-x-sys-dev")
    made = run("go", "build", "-o", "pprof", "github.com/google/pprof",
               env={**os.environ, "GO111MODULE": "off", "GOFLAGS": "", "GOPROXY": "off", "GOPATH": root + "/usr/share/gocode", "GOCACHE": os.path.abspath("gocache")})
    if made.returncode:
        skip("pprof does not build here: " + made.stderr.strip()[-300:].replace("\n", " "))


def pprof(*options):
    return run("./pprof", *options, env={**os.environ, "PPROF_TMPDIR": os.path.abspath("tmp"), "PPROF_BINARY_PATH": "/nonexistent", "HOME": os.getcwd()})


def amount(text):
    """A value printed by -top, such as 12.5ms, in ns; counts are returned as they are."""
    number, unit = re.fullmatch(r"([0-9.]+)([a-z]*)", text).groups()
    return float(number) * {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "mins": 60e9}[unit]


def check_profile(name):
    file, sums, ours = export(name, name + ".pb.gz"), totals(name), document(name)
    raw = pprof("-raw", file)
    check(f"{name}: pprof reads it", raw.returncode == 0 and "Samples:" in raw.stdout, raw.stderr)
    for index, metric in enumerate(ours["metrics"]):
        top = pprof("-top", f"-sample_index={index}", "-nodecount=100000", "-nodefraction=0", "-edgefraction=0", file)
        shown = re.search(r"(?:% of|accounting for \S+, \S+ of) (\S+) total", top.stdout)
        check(f"{name}: total of {metric['name']}", shown and abs(amount(shown[1]) - sums[index]) <= 0.01 * sums[index] + 1, (top.stdout[:300], top.stderr, sums))
    if any(module["build_id"] for module in ours["modules"]):
        build_id = next(module["build_id"] for module in ours["modules"] if module["build_id"])
        check(f"{name}: build-ids", build_id in raw.stdout, build_id)
    tags = pprof("-tags", file)
    check(f"{name}: thread labels", tags.returncode == 0 and "thread" in tags.stdout, tags.stdout[:500])
    return raw.stdout


def varint(value):
    out = b""
    while value >= 128:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def check_damaged():
    good = gzip.open("sample.pb.gz").read()
    n = len(document("sample")["metrics"])
    ones = b"".join(varint(1) for _ in range(n))
    damaged = {
        "name out of range": good + field(5, field(1, 7777) + field(2, 999999)),
        "no such location": good + field(2, field(1, varint(999999)) + field(2, ones)),
        "values missing": good + field(2, field(1, varint(1)) + field(2, ones[:-1])),
        "location twice": good + field(4, field(1, 1)),
        "string 0 not empty": field(6, b"not empty") + good,
        "cut": good[:len(good) // 2],
    }
    for what, data in damaged.items():
        with gzip.open("damaged.pb.gz", "wb") as file:
            file.write(data)
        check("pprof refuses: " + what, pprof("-raw", "damaged.pb.gz").returncode != 0)


enter("pprof")
build()
for profile in profiles():
    text = check_profile(profile)
    if profile == "recorded":
        check("inlined calls are several lines of one location", re.search(r"^\s+\d+: 0x[0-9a-f]+ M=\d+ .*\n\s+\S+ \S+:\d+", text, re.M), text[:500])
names = pprof("-top", "-nodecount=1000", "-nodefraction=0", "hostile.pb.gz").stdout
check("hostile names are kept", all(name in names for name in ("__proto__", "semi;colon;frames 12", "=cmd|' /C calc'!A0", "constructor", "größe")), names)
export("sample", "pyroscope.pb.gz", "--pprof-names", "pyroscope")
types = pprof("-raw", "pyroscope.pb.gz").stdout
check("Pyroscope's names", "cpu/nanoseconds" in types and "PeriodType: cpu nanoseconds" in types, types[:300])
check_damaged()
done()
