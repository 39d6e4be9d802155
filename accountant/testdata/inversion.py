#!/usr/bin/env python3
"""Write inversion.json: delta(epsilon) of single DP-SGD runs, by inversion of a Laplace transform in high precision.

usage: inversion.py > inversion.json        (Debian: python3-mpmath, python3-gmpy2; some minutes)

Nothing here is shared with the Go code: no grid of losses, no rounding to one side, no Fourier transform of masses.

One step has the laws P = (1-g) N(0,s^2) + g N(1,s^2) and Q = N(0,s^2), the loss L = log dP/dQ and E(z) = E_Q e^{zL}, which is
entire. T steps add T independent losses, so with the Bromwich representations of (e^y - e^eps)_+ and (1 - e^{eps+y})_+

    remove = H(P^T from Q^T) = 1/(2 pi i) int E(z)^T e^{(1-z) eps}/(z (z-1)) dz     along a line with Re z = c > 1
    add    = H(Q^T from P^T) = 1/(2 pi i) int E(z)^T e^{z eps}/(z (z-1)) dz         along a line with Re z = c < 0

c is taken where the integrand's real value is smallest, so the integrand is never much larger than delta, and a delta of
1e-14 has as many digits as one of 1e-2. Both integrals, that for E(z) and that along the line, are sums with even steps of
functions analytic around the line, whose error falls exponentially in 1/step. Every value is computed three times: as it is,
with the step along the line halved, and with the other step halved; each time with more bits, wider ranges and another c.
"digits" is how far the three agree.

The Gaussian mechanism (rate 1) and one step (T = 1) also have closed forms, and two steps have the integral of one over the
first step's outcome; where they apply, they are evaluated with mpmath's error function and held to the integral, or replace
it where the integrand falls too slowly (method "closed form").
"""
import json
import platform
import sys

import gmpy2
import mpmath
from gmpy2 import exp, expm1, log, log1p, mpc, mpfr, sqrt
from mpmath import mp

DELTAS = [1e-2, 1e-5, 1e-9, 1e-14]
RUNS = [  # rate, noise multiplier, steps
    (1.0, 0.3, 1), (1.0, 1.0, 1), (1.0, 5.0, 100), (1.0, 20.0, 10000),
    (0.3, 0.5, 1), (0.3, 1.0, 2), (0.3, 2.0, 10), (0.3, 5.0, 100), (0.3, 20.0, 1000), (0.3, 20.0, 10000),
    (0.01, 0.3, 1), (0.01, 0.5, 100), (0.01, 1.0, 1000), (0.01, 2.0, 5000), (0.01, 0.7, 10000), (0.01, 20.0, 10000),
    (0.0213, 2.0, 1878),
    (0.0001, 0.3, 1), (0.0001, 0.3, 10000), (0.0001, 0.5, 10000), (0.0001, 1.0, 1000), (0.0001, 5.0, 10000),
]
MOST_TERMS = 15 * 10**6  # of a value; a tenth where there is a closed form


class TooSlow(Exception):
    pass


class Step:
    """One step: E(z) by a sum over y in standard deviations; the loss is analytic for |Im y| < pi s."""

    def __init__(self, g, s, fine):
        self.g, self.s, self.fine = mpfr(g), mpfr(s), fine
        self.known = None, None

    def nodes(self, c, t):
        """Weights and losses of a sum that is good for E(z) where Re z = c and |Im z| <= t."""
        # The masses are centred between 0 and c/s. The step must resolve e^{itL}, whose phase runs at t/s at most.
        low, high = min(0.0, float(c / self.s)) - 10 - self.fine, max(0.0, float(c / self.s)) + 10 + self.fine
        d = min(3.0, 2.8 * float(self.s))
        h = 2 * 3.1416 / (48 / d + d / 2 + (abs(float(c)) + t) / float(self.s)) / (2 if self.fine == 2 else 1)
        key = low, high, h
        if self.known[0] != key:
            step = mpfr(h)
            scale = step / sqrt(2 * gmpy2.const_pi())
            drift = 1 / (2 * self.s * self.s)
            out = []
            for i in range(int(low / h), int(high / h) + 1):
                y = i * step
                loss = y / self.s - drift
                out.append((scale * exp(-y * y / 2), log1p(self.g * expm1(loss)) if self.g < 1 else loss))
            self.known = key, out
        return self.known[1]

    def __call__(self, c):
        return sum(w * exp(c * l) for w, l in self.nodes(c, 0))

    def line(self, c, h):
        """Yields E(c), E(c+ih), E(c+2ih), ... and the number of terms in it."""
        k, top = 0, 16
        while True:  # up to twice as far each time, with nodes for the whole stretch
            nodes = self.nodes(c, top)
            z = mpc(c, k * h)
            terms = [w * exp(z * l) for w, l in nodes]
            turns = [exp(mpc(0, h) * l) for w, l in nodes]
            while k * h <= top:
                yield sum(terms), len(terms)
                terms = [a * b for a, b in zip(terms, turns)]
                k += 1
            top *= 2


