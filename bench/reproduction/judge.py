"""Judges what the paper says of its experiments by the runs of FOLDER/results.csv, and writes FOLDER.md.

    build/python/bin/python bench/reproduction/judge.py FOLDER

A difference of means has Welch's interval, a mean of several differences Satterthwaite's degrees of freedom, and a ratio of
means the interval of its logarithm by the delta method. Runs that are compared are independent: each has a key of its own.
Holm's adjustment is over all comparisons with what the paper says of one figure's noise, or of all else, by one accounting.
"""
import functools
import itertools
import math
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

LEVEL = 0.05
MARGIN = 0.1  # by which a number may differ from the paper's
DATASETS = {"mnist": "MNIST", "fashion-mnist": "FashionMNIST", "cifar-10": "CIFAR-10", "imdb": "IMDB"}
NAMES = DATASETS | {"v1": "variant 1", "v2": "variant 2", "baseline": "baseline", "single": "single run", "dp-sgd": "DP-SGD", "dp-adam": "DP-Adam"}
FIGURES = {("dp-sgd", "rate"): "figure_tune_lr_dp_sgd", ("dp-adam", "rate"): "figure_tune_lr_dp_adam",
           ("dp-sgd", "all"): "figure_tune_all", ("dp-adam", "all"): "figure_tune_all_detailed_dp_adam"}
TAKEAWAYS, CAPTION, DETAILED, SAVINGS = "Takeaways", "the figure's caption", "the detailed figure's caption", "Computational Savings"
LEGEND = ("Means of runs with 95 % intervals; dots are runs, and a dash is a median that parts from its mean. Also by one accounting: [paper]({0}_paper.png), "
          "[best]({0}_best.png); with noise and rates: the files *detailed* in [this folder](reproduction).")
PUBLISHED = {("dp-sgd", "rate"): ("cifar-10", 6.06), ("dp-adam", "rate"): ("fashion-mnist", 9.03)}


class Compared:
    """A weighted sum of means, or the logarithm of a ratio of two means over a number: its estimate, interval and p values.

    Numbers that no run draws, but its budget gives, are the same in each, and exact."""

    def __init__(self, *terms, over=None, drawn=True):
        weights, samples = [w for w, _ in terms], [np.asarray(v, float) for _, v in terms]
        self.sizes, self.over = [len(v) for v in samples], over
        self.value = self.low = self.high = self.above = self.below = math.nan
        self.exact, self.spread = False, math.nan
        if min(self.sizes) == 0:
            return
        self.value = sum(w * v.mean() for w, v in zip(weights, samples))
        if over is not None:
            self.value = math.log(samples[0].mean() / samples[1].mean() / over)
            samples = [v / v.mean() for v in samples]
        self.exact = not drawn and all(np.ptp(v) == 0 for v in samples)
        if self.exact:
            self.low = self.high = self.value
            self.above, self.below = float(self.value <= 0), float(self.value > 0)
        if self.exact or min(self.sizes) < 2 or all(np.ptp(v) == 0 for v in samples):
            return
        parts = [w * w * v.var(ddof=1) / len(v) if np.ptp(v) else 0.0 for w, v in zip(weights, samples)]
        freedom = sum(parts) ** 2 / sum(p * p / (n - 1) for p, n in zip(parts, self.sizes))
        error = math.sqrt(sum(parts))
        half = stats.t.ppf(1 - LEVEL / 2, freedom) * error
        self.low, self.high = self.value - half, self.value + half
        # The probabilities of an estimate so large, and so small, if the truth is 0.
        self.above, self.below = stats.t.sf(self.value / error, freedom), stats.t.cdf(self.value / error, freedom)
        self.spread = sum(p * n for p, n in zip(parts, self.sizes))

    def needed(self, level):
        """Returns how many runs of each mean find a true difference as large as this one at a level in four of five campaigns."""
        n = np.arange(2, 1000)
        t = stats.t.ppf(1 - level / 2, len(self.sizes) * (n - 1)) + stats.t.ppf(0.8, len(self.sizes) * (n - 1))
        return next(iter(n[n * self.value ** 2 >= self.spread * t ** 2]), 1000)

    def said(self, digits, unit=""):
        if math.isnan(self.value):
            return "no runs"
        sign = "+" if self.over is None else ""
        value, low, high = (round(math.exp(v) * self.over if self.over else v, digits) + 0.0 for v in (self.value, self.low, self.high))  # not −0
        text = f"{value:{sign}.{digits}f}{unit}"
        if not math.isnan(low):
            text += ", exactly" if self.exact else f" [{low:{sign}.{digits}f}, {high:{sign}.{digits}f}]"
        return text.replace("-", "−")


