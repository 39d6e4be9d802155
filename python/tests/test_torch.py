"""The modules of torch.nn, in the order of a model's layers and with its state, compute what dptrain computes."""

import json
import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import dptrain

FIXTURES = os.environ.get("DPTRAIN_FIXTURES")
try:
    import torch
    from torch import nn
except ImportError:
    torch = None


def module(layer, activation):
    """Returns the module that docs/model-format.md names for a layer."""
    kind = layer["kind"]
    if kind == "linear":
        return nn.Linear(layer["in"], layer["out"])
    if kind == "conv2d":
        return nn.Conv2d(layer["in"], layer["out"], layer["kernel"], layer["stride"], layer.get("padding", 0))
    if kind == "embedding":
        return nn.Embedding(layer["in"], layer["out"])
    if kind == "max_pool2d":
        return nn.MaxPool2d(layer["kernel"], layer["stride"])
    if kind == "activation":
        a = activation

        class Tempered(nn.Module):
            def forward(self, x):
                return a["scale"] * torch.sigmoid(a["temperature"] * x) - a["offset"]

        return Tempered()
    return {"flatten": nn.Flatten, "relu": nn.ReLU}[kind]()


@unittest.skipUnless(FIXTURES and torch, "DPTRAIN_FIXTURES isn't set, or there is no PyTorch")
class TestTorch(unittest.TestCase):
    def test_samples(self):
        seen = 0
        for folder in sorted(os.listdir(FIXTURES)):
            path = os.path.join(FIXTURES, folder, "computed.json")
            if not os.path.isfile(path):
                continue
            seen += 1
            with self.subTest(folder), open(path, encoding="utf-8") as file:
                computed = json.load(file)
                model = dptrain.load(os.path.dirname(path))
                n = len(computed["probabilities"])
                x = np.reshape(computed["inputs"], [n] + model.description["sample_shape"])
                if model.description.get("vocabulary"):
                    tokens = torch.tensor(x, dtype=torch.int64)
                    x = tokens
                else:
                    if model.description.get("image") and not model.description.get("features_of"):
                        x = model.encode(x.astype(np.uint8))
                    x = torch.tensor(x, dtype=torch.float32)
                missing = set(model.state)
                for layer in model.layers:
                    if layer["kind"] == "mean":
                        real = (tokens != 0).to(torch.float32)
                        x = (x * real[:, :, None]).sum(dim=1) / real.sum(dim=1, keepdim=True)
                        continue
                    step = module(layer, model.description["activation"])
                    state = {p: torch.tensor(model.state[layer["name"] + "." + p]) for p, _ in step.named_parameters()}
                    missing -= {layer["name"] + "." + p for p in state}
                    step.load_state_dict(state)
                    x = step(x)
                self.assertFalse(missing)
                np.testing.assert_allclose(x.detach().numpy(), np.reshape(computed["outputs"], (n, -1)), rtol=2e-5, atol=2e-5)
        self.assertGreater(seen, 4)


if __name__ == "__main__":
    unittest.main()