def exponent(step, T, eps, c, direction):
    shift = (1 - c) * eps if direction == "remove" else c * eps
    return T * log(step(c)) + shift - log(c * (c - 1))


def saddle(step, T, eps, direction):
    """Golden section for the smallest exponent over c > 1 or c < 0."""
    at = lambda u: 1 + exp(mpfr(u)) if direction == "remove" else -exp(mpfr(u))
    f = lambda u: exponent(step, T, eps, at(u), direction)
    low, high, ratio = -7.0, 12.0, 0.6180339887
    # The exponent explodes on the right, so walk there with care.
    best, u = f(low), low
    while u + 1 <= high:
        v = f(u + 1)
        if v > best:
            break
        best, u = v, u + 1
    low, high = u - 1, u + 1
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    fa, fb = f(a), f(b)
    while high - low > 1e-3:
        if fa < fb:
            high, b, fb = b, a, fa
            a = high - ratio * (high - low)
            fa = f(a)
        else:
            low, a, fa = a, b, fb
            b = low + ratio * (high - low)
            fb = f(b)
    return at((low + high) / 2)


def curvature(step, T, eps, c, direction):
    h = abs(c - 1) * mpfr("1e-3") if direction == "remove" else abs(c) * mpfr("1e-3")
    f = lambda x: exponent(step, T, eps, x, direction)
    return (f(c + h) - 2 * f(c) + f(c - h)) / (h * h)


def estimate(step, T, eps, direction="remove"):
    c = saddle(step, T, eps, direction)
    return exp(exponent(step, T, eps, c, direction)) / sqrt(2 * gmpy2.const_pi() * curvature(step, T, eps, c, direction))


def invert(g, s, T, eps, direction, fine, most=MOST_TERMS):
    gmpy2.get_context().precision = 128 + 32 * fine
    step, eps = Step(g, s, fine), mpfr(eps)
    c = saddle(step, T, eps, direction)
    if fine:
        c = 1 + (c - 1) * mpfr(1 + 0.07 * fine) if direction == "remove" else c * mpfr(1 + 0.07 * fine)
    # A sum with step 2 pi/window adds the values at eps + k window, times e^{(c-1) k window} (e^{c k window} for add). On
    # the side where that grows, Markov's inequality at a c further out bounds them; on the other they are below 1.
    base = 1 if direction == "remove" else 0
    f = lambda x: exponent(step, T, eps, x, direction)
    further = [base + (c - base) * (1 + mpfr(k) / 10) for k in (1, 2, 4, 8, 16, 32)]
    window = max(min((48 + f(x) - f(c)) / abs(x - c) for x in further), 80 / abs(c - base)) * (2 if fine == 1 else 1)
    h = 2 * gmpy2.const_pi() / window
    top = exponent(step, T, eps, c, direction)
    total, small, work = mpfr(0), 0, 0
    for k, (e, size) in enumerate(step.line(c, h)):
        z = mpc(c, k * h)
        term = exp(T * log(e) + ((1 - z) * eps if direction == "remove" else z * eps) - top) / (z * (z - 1))
        total += term.real if k else term.real / 2
        small = small + 1 if abs(term) < mpfr("1e-20") * total else 0
        work += size
        if small == 8 + 8 * fine:
            return total * h / gmpy2.const_pi() * exp(top)
        if work > most * (1 + 3 * fine):
            raise TooSlow


def gaussian(mu, eps):
    """delta of N(mu,1) from N(0,1), by mpmath."""
    return mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)