class Claim:
    """A sentence of the paper with its comparisons."""

    def __init__(self, tuning, sentence, source, digits=2, unit=""):
        self.tuning, self.sentence, self.source, self.digits, self.unit = tuning, sentence, source, digits, unit
        self.rows = []

    def add(self, accounting, where, compared, about=None, each=()):
        """Adds that a value is above 0, or that a ratio is about a number. each has the parts of a mean."""
        seen, against = 2 * compared.above, 2 * compared.below
        if about is not None and not math.isnan(seen):
            low, high = (Compared((1, about[0]), (-1, about[1]), over=compared.over * f, drawn=not compared.exact) for f in (1 - MARGIN, 1 + MARGIN))
            seen, against = 2 * max(low.above, high.below), 2 * min(low.below, high.above)
        self.rows.append({"accounting": accounting, "where": where, "compared": compared,
                          "says": "seen" if seen <= against else "not seen", "p": min(seen, against), "verdict": "open", "each": dict(each), "about": about is not None})


class Runs:
    def __init__(self, table):
        time = table.processor_seconds.where(table.machine == table.groupby(["dataset", "optimizer", "tuned"]).machine.transform(lambda m: m.mode()[0]))
        self.table = table.assign(time=time, pace=time / table.gradients, group=(table.processor_seconds / table.seconds).round(9))
        self.cells = {key: rows for key, rows in self.table.groupby(["optimizer", "tuned", "dataset", "accounting", "method", "epsilon"])}
        self.datasets = [d for d in DATASETS if d in set(table.dataset)]
        self.accountings = [a for a in ("paper", "best") if a in set(table.accounting)]

    def of(self, column, tuning, dataset, accounting, method, epsilon=None):
        """Returns the values of a column of the runs of a cell, or of the cells of all epsilons."""
        keys = [k for k in self.cells if k[:5] == (*tuning, dataset, accounting, method) and epsilon in (None, k[5])]
        rows = pd.concat([self.cells[k] for k in keys]) if keys else self.table[:0]
        return (rows.groupby("group").pace.mean() if column == "pace" else rows[column]).dropna().to_numpy(float)

    def epsilons(self, tuning, dataset, accounting):
        return sorted({k[5] for k in self.cells if k[:4] == (*tuning, dataset, accounting)})


def mean_of(pairs):
    """Returns the mean of the differences of pairs of means."""
    return Compared(*[t for x, y in pairs for t in ((1 / len(pairs), x), (-1 / len(pairs), y))])


def order(runs, claim, column, a, b, scale=1.0, mean=True):
    """Compares a column of two methods at each epsilon: a should be above b. With mean, the mean over the epsilons decides."""
    drawn = column != "noise_multiplier" or claim.tuning[1] == "all"
    for accounting, dataset in itertools.product(runs.accountings, runs.datasets):
        terms = []
        for e in runs.epsilons(claim.tuning, dataset, accounting):
            x, y = (scale * runs.of(column, claim.tuning, dataset, accounting, m, e) for m in (a, b))
            if len(x) and len(y):
                terms.append((e, x, y))
        each = [(f"ε = {e:g}", Compared((1, x), (-1, y), drawn=drawn)) for e, x, y in terms]
        if mean and terms:
            claim.add(accounting, NAMES[dataset], mean_of([(x, y) for _, x, y in terms]), each=each)
        for where, compared in each if not mean else []:
            claim.add(accounting, f"{NAMES[dataset]}, {where}", compared)
    return claim


