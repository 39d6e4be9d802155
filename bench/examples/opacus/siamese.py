"""A siamese network: two images at a time pass through one network. Do they show the same digit?"""
import math
import sys

import torch
from opacus import PrivacyEngine
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import data

WIDTH = 16
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 1500


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(
            nn.Conv2d(1, 16, 5, stride=2, padding=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 7 * 7, WIDTH))

    def forward(self, images):
        # A pair is one sample, so the two images pass one after the other: as one batch they'd be two samples.
        square = (self.embed(images[:, :1]) - self.embed(images[:, 1:])).square().sum(1)
        return (square + 1e-6).sqrt()


def loss(distance, same):
    """The contrastive loss of Hadsell, Chopra and LeCun (2006) with the margin 2."""
    return (same * distance.square() + (1 - same) * F.relu(2 - distance).square()).mean()


images, same, test_images, test_same = map(torch.from_numpy, data.digits())
engine = PrivacyEngine()
model = Siamese()
model, optimizer, loader = engine.make_private(
    module=model, optimizer=torch.optim.Adam(model.parameters(), lr=0.002),
    data_loader=DataLoader(TensorDataset(images, same), batch_size=math.ceil(len(same) / 50)), noise_multiplier=0.8, max_grad_norm=1)
for _ in range(STEPS // len(loader)):
    for batch, targets in loader:
        optimizer.zero_grad()
        loss(model(batch), targets).backward()
        optimizer.step()
with torch.no_grad():
    score = data.accuracy_of_pairs(model(test_images).numpy(), test_same.numpy())
print(f"accuracy {score:.3f}, epsilon {engine.get_epsilon(1e-5):.2f} at delta 1e-05")  # of a pair
