#!/usr/bin/env python3
"""Write extremes.json: cases of the functions in accounting.json at the edges of their parameters.

usage: extremes.py > extremes.json        (made with Python 3.11.2 and mpmath 1.2.1; about a minute)

Every value is the printed formula, evaluated term by term with 60 digits, from the exact IEEE doubles of its parameters.
Nothing here is shared with the Go code.
"""
import json
from mpmath import mp, mpf, binomial, exp, expm1, log, log1p, sqrt, inf

mp.dps = 60


def step(gamma, sigma, a):
    g, s = mpf(gamma), mpf(sigma)
    if g == 0:
        return mpf(0)
    if g == 1:
        return a / (2 * s * s)
    total = sum(binomial(a, k) * (1 - g) ** (a - k) * g ** k * expm1(k * (k - 1) / (2 * s * s)) for k in range(2, a + 1))
    return log1p(total) / (a - 1)


def curve(base, high):
    kind = base["kind"]
    if kind == "grid":
        members = [curve(m, high) for m in base["members"]]
        return {a: max(m[a] for m in members) for a in range(2, high + 1)}
    if kind == "line":
        return {a: mpf(base["c"]) * a for a in range(2, high + 1)}
    g = base.get("gamma", 1)
    return {a: base["steps"] * step(g, base["sigma"], a) for a in range(2, high + 1)}


def to_epsilon(a, r, delta):
    return max(mpf(0), r + log1p(-mpf(1) / a) - log(mpf(delta) * a) / (a - 1))


def to_delta(a, r, eps):
    return min(mpf(1), exp((a - 1) * (r - eps + log1p(-mpf(1) / a))) / a)


def best_epsilon(c, low, high, delta):
    if not any(c.values()):
        return mpf(0)
    return min(to_epsilon(a, c[a], delta) for a in range(low, high + 1))


def best_delta(c, low, high, eps):
    return min(to_delta(a, c[a], eps) for a in range(low, high + 1))


def delta_hat(base, a, low, high, tight):
    if base["kind"] == "grid":
        return max(delta_hat(m, a, low, high, tight) for m in base["members"])
    c = curve_of(base, high)
    d = best_delta(c, low, high, log1p(mpf(1) / (a - 1)))
    if tight:
        k = mpf(1) / (a - 1)
        d = min(d, (sqrt(expm1(c[2]) + k * k) - k) / 2)
    return d


CURVES = {}


def curve_of(base, high):
    key = (json.dumps(base, sort_keys=True), high)
    if key not in CURVES:
        CURVES[key] = curve(base, high)
    return CURVES[key]


def tune(base, mu, low, high, tight):
    c, mu = curve_of(base, high), mpf(mu)
    t = {}
    for a in range(2, high + 1):
        d = delta_hat(base, a, low, high, tight)
        if mu >= 1:
            t[a] = c[a] + mu * d + log(mu) / (a - 1)
        else:
            t[a] = log(exp(-mu) + mu * exp((a - 1) * (c[a] + mu * d))) / (a - 1)
    if tight:  # lower hull through (0, 0), by brute force
        m = {a - 1: (a - 1) * t[a] for a in t if a >= low}
        m[0] = mpf(0)
        xs = sorted(m)
        hull = []
        for x in xs:
            while len(hull) > 1 and (m[hull[-1]] - m[hull[-2]]) * (x - hull[-2]) >= (m[x] - m[hull[-2]]) * (hull[-1] - hull[-2]):
                hull.pop()
            hull.append(x)
        for u, v in zip(hull, hull[1:]):
            for x in range(u + 1, v):
                t[x + 1] = (m[u] + (m[v] - m[u]) * (x - u) / (v - u)) / x
    return t


def amplified(c, gamma, a):
    g = mpf(gamma)
    if g == 0:
        return mpf(0)
    if g == 1:
        return c[a]
    total = binomial(a, 2) * g ** 2 * (1 - g) ** (a - 2) * expm1(c[2])
    total += sum(binomial(a, j) * g ** j * (1 - g) ** (a - j) * (3 * exp((j - 1) * c[j]) - 1) for j in range(3, a + 1))
    return log1p(total) / (a - 1)


def add(t, b, q, a):
    q = mpf(q)
    e = lambda c, i: (i - 1) * c[i] if i > 1 else mpf(0)
    return log1p(sum(binomial(a, j) * q ** (a - j) * (1 - q) ** j * expm1(e(t, a - j) + e(b, j)) for j in range(a + 1))) / (a - 1)


def remove(t, b, q, a):
    q = mpf(q)
    e = lambda c, i: (i - 1) * c[i] if i > 1 else mpf(0)
    return log1p(sum(binomial(a - 1, j) * q ** j * (1 - q) ** (a - 1 - j) * expm1(e(t, j + 1) + e(b, a - j)) for j in range(a))) / (a - 1)