def claims(runs):
    for tuning in FIGURES:
        optimizer, tuned = tuning
        new = functools.partial(Claim, tuning)
        first, second, sentence, source = {
            ("dp-sgd", "rate"): ("v1", "v2", "variant 1 has a slightly higher accuracy than variant 2", TAKEAWAYS),
            ("dp-adam", "rate"): ("v1", "v2", "variant 1 has a slightly higher accuracy than variant 2 in many cases", DETAILED),
            ("dp-sgd", "all"): ("v2", "v1", "variant 2 has a slightly better privacy-utility trade-off than variant 1", TAKEAWAYS),
            ("dp-adam", "all"): ("v2", "v1", "variant 2 has a slightly higher accuracy than variant 1", DETAILED)}[tuning]
        for v in ("v1", "v2"):
            c = new(f"{NAMES[v]} has a better privacy-utility trade-off than the baseline", TAKEAWAYS, unit=" points")
            yield order(runs, c, "accuracy", v, "baseline", 100)
        yield order(runs, new(sentence, source, unit=" points"), "accuracy", first, second, 100)
        for a, b in (("baseline", "v1"), ("baseline", "v2")) + ((("v2", "v1"),) if tuned == "rate" else ()):
            c = new(f"{NAMES[b]} takes less noise than {'the ' if a == 'baseline' else ''}{NAMES[a]} at all ε", DETAILED, digits=3)
            yield order(runs, c, "noise_multiplier", a, b, mean=False)
        if tuning == ("dp-sgd", "all"):
            c = new("noise levels are higher than where the rate alone is tuned", TAKEAWAYS, digits=3)
            for accounting, dataset, m in itertools.product(runs.accountings, runs.datasets, ("v1", "v2", "baseline")):
                for e in runs.epsilons(tuning, dataset, accounting):
                    x, y = (runs.of("noise_multiplier", (optimizer, s), dataset, accounting, m, e) for s in ("all", "rate"))
                    if len(x) and len(y):
                        c.add(accounting, f"{NAMES[dataset]}, {NAMES[m]}, ε = {e:g}", Compared((1, x), (-1, y)))
            yield c
        yield from costs(runs, tuning, new)


def ratios(runs, claim, column, a, b, over=1.0, about=False, only=None, trials=None):
    """Compares means over runs at all epsilons: their ratio should be above, or about, a number. What a run has by drawing
    more or fewer trials than trials, their known mean, is taken off."""
    for accounting, dataset in itertools.product(runs.accountings, [only] if only else runs.datasets):
        of = {m: runs.of(column, claim.tuning, dataset, accounting, m) for m in ({a, b} if b else {"v1", "v2", "baseline"})}
        if min(map(len, of.values())) > 1:
            for m, k in ((m, runs.of("trials", claim.tuning, dataset, accounting, m)) for m in of if trials):
                of[m] = np.round(of[m] - np.cov(k, of[m])[0, 1] / (k.var(ddof=1) or 1) * (k - trials))
            pair = of[a], of[b or min("v1", "v2", key=lambda m: of[m].mean())]
            claim.add(accounting, NAMES[dataset], Compared((1, pair[0]), (-1, pair[1]), over=over, drawn=not trials), about=pair if about else None)
    return claim


def costs(runs, tuning, new):
    mu = 15 if tuning[1] == "rate" else 45
    for v in ("v1", "v2"):
        c = new(f"{NAMES[v]} has a lower computational cost than the baseline", TAKEAWAYS, unit=" times")
        yield ratios(runs, c, "time", "baseline", v)
    if tuning in PUBLISHED:
        dataset, r = PUBLISHED[tuning]
        c = new(f"on {NAMES[dataset]} the baseline trains {r} times as long as the faster variant", CAPTION, unit=" times")
        yield ratios(runs, c, "time", "baseline", None, r, True, dataset)
    fewer = mu / (0.1 * mu + 1)
    c = new(f"the baseline takes μ/(μq + 1), about {fewer:.0f}, times the gradients of variant 2 (in expectation, if the released run has as many epochs as trials)", SAVINGS, unit=" times")
    yield ratios(runs, c, "gradients", "baseline", "v2", fewer, True, trials=mu)
    c = new("speed-ups are slightly smaller than ratios of gradients: one gradient takes variant 2 longer", SAVINGS, unit=" times")
    yield ratios(runs, c, "pace", "v2", "baseline")


