"""Prints a table of epsilons by several accountants, as bench/workloads/accountants describes it."""
import json
import subprocess
import sys
import time

from dp_accounting import NeighboringRelation, dp_event, pld
from opake.api.accounting.core import opake_accounting as opake
import prv_accountant

RUNS = [(0.01, 1.0, 1000), (0.01, 2.0, 5000), (0.0213, 2.0, 1878), (0.5, 4.0, 100), (0.001, 0.6, 10000), (1.0, 40.0, 100), (0.05, 0.8, 1)]
DELTAS = [1e-5, 1e-8]


def dptrain(relation):
    def epsilon(rate, noise, steps, delta):
        flags = {"sampling-rate": rate, "noise-multiplier": noise, "steps": steps, "delta": delta, "neighbours": relation}
        command = [sys.argv[1], "account", "epsilon", "--json", "--single"] + [f"--{k}={v}" for k, v in flags.items()]
        return json.loads(subprocess.check_output(command))["epsilon"]

    return epsilon


def google(relation):
    def epsilon(rate, noise, steps, delta):
        accountant = pld.PLDAccountant(relation)
        accountant.compose(dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(noise)), steps)
        return accountant.get_epsilon(delta)

    return epsilon


def prv(rate, noise, steps, delta):
    step = prv_accountant.PoissonSubsampledGaussianMechanism(noise_multiplier=noise, sampling_probability=rate)
    accountant = prv_accountant.PRVAccountant([step], max_self_compositions=[steps], eps_error=0.01, delta_error=delta / 1000)
    return accountant.compute_epsilon(delta, [steps])[2]  # the upper bound


def native(rate, noise, steps, delta):
    step = opake.gaussian_pld(noise, opake.DiscretizationConfig(discretization=1e-4))
    if rate < 1:
        step = opake.poisson_pld(step, rate)
    return (step.self_compose(steps) if steps > 1 else step).epsilon_at(delta)


ACCOUNTANTS = {
    "add-or-remove-one": {
        "dptrain": dptrain("add-or-remove-one"),
        "dp_accounting 0.6.0": google(NeighboringRelation.ADD_OR_REMOVE_ONE),
        "prv_accountant 0.2.0": prv,
        "opake-accounting 0.16.1": native,
    },
    "replace-one": {
        "dptrain": dptrain("replace-one"),
        "dp_accounting 0.6.0": google(NeighboringRelation.REPLACE_ONE),
    },
}


def timed(epsilon, *run):
    start = time.perf_counter()
    try:
        value = f"{epsilon(*run):.5f}"
    except Exception as e:  # an accountant that can't is part of the table
        value = f"({type(e).__name__})"
    return f"{value} in {time.perf_counter() - start:.2f} s"


for relation, accountants in ACCOUNTANTS.items():
    print(f"\n{relation}\n\n| rate, noise, steps, δ | " + " | ".join(accountants) + " |\n|" + "---|" * (1 + len(accountants)))
    for rate, noise, steps in RUNS:
        for delta in DELTAS:
            cells = [timed(epsilon, rate, noise, steps, delta) for epsilon in accountants.values()]
            print(f"| {rate:g}, {noise:g}, {steps:,}, {delta:g} | " + " | ".join(cells) + " |", flush=True)
