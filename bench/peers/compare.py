"""Measures dptrain's private step beside its peers', in turns: bench/peers/run calls it and says how.

Every process writes the gradient of the same samples, which is checked against autograd's, gets ready, and then takes steps
for as long as it is told. One takes its turn after the other, so a noisy machine is as noisy for all.
"""
import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import time

import networks
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
OURS, BEFORE = "dptrain", "before"

# Network, expected batch, samples, and the variants of torch_steps.py and jax_steps.py that may be the fastest.
COMPARISONS = [
    ("mnist", 1278, 60000, "npcl npccl handcl opacus-hooks opacus-ghost", "jpriv jnp"),
    ("mnist", 128, 6000, "npcl npccl handcl opacus-hooks opacus-ghost opake", "jpriv jnp"),
    ("mlp", 1278, 60000, "np npc hand handc opacus-ghost", "jghost jpriv-1 jnp"),
    ("mlp", 128, 6000, "np npc hand handc opacus-ghost", "jghost jpriv-1 jnp"),
    ("cifar", 1280, 50000, "np npc hand handc opacus-ghost", "jghost jpriv jnp"),
    ("cifar", 128, 5000, "np npc hand handc opacus-ghost", "jghost jpriv jnp"),
    ("imdb", 640, 25000, "np npc hand handc opacus-ghost", "jghost jpriv-1 jnp"),
    ("imdb", 64, 2500, "np npc hand handc opacus-ghost", "jghost jpriv-1 jnp"),
    ("w512", 256, 4096, "np npc hand handc opacus-ghost", "jghost jnp"),
    ("w1024", 256, 4096, "np npc hand handc opacus-ghost", "jghost jnp"),
    ("w2048", 256, 4096, "np npc hand handc opacus-ghost", "jghost jnp"),
    ("attention", 128, 2048, "np npc vmapc opacus-ew opacus-ghost", "jpriv jnp"),
    ("gru", 128, 2048, "np vmapc opacus-hooks opacus-ghost", "jpriv jnp"),
    ("layernorm", 128, 2048, "np npc vmapc opacus-ew opacus-ghost", "jpriv jnp"),
    ("rescnn", 128, 2048, "npcl npccl vmapc opacus-hooks opacus-ghost", "jpriv jnp"),
    ("resnet", 64, 1024, "npcl npccl vmapc opacus-hooks opacus-ghost", "jpriv jnp"),
]
# The largest error of a parameter's sum, as a share of its norm. By rounding a rectifier near 0 may turn over, and another
# of two nearly equal pixels be the larger one.
TOLERANCE = {"mnist": 5e-3, "attention": 1e-3, "imdb": 1e-3, "rescnn": 1e-3, "resnet": 1e-3}
PLAIN = ("np", "npc", "npcl", "npccl", "jnp")


def log(*words):
    print(*words, file=sys.stderr, flush=True)


def environment(threads):
    # glibc keeps large blocks, which is good for everybody: a step's buffers are the same each time.
    keep = str(1 << 34)
    # OpenMP's threads spin by default: where anything else runs on their cores, that makes PyTorch tens of times slower.
    return {"OMP_WAIT_POLICY": "passive"} | os.environ | {
        "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads), "MALLOC_MMAP_THRESHOLD_": keep, "MALLOC_TRIM_THRESHOLD_": keep,
        "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "",
        "TORCHINDUCTOR_COMPILE_THREADS": "1", "PYTHONWARNINGS": "ignore", "PYTHONDONTWRITEBYTECODE": "1"}