def holm(rows):
    """Sets verdicts. Exact comparisons can't be chance, and aren't counted."""
    for row in rows:
        if row["compared"].exact:
            row["verdict"], row["holm"] = row["says"], 0.0
    chance = sorted((r for r in rows if not r["compared"].exact and not math.isnan(r["p"])), key=lambda r: r["p"])
    worst = 0.0
    for k, row in enumerate(chance):
        worst = row["holm"] = max(worst, min(1.0, row["p"] * (len(chance) - k)))
        row["level"] = LEVEL / (len(chance) - k)
        if worst <= LEVEL:
            row["verdict"] = row["says"]


def crossing(folder):
    """Says of each accounting's bounds up to which subset rate variant 1's is above variant 2's at mu = 45."""
    table = pd.read_csv(folder / "compare_dp_bounds.csv").query("mu == 45").sort_values("q")
    said, verdict = [], "not seen"
    for column in (c for c in table.columns if c.startswith("variant1_")):
        accounting = column.removeprefix("variant1_")
        above = table.q[(table[column] > table["variant2_" + accounting]).cumprod().astype(bool)]
        said.append(f"{accounting}: variant 1's is the larger one " + (f"up to q = {above.max():.2g}" if len(above) else "nowhere"))
        if accounting == "paper" and 0 < len(above) < len(table) and above.max() < 0.5:
            verdict = "seen"
    return "; ".join(said), verdict


def table(header, rows):
    return ["| " + " | ".join(header) + " |", "|" + "---|" * len(header), *("| " + " | ".join(r) + " |" for r in rows), ""]


def verdict(row):
    fewest = min(row["compared"].sizes)
    if row["verdict"] != "open" or math.isnan(row["p"]):
        return f"**{row['verdict']}**" if row["verdict"] != "open" else "open: one run" if fewest < 2 else "open: all runs are equal"
    needed = 0 if row["about"] else row["compared"].needed(row["level"])
    return f"open: {needed} runs each would probably {'show' if row['says'] == 'seen' else 'exclude'} it" if fewest < needed < 1000 else "open"


def of_claim(c):
    """Returns the table of a claim."""
    values = [r["compared"].value for r in c.rows if r["compared"].exact]
    if len(values) == len(c.rows) and not c.rows[0]["about"]:
        most = f"{min(values):+.{c.digits}f} to {max(values):+.{c.digits}f}{c.unit}".replace("-", "−")
        return [f"{sum(v > 0 for v in values)} of {len(values)} comparisons agree, exactly: {most}.", ""]
    each = list(dict.fromkeys(w for r in c.rows for w in r["each"]))
    lines = [[r["where"], r["accounting"], r["compared"].said(c.digits, c.unit), *(r["each"][w].said(c.digits) if w in r["each"] else "" for w in each),
              "" if math.isnan(r["p"]) else "exact" if r["compared"].exact else f"{r['holm']:.2g}", verdict(r)] for r in c.rows]
    return table(["", "accounting", "mean over ε" if each else "measured", *each, "p, by Holm", "verdict"], lines)


def accuracies(runs, tuning):
    """Returns the table of mean accuracies, with half of their intervals."""
    methods, lines = ("v1", "v2", "baseline", "single"), []
    for dataset, accounting in itertools.product(runs.datasets, runs.accountings):
        for e in runs.epsilons(tuning, dataset, accounting):
            line, counts = [NAMES[dataset], accounting, f"{e:g}"], {}
            for m in methods:
                v = 100 * runs.of("accuracy", tuning, dataset, accounting, m, e)
                half = stats.t.ppf(1 - LEVEL / 2, len(v) - 1) * stats.sem(v) if len(v) > 1 else math.nan
                counts[len(v)] = text = "" if len(v) == 0 else f"{v.mean():.2f}" + ("" if math.isnan(half) else f" ± {half:.2f}")
                if m == "single" and len(v):
                    text += f" (ε = {runs.of('own_epsilon', tuning, dataset, accounting, m, e).mean():.2f})"
                line.append(text)
            lines.append([*line, " to ".join(map(str, sorted({min(counts), max(counts)})))])
    return table(["", "accounting", "ε", *(NAMES[m] for m in methods), "runs"], lines)