def closed(g, s, T, eps, direction):
    mp.dps = 80
    g, s, eps = mp.mpf(g), mp.mpf(s), mp.mpf(eps)
    if g == 1:
        return gaussian(mpmath.sqrt(T) / s, eps)
    if T == 2 and direction == "remove":
        return two_steps(g, s, eps)
    if T > 1:
        return None
    if direction == "remove":
        return g * gaussian(1 / s, mpmath.log1p(mpmath.expm1(eps) / g))
    rest = 1 - (1 - g) * mpmath.exp(eps)
    if rest <= 0:
        return mp.mpf(0)
    return rest * gaussian(1 / s, mpmath.log(g * mpmath.exp(eps) / rest))


def two_steps(g, s, eps):
    """E_Q e^L delta(eps - L) over the first step's loss L, with the closed form of the second at any real epsilon."""
    mp.dps = 40
    loss = lambda x: mpmath.log1p(g * mpmath.expm1((x - mp.mpf(1) / 2) / (s * s)))
    inverse = lambda l: s * s * mpmath.log1p(mpmath.expm1(l) / g) + mp.mpf(1) / 2

    def second(e):
        if e <= mpmath.log1p(-g):
            return -mpmath.expm1(e)
        return g * gaussian(1 / s, mpmath.log1p(mpmath.expm1(e) / g))

    f = lambda x: mpmath.npdf(x, 0, s) * mpmath.exp(loss(x)) * second(eps - loss(x))
    points = sorted([inverse(eps - mpmath.log1p(-g))] + [s * k / 2 + mp.mpf(1) / 2 for k in range(-34, 35)])
    return mpmath.quad(f, points)


def value(g, s, T, eps, direction):
    exact = closed(g, s, T, eps, direction)
    if exact == 0 or (direction == "add" and eps >= -T * mpmath.log1p(-mp.mpf(g)) if g < 1 else False):
        return "0", "no loss is so low", 99
    most = MOST_TERMS if exact is None else MOST_TERMS // 10
    try:
        values = [mp.mpf(str(invert(g, s, T, eps, direction, fine, most))) for fine in (0, 1, 2)]
    except TooSlow:
        if exact is None:
            return None, "not computed: the integrand falls too slowly", 0
        return mpmath.nstr(exact, 25), "closed form", 99
    mp.dps = 60
    best = values[2]
    error = max(abs(v / best - 1) for v in values)
    if exact is not None:
        error = max(error, abs(exact / best - 1))
    digits = int(-mpmath.log10(error + mp.mpf(10) ** -30))
    return mpmath.nstr(best, 25), "integral and closed form" if exact is not None else "integral", digits


def epsilon_near(g, s, T, delta):
    """An epsilon of four digits whose delta is near the given one, or None where every epsilon >= 0 has less."""
    gmpy2.get_context().precision = 120
    step = Step(g, s, 0)
    log_delta = lambda e: float(log(estimate(step, T, mpfr(e))))
    target = float(log(mpfr(delta)))
    low, high = 1e-4, 1.0
    if log_delta(low) < target:
        return None
    while log_delta(high) > target:
        low, high = high, 2 * high
    while high / low > 1.0002:
        mid = (low * high) ** 0.5
        low, high = (mid, high) if log_delta(mid) > target else (low, mid)
    return float("%.4g" % high)


def main():
    cases = []
    for g, s, T in RUNS:
        for delta in DELTAS:
            eps = epsilon_near(g, s, T, delta)
            if eps is None:
                continue
            case = {"rate": g, "noise": s, "steps": T, "epsilon": eps}
            for direction in ("remove", "add"):
                case[direction], case[direction + "_method"], case[direction + "_digits"] = value(g, s, T, eps, direction)
            cases.append(case)
            print(json.dumps(case), file=sys.stderr, flush=True)
    header = {
        "about": "delta at epsilon of DP-SGD runs in both directions; inversion.py says how",
        "command": "python3 inversion.py > inversion.json",
        "tools": "Python %s, mpmath %s, gmpy2 %s (%s)" % (platform.python_version(), mpmath.__version__, gmpy2.version(), gmpy2.mpfr_version()),
    }
    print(json.dumps(header)[:-1] + ', "cases": [\n' + ",\n".join(json.dumps(c) for c in cases) + "\n]}")


if __name__ == "__main__":
    main()