class Peer:
    """A process that takes steps."""

    def __init__(self, name, command, cores, folder):
        self.name, self.rates, self.loads, self.log = name, [], [], f"{folder}/{name}.log"
        with open(self.log, "w") as errors:
            self.process = subprocess.Popen(["taskset", "-c", ",".join(map(str, cores)), *command], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=errors, text=True, env=environment(len(cores)))

    def ready(self):
        return any(line.startswith("ready") for line in iter(self.process.stdout.readline, ""))

    def processor_time(self):
        with open(f"/proc/{self.process.pid}/stat") as f:
            user, system = f.read().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def turn(self, seconds):
        """Returns samples a second, and the cores that it had on average: a low number tells of other work."""
        before = self.processor_time()
        self.process.stdin.write(f"run {seconds}\n")
        self.process.stdin.flush()
        samples, took = map(float, self.process.stdout.readline().split())
        return samples / took, (self.processor_time() - before) / took

    def reason(self):
        with open(self.log) as f:
            lines = [line.strip() for line in f if line.strip()]
        return lines[-1][:200] if lines else "no message"

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def difference(model, batch, folder, who):
    """The largest relative difference of a parameter's sum from autograd's, and whether it is in order."""
    got = networks.parameters(model, f"{folder}/sums/{who}")
    want = networks.parameters(model, f"{folder}/sums/{'plain' if who in PLAIN else 'reference'}")
    with open(f"{folder}/clip") as f:
        clip = float(f.read())
    worst, fine = 0.0, True
    # A gradient that is 0 in theory, such as that of attention's k.bias, is rounding error in both.
    least = 1e-3 * sum(np.square(w, dtype=float).sum() for w in want.values()) ** 0.5
    for name, w in want.items():
        error, norm = np.linalg.norm(got[name].astype(float) - w), max(least, np.linalg.norm(w.astype(float)))
        # dptrain rounds a sample's contributions to a grid, all to one side, in each coordinate by up to C/2²¹. The two
        # sides are random, so over a batch they nearly balance: four standard deviations are allowed.
        grid = 2 * (batch * w.size) ** 0.5 * clip / 2**21 if who == OURS else 0.0
        worst, fine = max(worst, error / norm), fine and bool(error <= TOLERANCE.get(model, 1e-4) * norm + grid)
    return worst, fine


def compare(options, comparison, cores):
    """Returns one row for each that took part, dptrain's first, and those that didn't with the reason."""
    model, batch, samples, torch_variants, jax_variants = comparison
    folder = f"{options.out}/work/{model}-{len(cores)}"
    shutil.rmtree(folder, ignore_errors=True)
    networks.make(model, samples, folder)
    arguments = [model, str(batch), folder]
    subprocess.run([sys.executable, f"{HERE}/torch_steps.py", "reference", *arguments, str(len(cores))], check=True, env=environment(len(cores)))
    commands = {OURS: [*shlex.split(options.worker), "-workers", str(len(cores)), *arguments]}
    for v in torch_variants.split():
        if v != "opake" or has("opake"):
            commands[v] = [sys.executable, f"{HERE}/torch_steps.py", v, *arguments, str(len(cores))]
    for v in jax_variants.split():
        commands[v] = [sys.executable, f"{HERE}/jax_steps.py", v, *arguments]
    if options.before:
        commands[BEFORE] = [options.before, *commands[OURS][1:]]
    if options.variants:
        commands = {v: c for v, c in commands.items() if v in (OURS, BEFORE) or v in options.variants.split()}
    peers = [Peer(v, c, cores, folder) for v, c in commands.items()]
    taking, rows = [], {v: {"variant": v, "private": v not in PLAIN} for v in commands}
    try:
        for p in peers:
            if not p.ready():
                rows[p.name]["failed"] = p.reason()
                continue
            rows[p.name]["difference"], fine = difference(model, batch, folder, OURS if p.name == BEFORE else p.name)
            if fine:
                taking.append(p)
            else:
                rows[p.name]["failed"] = f"its sum differs by {rows[p.name]['difference']:.1e}"
        for r in range(options.rounds + 1):
            for p in list(taking):
                try:
                    rate, load = p.turn(options.seconds if r else options.seconds / 3)
                except (OSError, ValueError):
                    rows[p.name]["failed"] = p.reason()
                    taking.remove(p)
                    continue
                if r:  # the first round only warms up
                    p.rates.append(rate)
                    p.loads.append(load)
    finally:
        for p in peers:
            p.end()
    for p in taking:
        rows[p.name] |= {"rate": statistics.median(p.rates), "rates": p.rates, "cores": statistics.median(p.loads)}
    for row in rows.values():
        if "failed" in row:
            log(f"{model}: {row['variant']} is left out: {row['failed']}")
    shutil.rmtree(folder)
    return {"model": model, "batch": batch, "samples": samples, "cores": len(cores), "rows": list(rows.values())}


