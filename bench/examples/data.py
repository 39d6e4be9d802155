"""What the programs read and measure, as data.go of the examples does: the same samples in the same order.

Images are normalised, [n, 28, 28]; texts are tokens of bert-base-cased. DPTRAIN_DATA is the folder of the data sets.
"""
import gzip
import os
from pathlib import Path

import numpy as np

# UNKNOWN stands for padding and for rare words. Ids are those of BERT's vocabulary, which has frequent words first.
UNKNOWN = 100
NORMAL = {"mnist": (0.1307, 0.3081), "fashion-mnist": (0.2860, 0.3530)}
PARTS = {"train": "train", "t10k": "test"}


def folder(name):
    return Path(os.environ["DPTRAIN_DATA"]) / name


def images(name):
    """Returns the training images and labels, and the test's."""
    def read(file, header):
        with gzip.open(folder(name) / f"{file}-ubyte.gz") as f:
            return np.frombuffer(f.read(), np.uint8, offset=header)
    mean, deviation = NORMAL[name]
    arrays = []
    for part in PARTS:
        x = read(f"{part}-images-idx3", 16).reshape(-1, 28, 28).astype(np.float32)
        arrays += [(x / 255 - np.float32(mean)) / np.float32(deviation), read(f"{part}-labels-idx1", 8).astype(np.int64)]
    return arrays


def pairs(x, y):
    """Makes pairs of the same digit of the first half of the images, and of different ones of the second."""
    chosen, waiting, half = [], {}, len(y) // 2
    for i, label in enumerate(y[:half]):
        if label in waiting:
            chosen.append((waiting.pop(label), i, 1))
        else:
            waiting[label] = i
    chosen += [(i, i + 1, 0) for i in range(half, len(y) - 1, 2) if y[i] != y[i + 1]]
    a, b, same = np.array(chosen).T
    return np.stack([x[a], x[b]], 1), same.astype(np.float32)


def digits():
    """Returns pairs of MNIST's images [n, 2, 28, 28], and 1 for pairs of the same digit, and the test's."""
    x, y, test_x, test_y = images("mnist")
    return *pairs(x, y), *pairs(test_x, test_y)


def tokens(part, length):
    """Returns the tokens of IMDB's texts [25000, length], padded with 0: first all negative ones, then all positive."""
    from tokenizers import BertWordPieceTokenizer
    tokeniser = BertWordPieceTokenizer(str(folder("imdb") / "vocab.txt"), lowercase=False, strip_accents=False)
    tokeniser.enable_truncation(length)
    tokeniser.enable_padding(length=length)
    paths = [p for c in ("neg", "pos") for p in sorted((folder("imdb") / "aclImdb" / part / c).glob("*.txt"), key=lambda p: p.name)]
    texts = tokeniser.encode_batch([p.read_text("utf-8", "ignore") for p in paths])
    return np.array([t.ids for t in texts])


def reviews(length):
    """Returns the tokens, the weights of these in a mean, 0 for padding, and the classes, and the test's."""
    arrays = []
    for part in PARTS.values():
        ids = tokens(part, length)
        present = (ids > 0).astype(np.float32)
        arrays += [ids, present / present.sum(1, keepdims=True), np.repeat([0, 1], len(ids) // 2)]
    return arrays


def sequences(length, vocabulary):
    """Returns the first words of IMDB's reviews, the words that follow them, and a mask of these, and of every 25th test review."""
    arrays = []
    for part, every in zip(PARTS.values(), (1, 25)):
        ids = tokens(part, length + 2)[::every, :length + 1]  # [CLS] and [SEP] too
        ids = np.where((ids == 0) | (ids >= vocabulary), UNKNOWN, ids)
        arrays += [ids[:, :-1], ids[:, 1:], (ids[:, 1:] != UNKNOWN).astype(np.float32)]
    return arrays


def accuracy(outputs, y):
    return np.mean(np.argmax(outputs, -1) == y)


def next_words(outputs, following, mask):
    """Returns the share of known words that are foretold."""
    return np.sum((np.argmax(outputs, -1) == following) * mask) / np.sum(mask)


def accuracy_of_pairs(distances, same):
    """Returns the share of pairs whose distance is on the right side of half the margin."""
    return np.mean((distances < 1) == (same == 1))
