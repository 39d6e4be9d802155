"""A causal language model of film reviews by one transformer block: its table of words is also its last layer."""
import sys

import torch
from opacus import PrivacyEngine
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import data

VOCABULARY, TOKENS, WIDTH = 2048, 32, 64
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 600


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(TOKENS, WIDTH)
        self.block = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0, norm_first=True)
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        nn.init.normal_(self.table.weight, std=0.1)
        nn.init.normal_(self.positions.weight, std=0.1)
        self.out.weight = self.table.weight

    def forward(self, words):
        # [tokens, batch, width]: with batch_first, Opacus's attention has "The size of the 2D attn_mask is not correct."
        x = self.table(words.T) + self.positions(torch.arange(TOKENS).expand_as(words).T)
        x = self.block(x, torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1))  # each token attends to earlier ones
        return self.out(self.norm(x)).transpose(0, 1)


def loss(logits, following, mask):
    costs = F.cross_entropy(logits.transpose(1, 2), following, reduction="none")
    return ((costs * mask).sum(1) / mask.sum(1).clamp(min=1)).mean()


words, following, mask, test_words, test_following, test_mask = map(torch.from_numpy, data.sequences(TOKENS, VOCABULARY))
engine = PrivacyEngine()
model = engine.get_compatible_module(Language())
model, optimizer, loader = engine.make_private(
    module=model, optimizer=torch.optim.Adam(model.parameters(), lr=0.003),
    data_loader=DataLoader(TensorDataset(words, following, mask), batch_size=500), noise_multiplier=0.7, max_grad_norm=1, batch_first=False)
for _ in range(STEPS // len(loader)):
    for batch, targets, weights in loader:
        optimizer.zero_grad()
        loss(model(batch), targets, weights).backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    score = data.next_words(model(test_words).numpy(), test_following.numpy(), test_mask.numpy())
print(f"accuracy {score:.3f}, epsilon {engine.get_epsilon(1e-5):.2f} at delta 1e-05")
