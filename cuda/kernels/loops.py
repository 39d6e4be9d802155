"""Counts the instructions of the kernels' loops in what nvdisasm -hex -gi prints: loops.py LISTING... > ptx/loops.txt

A loop is a natural one. A line counts, before the bar, the path: the fewest instructions that lead around the loop,
predicated ones included, which branches over rare work and is a lower bound where iterations choose between ways; after
the bar all instructions, but for those of loops inside; and how many loops are inside. If every way enters one, the
path's counts are 0. IMAD executes where multiply-adds do; a division of integers has an RCP; a CALL is of a subroutine
of CUDA's own, for 64-bit divisions and rare cases.

A name has the functions that were inlined around the statement of the branch back: kernel/function/function#1. #1 is the
first loop in that function, [2] the second call of it by the function before, .1 the first of several loops of one
statement. Branches are decoded: nvdisasm 11.8 prints neither text nor label of Hopper's VIMNMX.
"""

import collections, glob, re, sys

COLUMNS = {"all": "", "FFMA": "FFMA", "LDG": "LDG", "LDS": "LDS", "IMAD": "IMAD", "RCP": "MUFU.RCP", "CALL": "CALL"}
WORD = re.compile(r"\s+(?:/\*([0-9a-f]{4,})\*/\s+(.*\S)\s+)?/\* 0x([0-9a-f]{16}) \*/$")
START = re.compile(r"KERNEL\((\w+)\)|\t(?:template <.*> )?DEVICE [^(]*?(\w+)\(|(?:template <.*> )?[A-Za-z_][^(]*?(\w+)\(")


def functions():
    """The function of each line, by file: functions begin at the margin, and a struct's one tab from it."""
    out = {}
    for name in glob.glob("*.cu") + glob.glob("*.cuh"):
        now, out[name] = "", []
        for line in open(name):
            if m := START.match(line):
                now = m[1] or m[2] or m[3]
            out[name].append(now)
    return out


class Kernel:
    def __init__(self, name):
        self.name, self.code, self.labels, self.entries, self.tables = name, [], {}, [0], b""


def parse(text):
    kernels, kernel, section, calls, above, half = {}, None, "", [], False, False
    for line in text.splitlines():
        if line.startswith("\t.section\t"):
            m = re.match(r"\t\.section\t\.(text|nv\.constant2)\.(\w+),", line)
            section, calls, above = m[1] if m else "", [], False
            if m:
                kernel = kernels.setdefault(m[2], Kernel(m[2]))
        elif section == "nv.constant2":
            if m := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+\.byte\s+(0x[0-9a-f, x]+)$", line):
                kernel.tables += bytes(int(b, 16) for b in m[1].split(", "))
        elif section != "text":
            continue
        elif m := re.match(r'\t//## File "(?:[^"]*/)?([^"/]+)", line (\d+)', line):
            calls, above = (calls if above else []) + [(m[1], int(m[2]))], True
        elif m := re.match(r"(\.L_x_\d+):$", line):
            kernel.labels[m[1]] = len(kernel.code)
        elif re.match(r"\$[\w$]+:$", line):
            kernel.entries.append(len(kernel.code))
        elif m := WORD.match(line):
            above, word = False, int(m[3], 16)
            if half:
                kernel.code[-1][1] |= word << 64
            else:
                if m[1] and int(m[1], 16) != 16 * len(kernel.code) or not m[1] and word & 0x1FF != 0x48:
                    sys.exit(f"can't read {line}")
                text = re.sub(r"^@!?U?P\w+\s+", "", m[2].removesuffix(";").strip()) if m[1] else "VIMNMX"
                kernel.code.append([text, word, calls, bool(m[1]) and m[2].startswith("@")])
            half = not half
    return [k for k in kernels.values() if k.code]


