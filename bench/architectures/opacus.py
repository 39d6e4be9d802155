#!/usr/bin/env python3
"""Steps of Opacus on the networks of internal/enginetest/architectures.go, each in its fastest mode.

    OPACUS_PATH=/path/to/opacus:/path/to/opt_einsum bench/architectures/opacus.py NETWORK THREADS

prints the network, the threads, the fastest mode and samples per second of processor time: 2,048 synthetic samples at Poisson rate 1/16, with
clipping, noise and SGD's update, on batches that are drawn by index, without a data loader: the step alone. Every mode that
runs is measured by the median of five rounds, and the best is printed, the others to standard error. With one thread,
processor time is what a quiet machine would take. torch 1.13 or later; on 1.13 functorch stands for torch.func.
"""
import os
import sys
import time
import warnings

SAMPLES, RATE, CLIP, NOISE = 2048, 1 / 16, 1.0, 1.0


def prepare():
    for p in reversed([x for x in os.environ.get("OPACUS_PATH", "").split(os.pathsep) if x]):
        sys.path.insert(0, p)
    warnings.filterwarnings("ignore")
    import torch
    try:
        import torch.func  # noqa: F401
    except ImportError:
        import types

        import functorch
        from torch.nn.utils import stateless
        m = types.ModuleType("torch.func")
        m.grad, m.vmap = functorch.grad, functorch.vmap
        m.functional_call = lambda mod, params, args=(), kwargs=None: stateless.functional_call(mod, params, args, kwargs or {})
        sys.modules["torch.func"] = torch.func = m
    if not hasattr(torch.nn, "RMSNorm"):
        torch.nn.RMSNorm = type("RMSNorm", (torch.nn.Module,), {})
    return torch


def networks(torch):
    nn, F = torch.nn, torch.nn.functional

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.positions = nn.Embedding(1000, 64), nn.Embedding(32, 64)
            self.q, self.k, self.v, self.o = (nn.Linear(64, 64) for _ in range(4))
            self.up, self.down, self.out = nn.Linear(64, 128), nn.Linear(128, 64), nn.Linear(64, 4)
            self.first, self.second = nn.LayerNorm(64), nn.LayerNorm(64)

        def forward(self, ids):
            at = torch.arange(32).expand(ids.shape[0], 32)
            x = self.embedding(ids) + self.positions(at)
            head = lambda layer: layer(x).view(-1, 32, 4, 16).transpose(1, 2)
            mix = torch.softmax(head(self.q) @ head(self.k).transpose(2, 3) / 4, -1) @ head(self.v)
            x = self.first(x + self.o(mix.transpose(1, 2).reshape(-1, 32, 64)))
            x = self.second(x + self.down(torch.relu(self.up(x))))
            return self.out(x.mean(1))

    class GRU(nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.gru, self.out = kind(16, 64, batch_first=True), nn.Linear(64, 10)

        def forward(self, x):
            return self.out(self.gru(x)[0][:, -1])

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            conv = lambda n: nn.Sequential(nn.Conv2d(n, 16, 3, padding=1, bias=False), nn.GroupNorm(4, 16))
            self.first, self.out = conv(1), nn.Linear(16, 10)
            self.a, self.b = nn.ModuleList([conv(16), conv(16)]), nn.ModuleList([conv(16), conv(16)])

        def forward(self, x):
            h = torch.relu(self.first(x))
            for a, b in zip(self.a, self.b):
                h = F.max_pool2d(h, 2)
                h = torch.relu(h + b(torch.relu(a(h))))
            return self.out(h.mean((2, 3)))

    def gru():
        from opacus.layers import DPGRU
        return GRU(DPGRU)

    norms = lambda: nn.Sequential(nn.Linear(784, 256), nn.LayerNorm(256), nn.Tanh(), nn.Linear(256, 256), nn.LayerNorm(256), nn.Tanh(), nn.Linear(256, 10))
    floats = lambda *shape: torch.randn(SAMPLES, *shape)
    return {
        "attention": (Attention, lambda: torch.randint(0, 1000, (SAMPLES, 32)), 4),
        "gru": (gru, lambda: floats(16, 16), 10),
        "layer-norm": (norms, lambda: floats(784), 10),
        "residual-cnn": (Residual, lambda: floats(1, 28, 28), 10),
    }


def step_of(torch, mode, make, x, y):
    """Returns a function that takes one private step and returns the number of its samples."""
    import opacus
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(1)
    model = make()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    criterion = torch.nn.CrossEntropyLoss()
    extra = dict(criterion=criterion) if mode == "ghost" else {}
    made = opacus.PrivacyEngine(accountant="rdp").make_private(
        module=model, optimizer=optimizer, data_loader=DataLoader(TensorDataset(x, y), batch_size=int(SAMPLES * RATE)),
        noise_multiplier=NOISE, max_grad_norm=CLIP, grad_sample_mode=mode, **extra)
    if mode == "ghost":
        model, optimizer, criterion, _ = made
    else:
        model, optimizer, _ = made

    def step():
        i = (torch.rand(SAMPLES) < RATE).nonzero().squeeze(1)
        optimizer.zero_grad(set_to_none=True)
        criterion(model(x[i]), y[i]).backward()
        optimizer.step()
        return len(i)
    return step


def main():
    name, threads = sys.argv[1], int(sys.argv[2])
    torch = prepare()
    torch.set_num_threads(threads)
    make, inputs, outputs = networks(torch)[name]
    x, y = inputs(), torch.randint(0, outputs, (SAMPLES,))
    best = None
    for mode in ["hooks", "ew", "functorch", "ghost"]:
        try:
            step = step_of(torch, mode, make, x, y)
            for _ in range(3):
                step()
            rates = []
            for _ in range(5):
                start, n = time.process_time(), 0
                while time.process_time() - start < 0.7:
                    n += step()
                rates.append(n / (time.process_time() - start))
        except Exception as e:  # a mode that can't run a network, as Opacus says itself
            print(name, mode, "doesn't run:", str(e).splitlines()[0][:100] if str(e) else type(e).__name__, file=sys.stderr)
            continue
        rate = sorted(rates)[2]
        print(name, mode, f"{rate:.0f} samples/cpu-s", file=sys.stderr)
        if best is None or rate > best[0]:
            best = (rate, mode)
    print(name, threads, best[1], f"{best[0]:.0f}")


if __name__ == "__main__":
    main()
