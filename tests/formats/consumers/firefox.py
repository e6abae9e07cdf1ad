#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Firefox Profiler's command-line tool loads our export, with our threads, functions and weights; it also reads our
folded export. It refuses files of an unknown version and files with missing tables."""
import json
import os
import platform
import re

from common import check, document, done, enter, export, npm, profiles, run, skip, totals

ARCH = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine())
NODE = f"node_modules/node-linux-{ARCH}/bin/node"
CLI = "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"
sessions = []  # one per attempt to load: a failed one may leave its daemon running


def cli(*options):
    return run(NODE, CLI, *options, env={**os.environ, "HOME": os.getcwd()}, timeout=120)


def load(file):
    """On a busy machine the tool gives up on its own daemon after half a second; then it is tried again."""
    for _ in range(20):
        sessions.append("cpprof" + str(len(sessions)))
        loaded = cli("load", file, "--session", sessions[-1])
        if loaded.returncode == 0 or "did not become ready" not in loaded.stdout + loaded.stderr:
            break
    return loaded, sessions[-1]


def check_profile(name):
    loaded, session = load(export(name, name + ".firefox.json"))
    if not check(f"{name}: it loads", loaded.returncode == 0, loaded.stdout + loaded.stderr):
        return
    info = cli("profile", "info", "--session", session)
    check(f"{name}: profile info is shown", info.returncode == 0 and "hread" in info.stdout, info.stdout + info.stderr)
    ours = document(name)
    strings, top = ours["strings"], max(range(len(ours["threads"]["tid"])), key=lambda t: sum(
        v for v, th, m in zip(ours["thread_values"]["value"], ours["thread_values"]["thread"], ours["thread_values"]["metric"]) if th == t and m == 1))
    functions = cli("thread", "functions", "--json", "--session", session)
    check(f"{name}: it lists functions", functions.returncode == 0, functions.stderr)
    shown = {f["name"] for f in re_find_functions(json.loads(functions.stdout))}
    names = {strings[i] for i in ours["frames"]["name"]}
    check(f"{name}: its functions are those of the profile", shown and all(any(s == n or s.startswith(n) or n.startswith(s[:60]) for n in names) for s in shown), list(shown - names)[:5])
    tree = cli("thread", "samples-top-down", "--session", session)
    check(f"{name}: it shows a tree", tree.returncode == 0 and len(tree.stdout.splitlines()) > 3, tree.stderr)
    markers = cli("thread", "markers", "--session", session)
    check(f"{name}: it lists markers", markers.returncode == 0, markers.stderr)
    if name != "hostile":
        check(f"{name}: inlined calls are marked", "(inl)" in tree.stdout or "inl" in tree.stdout, tree.stdout[:800])
    return top


def re_find_functions(value):
    """All objects in the result that have a name and numbers."""
    if isinstance(value, dict):
        if isinstance(value.get("name"), str) and any(key.lower().startswith(("self", "total")) for key in value):
            yield value
        for inner in value.values():
            yield from re_find_functions(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from re_find_functions(inner)


def check_damaged():
    good = json.load(open("sample.firefox.json"))
    good["meta"]["preprocessedProfileVersion"] = 999
    json.dump(good, open("newer.json", "w"))
    check("an unknown version is refused", load("newer.json")[0].returncode != 0)
    good = json.load(open("sample.firefox.json"))
    del good["shared"]["frameTable"]
    json.dump(good, open("missing.json", "w"))
    check("a missing table is refused", load("missing.json")[0].returncode != 0)
    open("text.json", "w").write("{")
    check("a file that is not a profile is refused", load("text.json")[0].returncode != 0)


enter("firefox")
if not ARCH:
    skip("there is no node 24 for " + platform.machine())
npm("@firefox-devtools/profiler-cli@0.10.0", f"node-linux-{ARCH}@24")
cli("stop", "--all")  # only daemons of this folder, which is their $HOME
try:
    for profile in profiles():
        check_profile(profile)
    packed, _ = load(export("sample", "sample.firefox.json.gz"))
    check("compressed", packed.returncode == 0, packed.stderr)
    folded, _ = load(export("sample", "sample.folded"))
    check("folded", folded.returncode == 0, folded.stderr)
    check_damaged()
finally:
    cli("stop", "--all")
done()
