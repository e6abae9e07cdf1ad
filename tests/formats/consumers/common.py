# SPDX-License-Identifier: Apache-2.0
"""Functions for the tests of consumers: profiles to export, tools to download, a tally. Each test runs in its own folder
in the build directory; unavailable tools are skipped with the reason, and nothing is installed on the machine."""
import json
import os
import shutil
import subprocess
import sys

CPPROF = os.environ["CPPROF"]
BUILD = os.environ["BUILD"]
SOURCE = os.environ["SOURCE"]
HERE = os.path.dirname(os.path.abspath(__file__))
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, ok, detail=""):
    counts["passed" if ok else "failed"] += 1
    if not ok:
        print(f"FAILED: {what} {str(detail)[:2000]}", flush=True)
    return bool(ok)


def skip_part(why):
    counts["skipped"] += 1
    print(f"skipped: {why}", flush=True)


def skip(why):
    print(f"skipped: {why}", flush=True)
    sys.exit(77)


def done():
    print(f"tally: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] else 0)


def enter(name):
    folder = os.path.join(BUILD, "consumers", name)
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)


def run(*command, **more):
    return subprocess.run(list(command), **{"capture_output": True, "text": True, "errors": "replace", **more})


def profiles():
    """Names of profiles in this folder: synthetic ones and, where possible, a recording."""
    for name in ("sample", "hostile"):
        made = run(os.path.join(BUILD, "tests", "make_profile"), name, name + ".data")
        check("make " + name, made.returncode == 0, made.stderr)
    recorded = run(CPPROF, "record", "-q", "-F", "499", "-o", "recorded.data", "--", os.path.join(BUILD, "examples", "stencil"), "1")
    if recorded.returncode in (3, 5):
        skip_part("cannot record here: " + recorded.stderr.strip().replace("\n", " "))
        return ["sample", "hostile"]
    check("record", recorded.returncode == 0, recorded.stderr)
    return ["sample", "hostile", "recorded"]


def export(profile, out, *options):
    made = run(CPPROF, "export", profile + ".data", "-o", out, *options)
    check(f"export {out}", made.returncode == 0, made.stderr)
    return out


def document(profile):
    """The JSON export, which the others are compared with."""
    return json.loads(run(CPPROF, "export", profile + ".data", "-f", "json").stdout)


def totals(profile):
    values = document(profile)["node_values"]["exclusive"]
    return [sum(values[str(i)]) for i in range(len(values))]


def npm(*packages):
    """Installs npm packages in this folder, without running their scripts."""
    if not shutil.which("npm") or not shutil.which("node"):
        skip("npm is not installed")
    marker = "npm-" + "-".join(packages).replace("/", "_")
    if not os.path.exists(marker):
        if not os.path.exists("package.json"):
            open("package.json", "w").write('{"private": true}\n')
        got = run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps", *packages)
        if got.returncode:
            skip("npm cannot install " + " ".join(packages) + ": " + got.stderr.strip()[-200:].replace("\n", " "))
        open(marker, "w").close()


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return skip("no chromium")


def debian(*packages):
    """A folder with the unpacked Debian packages, which are not installed."""
    root = os.path.abspath("debian")
    for package in packages:
        if os.path.exists(f"{root}/{package}.done"):
            continue
        os.makedirs(root, exist_ok=True)
        if not shutil.which("apt-get") or run("apt-get", "download", package, cwd=root).returncode:
            skip(f"Debian's package {package} cannot be downloaded")
        file = next(f for f in os.listdir(root) if f.startswith(package + "_") and f.endswith(".deb"))
        check("unpack " + package, run("dpkg", "-x", file, root, cwd=root).returncode == 0)
        open(f"{root}/{package}.done", "w").close()
    return root


def python_with(module):
    """A Python interpreter that has the module: Debian's modules only work with Debian's interpreter."""
    for python in ("python3", "/usr/bin/python3"):
        if shutil.which(python) and run(python, "-c", "import " + module).returncode == 0:
            return python
    return None
