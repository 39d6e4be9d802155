"""Runs the programs of bench/examples/run, and prints their table."""
import argparse
import io
import os
import re
import subprocess
import sys
import time
import tokenize
from pathlib import Path

STEPS = {"language": 600, "lowrank": 1500, "siamese": 1500, "lstm": 1500}
HERE = Path(__file__).parent
TITLES = {"dptrain": "dptrain", "opacus": "Opacus 1.6.0", "jax_privacy": "JAX-Privacy 2.0.0"}


def sources(program, library):
    """Returns a program's files, without those that read data."""
    if library == "dptrain":
        return [p for p in (HERE.parent.parent / "examples" / program).glob("*.go") if p.name not in ("data.go", "doc.go")]
    return [HERE / library / f"{program}.py"]


def lines_of_code(path):
    """Returns the number of lines that aren't blank, a comment or a docstring."""
    text = path.read_text()
    if path.suffix == ".go":
        return sum(bool(line) and not line.startswith("//") for line in map(str.strip, text.splitlines()))
    lines, new, skipped = set(), True, (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    for t in tokenize.generate_tokens(io.StringIO(text).readline):
        if t.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            new = True
        elif t.type not in skipped:
            if not (new and t.type == tokenize.STRING):  # a statement that is a string
                lines.update(range(t.start[0], t.end[0] + 1))
            new = False
    return len(lines)


def run(program, library, steps, out):
    """Returns a program's seconds, and what it prints."""
    if library == "dptrain":
        command = [str(out / program), "-steps", str(steps)]
    else:
        command = [sys.executable, "-B", str(sources(program, library)[0]), str(steps)]
    begin = time.monotonic()
    with open(out / f"{program}-{library}-{steps}.log", "w") as log:
        env = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])}
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=log, text=True)
        log.write(done.stdout)
    return time.monotonic() - begin, done.stdout if done.returncode == 0 else ""


def row(program, library, most, out):
    """Returns the table's row, with dashes for a program that fails."""
    steps = min(STEPS[program], most)
    few = min(100, steps // 2)
    (short, _), (long, printed) = (run(program, library, n, out) for n in (few, steps))
    found = re.search(r"accuracy ([\d.]+), epsilon ([\d.]+)", printed)
    results = [*found.groups(), f"{(long - short) / (steps - few):.3f}"] if found else ["–"] * 3
    return [program, TITLES[library], str(sum(map(lines_of_code, sources(program, library)))), str(steps), *results]


def main():
    parser = argparse.ArgumentParser()
    for name in ("--out", "--programs", "--libraries", "--steps"):
        parser.add_argument(name, required=True)
    a = parser.parse_args()
    out = Path(a.out)
    head = ["Program", "Library", "Lines", "Steps", "Accuracy", "Epsilon", "Seconds per step"]
    failed = False
    with open(out / "results.md", "w") as results:
        def show(cells):
            text = "| " + " | ".join(cells) + " |"
            print(text, flush=True)
            print(text, file=results, flush=True)
        show(head)
        show(["---", "---", *["---:"] * 5])
        for program in a.programs.split():
            for library in a.libraries.split():
                cells = row(program, library, int(a.steps), out)
                show(cells)
                failed |= "–" in cells
        notes = f"\n{os.cpu_count()} cores. A step of lowrank is one on public images and one on private ones."
        print(notes)
        print(notes, file=results)
    sys.exit(failed)


if __name__ == "__main__":
    main()
