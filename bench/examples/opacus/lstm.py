"""A recurrent network over padded texts: is a review of a film good or bad?"""
import sys

import torch
from opacus import PrivacyEngine
from opacus.layers import DPLSTM
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import data

VOCABULARY, TOKENS, WIDTH = 28996, 96, 16
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 1500


class Reviews(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.lstm = DPLSTM(WIDTH, WIDTH, batch_first=True)
        self.out = nn.Linear(WIDTH, 2)

    def forward(self, ids, weights):
        states, _ = self.lstm(self.words(ids))  # those of padding, which comes last, have the weight 0
        return self.out((states * weights[:, :, None]).sum(1))  # of the mean state


ids, weights, y, test_ids, test_weights, test_y = map(torch.from_numpy, data.reviews(TOKENS))
engine = PrivacyEngine()
model = Reviews()
model, optimizer, loader = engine.make_private(
    module=model, optimizer=torch.optim.Adam(model.parameters(), lr=0.02),
    data_loader=DataLoader(TensorDataset(ids, weights, y), batch_size=500), noise_multiplier=0.8, max_grad_norm=1)
for _ in range(STEPS // len(loader)):
    for batch, shares, labels in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(batch, shares), labels).backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    score = data.accuracy(model(test_ids, test_weights).numpy(), test_y.numpy())
print(f"accuracy {score:.3f}, epsilon {engine.get_epsilon(1e-5):.2f} at delta 1e-05")