def gains(runs):
    lines = []
    for tuning, dataset in itertools.product(FIGURES, runs.datasets):
        line, noise = [NAMES[dataset], f"{NAMES[tuning[0]]}, {tuning[1]}"], []
        for m in ("v1", "v2", "baseline"):
            pairs = []
            for e in runs.epsilons(tuning, dataset, "paper"):
                a, b = (100 * runs.of("accuracy", tuning, dataset, x, m, e) for x in ("best", "paper"))
                if len(a) and len(b):
                    pairs.append((a, b))
                    noise.append(1 - runs.of("noise_multiplier", tuning, dataset, "best", m, e).mean() / runs.of("noise_multiplier", tuning, dataset, "paper", m, e).mean())
            line.append(mean_of(pairs).said(2) if pairs else "")
        if noise:
            lines.append([*line, " to ".join(dict.fromkeys(f"{round(100 * v) + 0:d}" for v in (min(noise), max(noise)))).replace("-", "−") + " %"])
    return table(["", "tuned", "variant 1", "variant 2", "baseline", "less noise"], lines)


def outliers(runs):
    """Names runs far below the median of their cell, with the rate that their trials chose and the one most others chose."""
    lines = []
    for (optimizer, tuned, dataset, accounting, method, e), cell in runs.cells.items():
        middle = (accuracy := 100 * cell.accuracy).median()
        spread = 1.4826 * (accuracy - middle).abs().median()
        for i in cell.index[accuracy < middle - max(2, 5 * spread)]:
            run, usual = cell.loc[i], cell.tuned_learning_rate.mode().max()
            chose = "its baseline" if method == "single" else f"the best of its {run.trials} trials"
            usual = ", as usual" if run.tuned_learning_rate == usual else f"; the usual one is {usual:.3g}"
            cause = f"{chose} had rate {run.tuned_learning_rate:.3g}{usual}" if run.steps else "no trial was drawn"
            lines.append([f"{NAMES[dataset]}, {NAMES[optimizer]}, {tuned}, {NAMES[method]}, {accounting}, ε = {e:g}, repetition {run.repetition}",
                          f"{accuracy[i]:.2f}", f"{middle:.2f}", cause])
    return table(["run", "accuracy", "median", "rate"], lines) if lines else ["None.", ""]


def summary(all_claims, runs, folder):
    lines = []
    for c in all_claims:
        anchor = re.sub(r"[^\w -]", "", f"{c.tuning[1]}, {NAMES[c.tuning[0]]}: {c.sentence}".lower()).replace(" ", "-")
        line = [f"{c.tuning[1]}, {NAMES[c.tuning[0]]}", (f"[{c.sentence}](#{anchor})" if c.rows else c.sentence) + f" ({c.source})"]
        for accounting in runs.accountings:
            said = {}
            for r in (r for r in c.rows if r["accounting"] == accounting):
                said.setdefault(r["where"].split(",")[0], []).append(r["verdict"])
            line.append("; ".join(where + ": " + ", ".join(f"{v}" + f" ({vs.count(v)})" * (len(vs) > 1) for v in dict.fromkeys(vs)) for where, vs in said.items()) or "no runs")
        lines.append(line)
    said, v = crossing(folder)
    lines.append(["", f"at μ = 45 the bounds of the variants cross at small q (Privacy Analysis). {said}", *(f"{v} (exact)" if a == "paper" else "" for a in runs.accountings)])
    return table(["tuned", "the paper says", *(f"{a} accounting" for a in runs.accountings)], lines)