def evaluate(f, p):
    low, high = p.get("orders", [2, 256])
    tight = p.get("mode") == "tight"
    if f == "rdp_subsampled_gaussian":
        return step(p["gamma"], p["sigma"], p["alpha"])
    if f == "dp_epsilon":
        return best_epsilon(curve_of(p["base"], high), low, high, p["delta"])
    if f == "dp_delta":
        return best_delta(curve_of(p["base"], high), low, high, mpf(p["epsilon"]))
    if f == "subsample_rdp":
        return amplified(curve_of(p["base"], max(high, p["alpha"])), p["gamma"], p["alpha"])
    if f == "delta_hat":
        return delta_hat(p["base"], p["alpha"], low, high, tight)
    b, t = curve_of(p["base"], high), tune(p["base"], p["mu"], low, high, tight)
    if f == "tune_rdp":
        return t[p["alpha"]]
    if f == "baseline_epsilon":
        return best_epsilon(t, low, high, p["delta"])
    if f.startswith("variant1"):
        def both(a):
            r = remove(t, b, p["q"], a)
            if tight:
                r = min(r, min(amplified(t, p["q"], a), t[a]) + b[a])
            return max(add(t, b, p["q"], a), r)
        if f == "variant1_rdp":
            return both(p["alpha"])
        return best_epsilon({a: both(a) for a in range(2, high + 1)}, low, high, p["delta"])
    def second(a):
        s = amplified(t, p["q"], a)
        return (min(s, t[a]) if tight else s) + b[a]
    if f == "variant2_rdp":
        return second(p["alpha"])
    return best_epsilon({a: second(a) for a in range(2, high + 1)}, low, high, p["delta"])


def sgd(gamma, sigma, steps):
    return {"kind": "dpsgd", "gamma": gamma, "sigma": sigma, "steps": steps}


def cases():
    for gamma in (1e-6, 1e-3, 0.3, 0.999):
        for sigma in (0.3, 1.0, 100.0):
            for alpha in (2, 17, 1024):
                yield "rdp_subsampled_gaussian", dict(gamma=gamma, sigma=sigma, alpha=alpha)
    for base in (sgd(1e-6, 0.3, 10 ** 6), sgd(1e-6, 1.0, 10 ** 6), sgd(1e-3, 100.0, 10 ** 6), sgd(1e-3, 0.7, 10 ** 6), sgd(0.5, 0.3, 3)):
        for delta in (1e-5, 1e-12):
            yield "dp_epsilon", dict(base=base, delta=delta, orders=[2, 64])
        yield "dp_delta", dict(base=base, epsilon=3.0, orders=[2, 64])
        yield "delta_hat", dict(base=base, alpha=40, orders=[2, 64])
        yield "delta_hat", dict(base=base, alpha=3, orders=[2, 64], mode="tight")
        for mode in ("paper", "tight"):
            for mu in (1e-3, 0.9, 1.0, 1e4):
                yield "tune_rdp", dict(base=base, mu=mu, alpha=30, orders=[2, 64], mode=mode)
            for q in (1e-6, 0.1, 0.999):
                yield "variant1_epsilon", dict(base=base, mu=15, q=q, delta=1e-12, orders=[2, 48], mode=mode)
                yield "variant2_epsilon", dict(base=base, mu=15, q=q, delta=1e-12, orders=[2, 48], mode=mode)
    small = sgd(0.0213, 8.0, 1878)
    grid = {"kind": "grid", "members": [small, sgd(0.1, 3.0, 20), sgd(1e-4, 0.5, 5000)]}
    for mode in ("paper", "tight"):
        yield "dp_epsilon", dict(base=small, delta=1e-5, orders=[2, 512], mode=mode)
        yield "variant1_rdp", dict(base=small, mu=45, q=0.05, alpha=400, orders=[2, 400], mode=mode)
        yield "variant2_rdp", dict(base=small, mu=45, q=0.05, alpha=400, orders=[2, 400], mode=mode)
        yield "variant1_epsilon", dict(base=grid, mu=3, q=0.2, delta=1e-7, orders=[2, 64], mode=mode)
        yield "baseline_epsilon", dict(base=grid, mu=0.2, delta=1e-7, orders=[5, 64], mode=mode)
    yield "subsample_rdp", dict(base={"kind": "line", "c": 1e-9}, gamma=1e-6, alpha=64)
    yield "subsample_rdp", dict(base={"kind": "gaussian", "sigma": 0.3, "steps": 100}, gamma=1e-3, alpha=1024, orders=[2, 64])


if __name__ == "__main__":
    out = []
    for n, (f, p) in enumerate(cases()):
        out.append({"id": "extreme-%03d" % n, "function": f, "params": p, "value": float(evaluate(f, p)), "sense": "at_least"})
    print("[\n" + ",\n".join(json.dumps(c) for c in out) + "\n]")
