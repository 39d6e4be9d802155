"""What all steps share: the networks' parameters, the samples, and how compare.py and they talk.

Parameters have dptrain's layouts: dense weights [inputs, outputs], convolutions [outputs, inputs, side, side]. Files are
raw numbers without a header: x (float32, or int32 for ids), y (int32), initial/NAME and sums/WHO/NAME (float32).
"""
import math
import os
import sys
import time

import numpy as np

VOCABULARY, TOKENS = 28996, 256  # of imdb
IDS = ("imdb", "attention")


def dense(name, inputs, outputs):
    return {f"{name}.weight": (inputs, outputs), f"{name}.bias": (1, outputs)}


def norm(name, *shape):
    return {f"{name}.weight": shape, f"{name}.bias": shape}


def normed_conv(name, inputs, outputs, side):
    return {f"{name}.0.weight": (outputs, inputs, side, side)} | norm(f"{name}.1", 1, outputs, 1, 1)


def widths(model):
    """The widths of a perceptron's layers, or None for another network."""
    if model[0] == "w":
        return [784, int(model[1:]), int(model[1:]), 10]
    return {"mlp": [784, 120, 120, 10], "cifar": [64, 10]}.get(model)


def shapes(model):
    """The shapes of a network's parameters by their names, which are PyTorch's."""
    if w := widths(model):
        return {k: v for i in range(len(w) - 1) for k, v in dense(f"fc{i + 1}", w[i], w[i + 1]).items()}
    if model == "mnist":
        convs = {"conv1.weight": (16, 1, 8, 8), "conv1.bias": (1, 16, 1, 1), "conv2.weight": (32, 16, 4, 4), "conv2.bias": (1, 32, 1, 1)}
        return convs | dense("fc1", 512, 32) | dense("fc2", 32, 10)
    if model == "imdb":
        return {"embedding.weight": (VOCABULARY, 16)} | dense("fc1", 16, 16) | dense("fc2", 16, 2)
    if model == "attention":
        heads = {k: v for name in "qkvo" for k, v in dense(name, 64, 64).items()}
        tables = {"embedding.weight": (1000, 64), "positions.weight": (1, 32, 64)}
        return tables | heads | norm("first", 1, 64) | dense("up", 64, 128) | dense("down", 128, 64) | norm("second", 1, 64) | dense("out", 64, 4)
    if model == "gru":  # gates: reset, update, candidate
        return dense("ih", 16, 192) | dense("hh", 64, 192) | dense("out", 64, 10)
    if model == "layernorm":
        return dense("fc1", 784, 256) | norm("n1", 1, 256) | dense("fc2", 256, 256) | norm("n2", 1, 256) | dense("out", 256, 10)
    if model == "rescnn":
        blocks = [normed_conv(f"{k}.{i}", 16, 16, 3) for i in range(2) for k in "ab"]
        return {k: v for d in [normed_conv("first", 1, 16, 3), *blocks, dense("out", 16, 10)] for k, v in d.items()}
    if model == "resnet":
        parts = [normed_conv("first", 3, 16, 3)]
        for i, (a, b) in enumerate([(16, 16), (16, 32), (32, 64)]):
            parts += [normed_conv(f"a.{i}", a, b, 3), normed_conv(f"b.{i}", b, b, 3)] + [normed_conv(f"s.{i}", a, b, 1)] * (a != b)
        return {k: v for d in [*parts, dense("out", 64, 10)] for k, v in d.items()}
    raise SystemExit(f"no network {model}")


def sample_shape(model):
    if w := widths(model):
        return (w[0],)
    return {"mnist": (1, 28, 28), "rescnn": (1, 28, 28), "resnet": (3, 32, 32), "layernorm": (784,), "gru": (16, 16), "imdb": (TOKENS,), "attention": (32,)}[model]


def outputs(model):
    return {"imdb": 2, "attention": 4}.get(model, 10)


def make(model, n, folder):
    """Writes made-up samples and initial parameters."""
    rng = np.random.default_rng(5)
    shape = (n, *sample_shape(model))
    if model == "imdb":  # words by Zipf's law, reviews of usual lengths, and the word 0 after a review's end
        share = np.cumsum((2.7 + np.arange(VOCABULARY - 1.0)) ** -1.1)
        words = 1 + np.minimum(np.searchsorted(share / share[-1], rng.random(shape)), VOCABULARY - 2)
        lengths = np.clip(np.exp(5.15 + 0.6 * rng.standard_normal(n)), 10, TOKENS).astype(int)
        x = np.where(np.arange(TOKENS) < lengths[:, None], words, 0).astype(np.int32)
    elif model == "attention":
        x = rng.integers(0, 1000, shape, np.int32)
    else:
        x = rng.standard_normal(shape, np.float32)
    os.makedirs(f"{folder}/initial")
    x.tofile(f"{folder}/x")
    rng.integers(0, outputs(model), n, np.int32).tofile(f"{folder}/y")
    for name, s in shapes(model).items():
        if name in ("embedding.weight", "positions.weight"):
            v = rng.standard_normal(s)
        else:
            v = rng.uniform(-1, 1, s) / math.sqrt(np.prod(s[1:]) if len(s) == 4 else s[0])
            if name.endswith(".weight") and math.prod(s) == max(s):  # a normalisation's scale
                v = 1 + v / 4
        v.astype(np.float32).tofile(f"{folder}/initial/{name}")


def load(model, folder):
    """x, y and the initial parameters."""
    x = np.fromfile(f"{folder}/x", np.int32 if model in IDS else np.float32).reshape(-1, *sample_shape(model))
    return x, np.fromfile(f"{folder}/y", np.int32), parameters(model, f"{folder}/initial")


def parameters(model, folder):
    return {k: np.fromfile(f"{folder}/{k}", np.float32).reshape(s) for k, s in shapes(model).items()}


def save_sums(folder, who, sums):
    """Writes the gradient of the first samples, a whole expected batch, for compare.py to check."""
    os.makedirs(f"{folder}/sums/{who}")
    for name, v in sums.items():
        np.ascontiguousarray(v, np.float32).tofile(f"{folder}/sums/{who}/{name}")


def squared_shares(ids):
    """For each text the sum of its words' squared shares: the embedding's squared gradient is this times the mean's."""
    s = np.sort(ids, 1)
    first = np.diff(s, axis=1, prepend=-1) != 0
    counts = np.diff(np.append(np.flatnonzero(first.ravel()), s.size))
    row = np.nonzero(first)[0]
    return (np.bincount(row, counts.astype(np.float64) ** 2) / TOKENS**2).astype(np.float32)


def serve(step):
    """Takes steps for as long as each line of the standard input says, and answers samples and seconds."""
    for _ in range(5):  # what compiles for changing sizes of batches does it now
        step()
    print("ready", flush=True)
    for line in sys.stdin:
        seconds, samples, start = float(line.split()[1]), 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            samples += step()
        print(samples, time.perf_counter() - start, flush=True)