def successors(k):
    """The instructions that may follow each instruction. A call comes back, and a table ends where the next begins."""
    out, table, starts = [], {}, [len(k.tables)]
    for text, *_ in k.code:
        if m := re.match(r"LDC R\d+, c\[0x2\]\[R\d+(?:\+0x([0-9a-f]+))?\]$", text):
            starts.append(int(m[1] or "0", 16))
    for i, (text, word, _, conditional) in enumerate(k.code):
        name, to = re.split("[ .]", text)[0], []
        if m := re.match(r"LDC (R\d+), c\[0x2\]\[R\d+(?:\+0x([0-9a-f]+))?\]$", text):
            table[m[1]] = int(m[2] or "0", 16)
        if name in ("JMP", "JMX", "BRXU", "KILL"):
            sys.exit(f"{k.name}, instruction {i}: unknown branch {text}")
        if name == "BRX":
            at = table[re.match(r"BRX (R\d+)", text)[1]]
            end = min(s for s in starts if s > at)
            to = [int.from_bytes(k.tables[a : a + 4], "little") // 16 for a in range(at, end, 4)]
        on = conditional or name not in ("EXIT", "RET", "BRX")
        if name == "BRA":
            m = re.match(r"BRA(\.\w+)?\s+(.*, )?`\((\.L_x_\d+)\)$", text)
            low, high = word & (1 << 64) - 1, word >> 64
            words = (high << 38 | low >> 34 << 8 | low >> 16 & 0xFF) & (1 << 56) - 1
            to = [i + 1 + (words - (words >> 55 << 56)) // 4]
            if not m or k.labels.get(m[3], to[0]) != to[0] or not 0 <= to[0] < len(k.code):
                sys.exit(f"{k.name}, instruction {i}: can't follow {text}")
            on = conditional or m[1] == ".DIV" or bool(m[2])
        out.append([t for t in to + [i + 1] * on if t < len(k.code)])
    return out


def loops(k):
    """First and last instruction of each loop, its own instructions, the path, and the number of loops inside."""
    following = successors(k)
    for entry in k.entries:
        # Dominators as Cooper, Harvey and Kennedy find them, in reverse postorder.
        order, before, stack, seen = [], collections.defaultdict(list), [(entry, iter(following[entry]))], {entry}
        while stack:
            i, rest = stack[-1]
            to = next(rest, None)
            if to is None:
                order.insert(0, i)
                stack.pop()
                continue
            before[to].append(i)
            if to not in seen:
                seen.add(to)
                stack.append((to, iter(following[to])))
        number, dominator, changed = {i: n for n, i in enumerate(order)}, {entry: entry}, True
        while changed:
            changed = False
            for i in order[1:]:
                common = None
                for b in before[i]:
                    while b in dominator and common is not None and b != common:
                        if number[b] > number[common]:
                            b = dominator[b]
                        else:
                            common = dominator[common]
                    common = b if common is None and b in dominator else common
                changed |= dominator.get(i) != common
                dominator[i] = common
        bodies, last = {}, {}
        for first in order:
            todo = []
            for i in before[first]:
                d = i
                while d not in (first, entry):
                    d = dominator[d]
                if d == first:
                    todo.append(i)
                elif number[i] >= number[first]:
                    sys.exit(f"{k.name}, instruction {first}: a loop with two entries")
            if todo:
                bodies[first], last[first] = {first}, max(todo)
            while todo:
                if (i := todo.pop()) not in bodies[first]:
                    bodies[first].add(i)
                    todo += before[i]
        for first, body in sorted(bodies.items()):
            inner = [b for f, b in bodies.items() if f != first and f in body]
            own = body.difference(*inner)
            path, came, todo = [], {}, collections.deque([first])
            while todo and not path:
                i = todo.popleft()
                for to in following[i]:
                    if to == first:
                        path = [i]
                        while path[-1] != first:
                            path.append(came[path[-1]])
                        break
                    if to in own and to not in came:
                        came[to] = i
                        todo.append(to)
            yield last[first], own, path, len(inner)


def main():
    lines_of = functions()

    def function(file, line):
        known = lines_of.get(file, [])
        return line <= len(known) and known[line - 1] or file.rsplit(".", 1)[0]

    found, lines = [], collections.defaultdict(set)
    for listing in sys.argv[1:]:
        for k in parse(open(listing).read()):
            for last, own, path, inside in loops(k):
                calls = k.code[last][2][::-1]
                counts = [[sum(k.code[i][0].startswith(c) for i in of) for c in COLUMNS.values()] for of in (path, own)]
                found.append((k.name, calls, counts, inside))
    called = lambda calls: [(function(*p), function(*calls[i + 1]) if i + 1 < len(calls) else "", p[1]) for i, p in enumerate(calls)]
    for _, calls, _, _ in found:
        for caller, callee, line in called(calls):
            lines[caller, callee].add(line)
    rows = []
    for kernel, calls, counts, inside in found:
        name = kernel + ("/?" if not calls else "/" + function(*calls[0]) if function(*calls[0]) != kernel else "")
        for caller, callee, line in called(calls):
            n = sorted(lines[caller, callee]).index(line) + 1
            name += f"/{callee}" * bool(callee) + (f"[{n}]" if callee and len(lines[caller, callee]) > 1 else "" if callee else f"#{n}")
        rows.append([kernel, calls, name, counts, inside])
    copies, made = collections.Counter(r[2] for r in rows), collections.Counter()
    for r in rows:
        if copies[r[2]] > 1:
            made[r[2]] += 1
            r[2] = f"{r[2]}.{made[r[2]]}"
    titles = "".join(f"{c:>5}" for c in COLUMNS)
    print("# Made by cuda/kernels/build: instructions of the kernels' loops on Hopper (sm_90), path | loop. See cuda/kernels/loops.py.")
    print(f"#{titles[1:]} |{titles} inside name")
    for _, _, name, counts, inside in sorted(rows, key=lambda r: r[:2]):
        path, own = ("".join(f"{n:5}" for n in c) for c in counts)
        print(f"{path} |{own}{inside:7} {name}")


main()