def main(folder):
    runs = Runs(pd.read_csv(folder / "results.csv"))
    page, t, all_claims = folder.with_suffix(".md"), runs.table, list(claims(runs))
    for tuning, accounting, noise in itertools.product(FIGURES, runs.accountings, (True, False)):
        holm([r for c in all_claims for r in c.rows if c.tuning == tuning and r["accounting"] == accounting and ("noise" in c.sentence) == noise])
    exact, verdicts = ([r["verdict"] for c in all_claims for r in c.rows if r["compared"].exact == exact] for exact in (True, False))
    missing = "; not run: " + ", ".join(missing) if (missing := [n for d, n in DATASETS.items() if d not in runs.datasets]) else ""
    hours = t.processor_seconds.fillna(t.seconds).sum() / 3600
    out = ["# The paper's claims, judged by runs", "",
           "What Koskela and Kulkarni say of their experiments (“Practical Differentially Private Hyperparameter Tuning with Subsampling”), and what runs of dptrain show. "
           "[tuning.md](tuning.md) explains the variants and the baseline, [accounting.md](accounting.md) the bounds *paper* and *best*, "
           "[reproduce.md](reproduce.md) the runs and what differs from the paper.", "",
           f"{len(t):,} runs at full size of {', '.join(NAMES[d] for d in runs.datasets)}, which took {hours:.1f} processor hours{missing}. "
           f"A point has at most {t.groupby(t.columns[:6].tolist()).size().max()} runs, at ε of "
           f"{', '.join(f'{e:g}' for e in sorted(t.epsilon.unique()))}, by accounting {' and '.join(runs.accountings)}. "
           f"Of {len(verdicts)} comparisons that chance enters, {verdicts.count('seen')} are seen, {verdicts.count('not seen')} not seen and {verdicts.count('open')} open; "
           f"of {len(exact)} exact ones {exact.count('seen')} are seen. All runs are in "
           "[results.csv](reproduction/results.csv), from which this page and the figures are written by", "", "    bench/reproduction/run", "",
           "*Seen* and *not seen* mean that an interval of 95 % (Welch) lies on one side of 0, or a ratio's within a tenth of its number or outside, and that p is at most 0.05 after "
           "Holm's adjustment for all comparisons with what the paper says about the same figure, of noise or of all else, by one accounting; p is two-sided. The intervals themselves aren't adjusted: one may "
           "exclude 0 beside *open*. Everything else is *open*, with the runs of each point that would decide a true difference as large as the one that was found in four of five "
           "campaigns. *Slightly*, *significantly* and reasons aren't judged. Intervals cover what repetitions draw at random, on these data, but for runs too rare to be among them; a run that gave no model was carried out once more. "
           "Durations are processor seconds of one machine; the paper's are seconds of graphics processors. Runs side by side share theirs, and count as one for the time of a gradient.", ""]
    out += ["Made by: " + "; ".join(f"{by} on {m} ({n} runs, {d[0]} to {d[1]})" for (by, m), n, d in
                                    ((k, len(g), (g.day.min(), g.day.max())) for k, g in t.groupby(["made_by", "machine"], dropna=False))) + ".", ""]
    out += [p.read_text() for p in folder.glob("notes.md")] + ["## Verdicts", "", "In brackets: so many comparisons, one for each ε.", "", *summary(all_claims, runs, folder)]
    for tuning, figure in FIGURES.items():
        if not (mine := [c for c in all_claims if c.tuning == tuning and c.rows]):
            continue
        out += [f"## {'The learning rate' if tuning[1] == 'rate' else 'All hyperparameters'} tuned, {NAMES[tuning[0]]}", "",
                f"![test accuracy over ε]({page.stem}/{figure}.png)", "", LEGEND.format(f"{page.stem}/{figure}"), "", "Mean test accuracy in per cent, with half of its 95 % interval:", "", *accuracies(runs, tuning)]
        for c in mine:
            out += [f"### {tuning[1].title()}, {NAMES[tuning[0]]}: {c.sentence}", "", f"From {c.source}.", "", *of_claim(c)]
    if runs.accountings == ["paper", "best"]:
        out += ["## What better bounds buy", "", "Test accuracy with the best bounds less that with the paper's, at the same ε, in points, in the mean over ε:", "", *gains(runs)]
    out += ["## Outliers", "", "Runs more than 2 points, and more than 5 deviations (by the median one), below the median of their cell. Means and intervals contain them.", "", *outliers(runs)]
    page.write_text("\n".join(out).rstrip() + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
