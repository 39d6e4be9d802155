"""Tests of judge.py, against R and by hand."""
import math
import re
import tempfile
import unittest
from pathlib import Path

import numpy as np
import pandas as pd

import judge
from judge import Compared

# Student's sleep data, as in the documentation of R's t.test.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def invented(better=0.5, repetitions=10, drop=(), tuned="rate", dataset="cifar-10", baseline=6.6, outlier=0.5):
    """Runs of one tuning whose variant 1 is better by some points, and takes a sixth of the baseline's time, and variant 2 two."""
    random, rows = np.random.default_rng(1), []
    for method in ("v1", "v2", "baseline", "single"):
        for accounting in ("paper", "best"):
            for epsilon in (1, 2):
                for repetition in range(1, repetitions + 1):
                    cost = {"v1": 1, "v2": 1.1, "baseline": baseline, "single": 0.4}[method] * random.uniform(0.95, 1.05)
                    rows.append({
                        "dataset": dataset, "optimizer": "dp-sgd", "tuned": tuned, "method": method, "accounting": accounting, "epsilon": epsilon,
                        "repetition": repetition, "size": "full", "made_by": "a", "machine": "b", "day": "2026-01-01", "own_epsilon": epsilon,
                        "accuracy": 0.7 + 0.01 * better * (method == "v1") + 0.01 * (accounting == "best") + 0.001 * random.standard_normal(),
                        "noise_multiplier": {"v1": 1, "v2": 1.1}.get(method, 2) / epsilon * (0.9 if accounting == "best" else 1) * (2 if tuned == "all" else 1), "tuned_learning_rate": 0.1, "steps": 9, "trials": 15,
                        "gradients": 1e6 * cost, "seconds": cost / (1 + len(rows) // 2), "processor_seconds": cost * (1.2 if method == "v2" else 1)})  # two side by side
    rows[0]["accuracy"], rows[0]["tuned_learning_rate"] = outlier, 0.01
    return pd.DataFrame([r for r in rows if r["method"] not in drop])


def page_of(table, bounds="45,0.05,2,1\n45,0.5,1,2\n15,0.5,3,2"):
    with tempfile.TemporaryDirectory() as dir:
        folder = Path(dir, "reproduction")
        folder.mkdir()
        table.to_csv(folder / "results.csv", index=False)
        (folder / "compare_dp_bounds.csv").write_text(f"mu,q,variant1_paper,variant2_paper\n{bounds}\n")
        judge.main(folder)
        return folder.with_suffix(".md").read_text()


class Statistics(unittest.TestCase):
    def test_difference_is_that_of_r(self):
        # t.test(extra ~ group, data = sleep): t = -1.8608, df = 17.776, p = 0.07939, -3.3654832 to 0.2054832.
        c = Compared((1, FIRST), (-1, SECOND))
        np.testing.assert_allclose([c.value, c.low, c.high], [-1.58, -3.3654832, 0.2054832], atol=1e-6)
        np.testing.assert_allclose([2 * c.below, 2 * c.above], [0.07939, 2 - 0.07939], atol=1e-5)
        self.assertEqual(c.said(2, " points"), "−1.58 points [−3.37, +0.21]")

    def test_mean_of_differences(self):
        # Of two equal ones it is that one, with an interval shorter by sqrt(2) but for the degrees of freedom, 35.55.
        c = Compared((0.5, FIRST), (-0.5, SECOND), (0.5, FIRST), (-0.5, SECOND))
        error = 1.58 / 1.8608 / math.sqrt(2)
        np.testing.assert_allclose([c.value, c.high - c.value], [-1.58, 2.0289 * error], atol=2e-4)

    def test_ratio(self):
        # By hand: means 10 and 2 with relative errors sqrt(4/3)/10 each, so degrees of freedom 4 and t = 2.776445.
        c = Compared((1, [8, 10, 12]), (-1, [1.6, 2, 2.4]), over=5)
        half = 2.776445 * math.sqrt(2 * 4 / 3) / 10
        np.testing.assert_allclose([c.value, c.low, c.high, c.above], [0, -half, half, 0.5], atol=1e-6)
        self.assertEqual(c.said(2), f"5.00 [{5 * math.exp(-half):.2f}, {5 * math.exp(half):.2f}]")

    def test_runs_needed(self):
        # power.t.test(delta = 1, sd = 1, power = 0.8) prints n = 16.71477.
        values = [0, 0, 0, 3 ** 0.5]
        values = np.array(values) / np.std(values, ddof=1)
        self.assertEqual(Compared((1, values + 1), (-1, values)).needed(0.05), 17)

    def test_without_an_interval(self):
        one, none, equal = Compared((1, [2]), (-1, [1])), Compared((1, []), (-1, [1])), Compared((1, [2, 2]), (-1, [1]), drawn=False)
        self.assertEqual([one.said(1), none.said(1), equal.said(1)], ["+1.0", "no runs", "+1.0, exactly"])
        self.assertTrue(math.isnan(one.above) and equal.above == 0 and equal.below == 1 and equal.exact)
        self.assertEqual(Compared((1, [1]), (-1, [1]), drawn=False).above, 1)
        self.assertFalse(math.isnan(Compared((1, [1, 2, 3]), (-1, [1, 1, 1])).low))

    def test_holm(self):
        # By hand: 0.01·4, 0.013·3, 0.02·2 and 0.2, each at least the one before: 0.04, 0.04, 0.04, 0.2.
        def row(p):
            return {"p": p, "says": "seen", "verdict": "open", "compared": Compared((1, FIRST), (-1, SECOND))}
        rows = [row(p) for p in (0.2, 0.013, 0.01, 0.02, math.nan)]
        judge.holm(rows)
        np.testing.assert_allclose([r.get("holm", -1) for r in rows], [0.2, 0.04, 0.04, 0.04, -1])
        self.assertEqual([r["verdict"] for r in rows], ["open", "seen", "seen", "seen", "open"])


class Page(unittest.TestCase):
    def contains(self, page, *texts):
        headings = ["".join(c for c in h.lower() if c.isalnum() or c in "- ").replace(" ", "-") for h in re.findall("^### (.*)", page, re.M)]
        self.assertEqual(sorted(re.findall(r"\]\(#(.*?)\) ", page)), sorted(headings))  # a verdict for each section
        page = re.sub(r"\[(.*?)\]\(#.*?\) ", r"\1 ", page)
        for text in texts:
            self.assertTrue(text in page, text)

    def test_verdicts(self):
        self.contains(
            page_of(invented()),
            "160 runs at full size of CIFAR-10", "0.1 processor hours; not run: MNIST, FashionMNIST, IMDB. A point has at most 10 runs, at ε of 1, 2, by",
            "| CIFAR-10 | best | +0.4", "**seen**", "4 of 4 comparisons agree, exactly: +0.450 to +1.000.", "50.00 | 70.5",
            "the best of its 15 trials had rate 0.01; the usual one is 0.1", "paper: variant 1's is the larger one up to q = 0.05 | seen (exact)",
            "about 6, times the gradients", "one gradient takes variant 2 longer (Computational Savings) | CIFAR-10: seen | CIFAR-10: seen",
            "runs each would probably", "70.02 ± 0.05", "| DP-SGD, rate | +2.0", "| +1.0", "| 10 % |",
        )

    def test_other_signs(self):
        self.contains(page_of(invented(better=-2, baseline=14)), "than the baseline (Takeaways) | CIFAR-10: not seen | CIFAR-10: not seen |",
                      "6.06 times as long as the faster variant (the figure's caption) | CIFAR-10: not seen | CIFAR-10: not seen")

    def test_two_tunings_and_data_sets(self):
        tables = [invented(better=-0.5, tuned=t, dataset=d, outlier=0.69) for t in ("rate", "all") for d in ("cifar-10", "fashion-mnist")]
        page = page_of(pd.concat(tables))
        self.contains(page, "variant 2 has a slightly better privacy-utility trade-off than variant 1 (Takeaways) | FashionMNIST: seen; CIFAR-10: seen",
                      "where the rate alone is tuned (Takeaways) | FashionMNIST: open (6); CIFAR-10: open (6)", "None.",
                      "on CIFAR-10 the baseline trains 6.06 times as long as the faster variant (the figure's caption) | CIFAR-10: ")

    def test_bounds(self):
        for rows, text in {"45,0.05,1,2\n45,0.5,1,2": "nowhere | not seen", "45,0.1,2,1\n45,0.3,1,2\n45,0.5,2,1": "q = 0.1 | seen",
                           "45,0.5,2,1\n45,0.9,1,2": "q = 0.5 | not seen"}.items():
            self.contains(page_of(invented(), rows), text)

    def test_one_repetition_and_missing_methods(self):
        page = page_of(invented(repetitions=1))
        self.assertEqual(page.count("open: one run"), 6)
        self.assertEqual(page.count("exactly"), 3)
        page = page_of(invented(drop=("v2", "single")))
        self.assertNotIn("nan", page)


if __name__ == "__main__":
    unittest.main()
