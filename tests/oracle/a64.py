#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our A64 decoder with objdump, instruction by instruction.

usage: a64.py ISA_DUMP [--words N SEED] [--show N] [--min-text PERCENT] [ELF...]

Flow, branch targets and written general registers must agree everywhere. Text is compared after normalising numbers and
comments; instructions without text (.inst) are counted separately. Written registers are derived from objdump's
operands, independently of our decoder."""
import collections, os, random, re, struct, subprocess, sys, tempfile

NO_DEST = re.compile(r'^(cmp|cmn|tst$|ccmp|ccmn|str|stp|stu|stt|stn|stl|stg|stz|st[1-4]|st2g|st(add|clr|eor|set|smax|smin|umax|umin)|'
                     r'prf|b$|b\.|bc\.|bti|bl|br|cb|tb|ret|nop|hint|dmb|dsb|isb|sb$|msr|svc|brk|hlt|udf|hvc|smc|'
                     r'f?ccmpe?$|fccmp|fcmp|dc$|ic$|tlbi|at$|sys$|cfp|dvp|cpp|yield|wfe|wfi|wfet|wfit|sev|clrex|esb|csdb|psb|tsb|ssbb|pssbb|dgh|'
                     r'pac\w+sp|pac\w+z$|aut\w+sp|aut\w+z$|xpaclri|cfinv|xaflag|axflag|setf|rmif|er?et|dcps|tcancel|tcommit|drps|cmpp|'
                     r'st64b$|rprfm|\.inst|\.word|undefined|setffr|wrffr|cterm|pfalse|brk[abnp]|gcspushm)')
STATUS = re.compile(r'^(stxr|stlxr|stxp|stlxp|st64bv)')
PAIR = re.compile(r'^(ldp|ldnp|ldxp|ldaxp|ldpsw)')
RELATIVE = re.compile(r'^(b|bl|b\..*|bc\..*|cbn?z|tbn?z|adrp?|ldr|ldrsw|prfm)$')
ATOMIC = re.compile(r'^(ld(add|clr|eor|set|smax|smin|umax|umin)|swp)')

def reg(text):
    text = text.strip()
    if text in ('sp', 'wsp'): return 31
    m = re.match(r'^[xw](\d+)$', text)
    return int(m.group(1)) if m else None

def written(name, ops):
    regs = set()
    parts = [p.strip() for p in re.split(r',(?![^\[{]*[\]}])', ops)] if ops else []
    if re.match(r'^bl', name): regs.add(30)
    if name == 'svc': regs.add(0)
    if re.match(r'^(pac|aut)i[ab]1716', name): regs.add(17)
    if STATUS.match(name): regs.add(reg(parts[0]))
    elif PAIR.match(name): regs |= {reg(parts[0]), reg(parts[1])}
    elif ATOMIC.match(name): regs.add(reg(parts[1]))
    elif name.startswith('casp'): regs |= {reg(parts[0]), reg(parts[1])}
    elif name == 'ld64b': regs |= {reg(parts[0]) + i for i in range(8)}
    elif re.match(r'^(cpy|set[gpme])', name) and '!' in ops:
        regs |= {reg(x) for x in re.findall(r'\b(x\d+)\]?!', ops)}
    elif not NO_DEST.match(name) and parts: regs.add(reg(parts[0]))
    m = re.search(r'\[(\w+)[^\]]*\]!', ops) or re.search(r'\[(\w+)\], *[#x]', ops)
    if m and not name.startswith(('cpy', 'set')): regs.add(reg(m.group(1)))
    regs.discard(None)
    return sum(1 << r for r in regs if r < 32)

def flow(name, ops):
    target = 0
    m = re.search(r'(?:^|, )(?:0x)?([0-9a-f]+)$', ops)
    if name in ('b', 'bl') or name.startswith(('b.', 'bc.')) or name in ('cbz', 'cbnz', 'tbz', 'tbnz'):
        target = int(m.group(1), 16)
    if name in ('b', 'b.al', 'b.nv', 'bc.al', 'bc.nv'): return 'jump', target
    if name == 'bl': return 'call', target
    if target or name.startswith(('b.', 'bc.', 'cbz', 'cbnz', 'tbz', 'tbnz')): return 'branch', target
    if name.startswith('blr'): return 'call-indirect', 0
    if name.startswith('br') and name != 'brk' and not re.match(r'brk[abnp]', name): return 'jump-indirect', 0
    if name in ('ret', 'retaa', 'retab'): return 'return', 0
    if name in ('brk', 'hlt', 'udf', 'eret', 'eretaa', 'eretab', 'drps'): return 'stop', 0
    return 'next', 0

def normal(text):
    text = re.sub(r'\s*(//|<|; ).*$', '', text).strip()
    text = re.sub(r'\s+', ' ', text)
    text = re.sub(r'\s*,\s*', ', ', text)
    text = re.sub(r'#?(?<![\w.])(-?)(0x[0-9a-f]+)\b', lambda m: m.group(1) + str(int(m.group(2), 16)), text)
    text = text.replace('#', '')
    return text

def objdump(args):
    out = subprocess.Popen([os.environ.get('OBJDUMP', 'objdump'), '-d', '-z', '--no-show-raw-insn'] + args, stdout=subprocess.PIPE, text=True, errors='replace')
    for line in out.stdout:
        m = re.match(r'^\s*([0-9a-f]+):\t([^\t\n]*)\t?(.*)$', line)
        if m: yield int(m.group(1), 16), m.group(2).strip(), m.group(3)

def ours(args):
    out = subprocess.Popen([sys.argv[1]] + args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in out.stdout:
        vaddr, word, kind, target, mask, text = line.rstrip('\n').split(' ', 5)
        yield int(vaddr, 16), word, kind, int(target, 16), int(mask, 16), text

def compare(label, dump, reference, show):
    n = collections.Counter(); examples = collections.defaultdict(list); by_name = collections.Counter()
    reference = iter(reference); other = next(reference, None)
    for vaddr, word, kind, target, mask, text in dump:
        while other and other[0] < vaddr: other = next(reference, None)
        if not other or other[0] != vaddr: n['missing'] += 1; continue
        name, ops = other[1], other[2]
        if ' ' in name: name, ops = name.split(' ', 1)[0], name.split(' ', 1)[1] + ops
        ops = re.sub(r'\s*(//|<|; ).*$', '', ops).strip()
        if RELATIVE.match(name) and '[' not in ops: ops = re.sub(r'(^|, )([0-9a-f]+)$', r'\g<1>0x\2', ops)
        theirs = normal(f'{name} {ops}')
        n['insns'] += 1
        def note(what, detail):
            n[what] += 1; by_name[what, name] += 1
            if len(examples[what]) < show: examples[what].append(f'{vaddr:x} {word} ours: {detail} | theirs: {theirs}')
        # Data marked as such in the file is printed as words or characters.
        if name in ('.inst', '.word', '.short', '.byte', 'undefined') or not re.match(r'^[a-z][a-z0-9]*(\.[a-z]+)?$', name):
            n['data'] += 1
            if kind not in ('bad', 'next') or mask: note('theirs-unknown', f'{kind} {mask:x} {text}')
            continue
        if kind == 'bad': note('bad', text); continue
        want, want_target = flow(name, ops)
        if kind != want or (want_target and target != want_target): note('flow', f'{kind} {target:x}')
        if mask & 0xffffffff != written(name, ops): note('writes', f'{mask:x} not {written(name, ops):x} {text}')
        if text.startswith('.inst'): note('unwritten', text)
        elif normal(text) != theirs: note('text', normal(text))
    total = max(n['insns'] - n['data'], 1)
    same = total - n['text'] - n['unwritten'] - n['bad']
    print(f"{label}: {n['insns']} instructions, {n['data']} data, wrong flow {n['flow']}, wrong writes {n['writes']}, "
          f"undecoded {n['bad']}, text same {100 * same / total:.3f} %, differs {n['text']}, unwritten {n['unwritten']}")
    for what in ('bad', 'flow', 'writes', 'text', 'unwritten', 'theirs-unknown'):
        for line in examples[what]: print(f'   {what}: {line}')
    if show: print('   ' + ' '.join(f'{w}:{m}={c}' for (w, m), c in by_name.most_common(60)))
    return n['flow'] + n['writes'] + n['bad'] + (n['insns'] == 0), 100 * same / total

def main():
    args, show, least, files, failed = sys.argv[2:], 0, 0.0, [], 0
    while args:
        arg = args.pop(0)
        if arg == '--show': show = int(args.pop(0))
        elif arg == '--min-text': least = float(args.pop(0))
        elif arg == '--words':
            count, rng = int(args.pop(0)), random.Random(int(args.pop(0)))
            with tempfile.NamedTemporaryFile(suffix='.bin') as f:
                f.write(b''.join(struct.pack('<I', rng.getrandbits(32)) for _ in range(count))); f.flush()
                bad, _ = compare('random words', ours(['--words', f.name]), objdump(['-b', 'binary', '-m', 'aarch64', '-D', f.name]), show)
                failed += bad
        else: files.append(arg)
    for path in files:
        bad, same = compare(path, ours([path]), objdump([path]), show)
        failed += bad + (same < least)
    sys.exit(1 if failed else 0)

main()