def has(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def about(options):
    with open("/proc/cpuinfo") as f:
        cpu = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), platform.machine())
    git = lambda *a: subprocess.run(["git", "-C", HERE, *a], capture_output=True, text=True).stdout.strip()
    changed = " with changes" if git("status", "--porcelain", "--untracked-files=no") else ""
    return {"date": datetime.date.today().isoformat(), "commit": git("rev-parse", "--short=10", "HEAD") + changed, "processor": cpu,
            "cores": os.cpu_count(), "rounds": options.rounds, "seconds": options.seconds, "python": platform.python_version(),
            **{p: has(p) or "none" for p in ("torch", "opacus", "jax", "jax-privacy", "optax", "opake", "numpy")}}


def best(result, fits):
    """The ratio of dptrain to the fastest that fits, with its name."""
    rated = {r["variant"]: r["rate"] for r in result["rows"] if "rate" in r}
    others = {v: rate for v, rate in rated.items() if v != OURS and fits(v)}
    if not others or OURS not in rated:
        return ""
    name = max(others, key=others.get)
    return f"{rated[OURS] / others[name]:.2f} ({name})"


def number(v):
    """Rounded to three digits."""
    return f"{float(f'{v:.3g}'):,.0f}"


def tables(results, facts):
    before = any(row["variant"] == BEFORE for r in results for row in r["rows"])
    lines = ["# dptrain's private step on a CPU, beside its peers'", "", ", ".join(f"{k} {v}" for k, v in facts.items()) + ".", "",
             "Samples a second of dptrain, and how many times as fast it is as the fastest of others, whose name follows.", "",
             "| network | batch | cores | dptrain | Opacus | any private step | any step without privacy |" + " dptrain before |" * before,
             "|---|---:|---:|---:|---|---|---|" + "---|" * before]
    for r in results:
        ours = next((number(row["rate"]) for row in r["rows"] if row["variant"] == OURS and "rate" in row), "failed")
        ratios = [best(r, lambda v: v.startswith("opacus")), best(r, lambda v: v not in (*PLAIN, BEFORE)), best(r, lambda v: v in PLAIN)]
        if before:
            ratios.append(best(r, lambda v: v == BEFORE))
        lines.append(f"| {r['model']} | {r['batch']} | {r['cores']} | {ours} | " + " | ".join(ratios) + " |")
    lines += ["", "## Every variant", "", "Samples a second: the median, and the range over the rounds. The difference is that of the sum from autograd's.", "",
              "| network | batch | cores | variant | samples/s | from | to | cores used | difference |", "|---|---:|---:|---|---:|---:|---:|---:|---:|"]
    for r in results:
        for row in sorted(r["rows"], key=lambda row: -row.get("rate", 0)):
            start = f"| {r['model']} | {r['batch']} | {r['cores']} | {row['variant']} | "
            if "rate" in row:
                rates = [number(v) for v in (row["rate"], min(row["rates"]), max(row["rates"]))]
                lines.append(start + " | ".join(rates) + f" | {row['cores']:.2f} | {row['difference']:.0e} |")
            else:
                lines.append(start + f"left out: {row['failed']} | | | | |".replace("\n", " "))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    for name, kind in {"out": str, "worker": str, "before": str, "models": str, "variants": str, "cores": str, "rounds": int, "seconds": float}.items():
        parser.add_argument(f"--{name}", type=kind)
    options = parser.parse_args()
    known = list(dict.fromkeys(c[0] for c in COMPARISONS))
    chosen = options.models.split() or known
    if unknown := set(chosen) - set(known):
        sys.exit(f"no comparison of {', '.join(sorted(unknown))}: there are {', '.join(known)}")
    available = sorted(os.sched_getaffinity(0))
    facts, results = about(options), []
    for count in map(int, options.cores.split()):
        if count > len(available):
            log(f"{count} cores are left out: there are {len(available)}")
            continue
        for comparison in (c for c in COMPARISONS if c[0] in chosen):
            start = time.monotonic()
            results.append(compare(options, comparison, available[:count]))
            with open(f"{options.out}/results.json", "w") as f:
                json.dump({"about": facts, "results": results}, f, indent=1)
            with open(f"{options.out}/results.md", "w") as f:
                f.write(tables(results, facts))
            log(f"{comparison[0]} {comparison[1]} on {count}: {time.monotonic() - start:.0f} s")
    print(tables(results, facts))
    if any("difference" in row and "failed" in row for r in results for row in r["rows"]):
        sys.exit("some sums differ")


if __name__ == "__main__":
    main()
