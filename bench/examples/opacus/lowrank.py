"""A network of public images, MNIST's, is fitted to private ones, FashionMNIST's, by updates of low rank.

The public weights W are frozen, and x·W + x·A·B is what is trained.
"""
import sys

import torch
from opacus import PrivacyEngine
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import data

INPUTS, HIDDEN, CLASSES, RANK = 784, 256, 10, 8
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 1500


class Adapted(nn.Module):
    """x·W + x·A·B + the bias, where A·B is 0 at first."""

    def __init__(self, linear):
        super().__init__()
        self.frozen = linear.requires_grad_(False)
        self.down = nn.Linear(linear.in_features, RANK, bias=False)
        self.up = nn.Linear(RANK, linear.out_features, bias=False)
        nn.init.normal_(self.down.weight, std=1 / RANK)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.frozen(x) + self.up(self.down(x))


def network(fc1, fc2):
    return nn.Sequential(nn.Flatten(), fc1, nn.Tanh(), fc2, nn.Tanh(), nn.Linear(HIDDEN, CLASSES))


def fit(model, optimizer, loader):
    for _ in range(STEPS // len(loader)):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()


x, y, _, _ = map(torch.from_numpy, data.images("mnist"))
public = network(nn.Linear(INPUTS, HIDDEN), nn.Linear(HIDDEN, HIDDEN))
loader = DataLoader(TensorDataset(x, y), batch_size=1200, shuffle=True)
fit(public, torch.optim.Adam(public.parameters(), lr=0.001), loader)

x, y, test_x, test_y = map(torch.from_numpy, data.images("fashion-mnist"))
model = network(Adapted(public[1]), Adapted(public[3]))
engine = PrivacyEngine()
model, optimizer, loader = engine.make_private(
    module=model, optimizer=torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=0.003),
    data_loader=DataLoader(TensorDataset(x, y), batch_size=1200), noise_multiplier=0.8, max_grad_norm=1)
fit(model, optimizer, loader)
with torch.no_grad():
    score = data.accuracy(model(test_x).numpy(), test_y.numpy())
print(f"accuracy {score:.3f}, epsilon {engine.get_epsilon(1e-5):.2f} at delta 1e-05")
