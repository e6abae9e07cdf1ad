#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the include rule. A file may include headers of its own folder, of base/ and binary/, and of folders to its left in
the pipeline. Subfolders of one folder follow the same rule among themselves; files directly in the folder may use all of
them and be used by all of them. There are no include cycles, and an external header may only be included by named files.
Some identifiers of a folder may only be used by named files of it. Prints each violation.

usage: includes.py [TREE]
"""
import os
import re
import sys

# In the order in which data flows, each with its subfolders in order.
PIPELINE = {
    'base': [],
    'binary': ['elf', 'isa', 'cfi', 'flow', 'functions'],
    'collector': ['bpf', 'process', 'record', 'deep', 'probe', 'wait', 'perfdata', 'live', 'step'],
    'recipes': [],
    'unwinder': [],
    'symbolize': ['dwarf', 'files', 'kernel', 'witness'],
    'structure': [],
    'profile': [],
    'report': ['tree', 'diff', 'text', 'annotate', 'cycles', 'export', 'html'],
    'recording': [],
    'verify': [],
    'cmd': [],
}
FOLDERS = list(PIPELINE)

# Known exceptions: subfolder pairs (from, to) and cycles, each with its reason.
ALLOWED_PAIRS = {}
ALLOWED_CIRCLES = [
]

# External headers, and the only files that may include them.
FOREIGN = [
    (r'linux/perf_event\.h', r'collector/(\w+/perf_\w+\.[ch]|bpf/(bpf_(trace|paths)|uprobe)\.c)'),
    (r'(libelf|gelf)\.h', r'binary/elf/image\.c'),
    (r'Zydis/.*', r'binary/isa/x86/x86_zydis\.c'),
    (r'xed/.*', r'binary/isa/x86/x86_xed\.c'),
    (r'libdwarf/.*', r'symbolize/witness/witness_libdwarf\.c'),
    (r'elfutils/.*|dwarf\.h', r'symbolize/witness/witness_libdw\.c'),
    (r'libiberty/.*', r'symbolize/demangle(_packs)?\.c'),
    (r'perfmon/.*', r'collector/live/events\.c'),
    (r'bpf/.*', r'collector/bpf/.*'),
    (r'linux/bpf\.h', r'collector/bpf/.*'),
    (r'(zlib|lzma|zstd)\.h', r'base/compress\.c'),
    (r'cjson/.*', r'base/json_tree\.c'),
    (r'sys/ptrace\.h', r'collector/step/step\w*\.c'),
]

# Identifiers of a folder, the only files of it that may use them, and why.
RESERVED = [
    ('unwinder', r'private_\.', r'unwinder/(cursor\.[ch]|recall\.c)', 'read it through the cursor, which records the access'),
    ('unwinder', r'\bregs_known\b|\bstruct regs\b|\bsample(->|\.)(regs|outer|stack\.at)\b',
     r'unwinder/(cursor\.[ch]|memory\.c|recall\.c|walk_types\.h)', 'read it through the cursor, which records the access'),
    ('unwinder', r'\bmemory_(begin|get|peek|piece)\b', r'unwinder/(memory|cursor)\.[ch]|unwinder/recall\.c',
     'read it through the cursor, which records the access'),
]

violations = []


def sources():
    for folder in FOLDERS:
        for path, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if name.endswith(('.c', '.h')):
                    yield os.path.join(path, name)


def includes(file):
    with open(file, errors='replace') as text:
        for line in text:
            match = re.match(r'#include (["<])([^">]+)', line)
            if match:
                yield match[1] == '"', match[2]


def subfolder(path):
    """The subfolder that the rule applies to: 'binary/isa' for binary/isa/x86/x.c; None directly in the folder."""
    parts = path.split('/')
    return '/'.join(parts[:2]) if len(parts) > 2 else None


def check_own(file, header):
    folder, other = file.split('/')[0], header.split('/')[0]
    if '/' not in header:
        violations.append(f'{file}: includes "{header}" without its folder')
    elif other not in FOLDERS or FOLDERS.index(other) > FOLDERS.index(folder):
        violations.append(f'{file}: {folder}/ may not include {header}')
    elif other == folder:
        check_subfolders(file, header)


def check_subfolders(file, header):
    mine, theirs = subfolder(file), subfolder(header)
    if not mine or not theirs or mine == theirs or (mine, theirs) in ALLOWED_PAIRS:
        return
    folder, order = mine.split('/')[0], PIPELINE[mine.split('/')[0]]
    for name in (mine, theirs):
        if name.split('/')[1] not in order:
            violations.append(f'{file}: {name}/ is missing from the order of {folder}/')
            return
    if order.index(theirs.split('/')[1]) > order.index(mine.split('/')[1]):
        violations.append(f'{file}: {mine}/ may not include {header}')


def check_foreign(file, header):
    for pattern, allowed in FOREIGN:
        if re.fullmatch(pattern, header) and not re.fullmatch(allowed, file):
            violations.append(f'{file}: <{header}> may only be included by {allowed}')


def check_reserved(file):
    rules = [rule for rule in RESERVED if file.startswith(rule[0] + '/') and not re.fullmatch(rule[2], file)]
    if not rules:
        return
    with open(file, errors='replace') as text:
        for number, line in enumerate(text, 1):
            for _, word, _, why in rules:
                match = re.search(word, line)
                if match:
                    violations.append(f'{file}:{number}: {match[0]}: {why}')


def stem(path):
    """x.c, x.h and x_private.h count as one file."""
    return re.sub(r'(_private)?\.[ch]$', '', path)


def check_circles(graph):
    """Tarjan's strongly connected components, without recursion."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in graph:
                    continue
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(sorted(graph[successor]))))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = stack[stack.index(node):]
                    del stack[stack.index(node):]
                    on_stack.difference_update(component)
                    if len(component) > 1:
                        found.append(sorted(component))
    for circle in found:
        if not any(set(circle) <= allowed for allowed, _ in ALLOWED_CIRCLES):
            violations.append('include cycle: ' + ' '.join(circle))


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))
    graph = {}
    for file in sources():
        edges = graph.setdefault(stem(file), set())
        check_reserved(file)
        for is_own, header in includes(file):
            if is_own:
                check_own(file, header)
                if stem(header) != stem(file):
                    edges.add(stem(header))
            else:
                check_foreign(file, header)
    check_circles(graph)
    for violation in violations:
        print(violation)
    if violations:
        print(f'{len(violations)} violations of the include rule')
    return 1 if violations else 0


if __name__ == '__main__':
    sys.exit(main())
