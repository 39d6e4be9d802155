"""torch_steps.py VARIANT MODEL BATCH FOLDER THREADS: steps of PyTorch.

np is without privacy, hand clips by norms without per-sample gradients (ghost clipping with book-keeping), vmap by
per-sample gradients. A c after these compiles, and cl at the end lays images out with channels last. opacus-MODE is Opacus
in a mode of its own, opake is opake. reference writes what the others' gradients must be, and the clipping norm.
"""
import math
import sys
import warnings
from collections import OrderedDict

warnings.filterwarnings("ignore")
import networks
import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

VARIANT, MODEL, FOLDER = sys.argv[1], sys.argv[2], sys.argv[4]
BATCH, OUTPUTS, NOISE = int(sys.argv[3]), networks.outputs(MODEL), 1.0
torch.set_num_threads(int(sys.argv[5]))
torch.manual_seed(1)
LAST = VARIANT.endswith("cl")
KIND = VARIANT.removesuffix("cl")


# --- the networks

class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 16, 8, 2, 3), nn.Conv2d(16, 32, 4, 2)
        self.fc1, self.fc2 = nn.Linear(512, 32), nn.Linear(32, 10)

    def forward(self, x):
        x = F.max_pool2d(torch.tanh(self.conv1(x)), 2, 1)
        x = F.max_pool2d(torch.tanh(self.conv2(x)), 2, 1)
        return self.fc2(torch.tanh(self.fc1(x.flatten(1))))


class Imdb(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.fc1, self.fc2 = nn.Embedding(networks.VOCABULARY, 16), nn.Linear(16, 16), nn.Linear(16, 2)

    def forward(self, ids):
        return self.fc2(torch.relu(self.fc1(self.embedding(ids).mean(1))))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(1000, 64), nn.Embedding(32, 64)
        self.q, self.k, self.v, self.o = (nn.Linear(64, 64) for _ in range(4))
        self.up, self.down, self.out = nn.Linear(64, 128), nn.Linear(128, 64), nn.Linear(64, 4)
        self.first, self.second = nn.LayerNorm(64), nn.LayerNorm(64)

    def forward(self, ids):
        if KIND.startswith("opacus"):  # it wants parameters within layers, and each sample's own copy of the positions
            x = self.embedding(ids) + self.positions(torch.arange(32).expand(len(ids), 32).contiguous())
        else:
            x = self.embedding(ids) + self.positions.weight
        q, k, v = (layer(x).view(-1, 32, 4, 16).transpose(1, 2) for layer in (self.q, self.k, self.v))
        if KIND.startswith(("np", "opacus")):  # torch's own is faster, but doesn't compile under vmap
            mixed = F.scaled_dot_product_attention(q, k, v)
        else:
            mixed = torch.softmax(q @ k.transpose(2, 3) / 4, -1) @ v
        x = self.first(x + self.o(mixed.transpose(1, 2).reshape(-1, 32, 64)))
        x = self.second(x + self.down(torch.relu(self.up(x))))
        return self.out(x.mean(1))


class GRU(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.gru, self.out = kind(16, 64, batch_first=True), nn.Linear(64, 10)

    def forward(self, x):
        return self.out(self.gru(x)[0][:, -1])


class OwnGRU(nn.Module):
    """The same out of dense layers, for vmap, which can't differentiate torch's own."""

    def __init__(self):
        super().__init__()
        self.ih, self.hh, self.out = nn.Linear(16, 192), nn.Linear(64, 192), nn.Linear(64, 10)

    def forward(self, x):
        inputs, h = self.ih(x), torch.zeros(len(x), 64)
        for t in range(16):
            (ar, az, an), (br, bz, bn) = inputs[:, t].chunk(3, -1), self.hh(h).chunk(3, -1)
            n = torch.tanh(an + torch.sigmoid(ar + br) * bn)
            h = n + torch.sigmoid(az + bz) * (h - n)
        return self.out(h)


def conv(inputs, outputs, side=3, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, side, stride, side // 2, bias=False), nn.GroupNorm(4, outputs))


class Residual(nn.Module):
    """rescnn pools before each block; resnet has strides and shortcuts."""

    def __init__(self, colours, blocks):
        super().__init__()
        self.first, self.out = conv(colours, 16), nn.Linear(blocks[-1][1], 10)
        self.a = nn.ModuleList(conv(i, o, 3, 1 if i == o else 2) for i, o in blocks)
        self.b = nn.ModuleList(conv(o, o) for _, o in blocks)
        self.s = nn.ModuleList(nn.Identity() if i == o else conv(i, o, 1, 2) for i, o in blocks)

    def forward(self, x):
        h = torch.relu(self.first(x))
        for a, b, s in zip(self.a, self.b, self.s):
            h = F.max_pool2d(h, 2) if MODEL == "rescnn" else h
            h = torch.relu(s(h) + b(torch.relu(a(h))))
        return self.out(h.mean((2, 3)))


def perceptron(widths, last, *norms):
    layers = OrderedDict()
    for i, (a, b) in enumerate(zip(widths, widths[1:-1]), 1):
        layers |= {f"fc{i}": nn.Linear(a, b)} | {f"n{i}": norm(b) for norm in norms} | {f"tanh{i}": nn.Tanh()}
    return nn.Sequential(layers | {last: nn.Linear(*widths[-2:])})


def build():
    if w := networks.widths(MODEL):
        return perceptron(w, f"fc{len(w) - 1}")
    if MODEL == "gru" and KIND.startswith("opacus"):
        from opacus.layers import DPGRU
        return GRU(DPGRU)
    return {"mnist": CNN, "imdb": Imdb, "attention": Attention,
            "layernorm": lambda: perceptron([784, 256, 256, 10], "out", nn.LayerNorm),
            "gru": OwnGRU if KIND in ("vmap", "vmapc", "opake") else lambda: GRU(nn.GRU),
            "rescnn": lambda: Residual(1, [(16, 16)] * 2),
            "resnet": lambda: Residual(3, [(16, 16), (16, 32), (32, 64)])}[MODEL]()


RENAMED = {"gru.weight_ih_l0": "ih.weight", "gru.weight_hh_l0": "hh.weight", "gru.bias_ih_l0": "ih.bias", "gru.bias_hh_l0": "hh.bias"}


def turned(name, value):
    """PyTorch's dense weights are [outputs, inputs]: it converts in both directions."""
    return value.T if initial[name].ndim == 2 and name.endswith(".weight") and name != "embedding.weight" else value


x, y, initial = networks.load(MODEL, FOLDER)
x, y = torch.from_numpy(x), torch.from_numpy(y).long()
model = build()
names = [RENAMED.get(k, k) for k, _ in model.named_parameters()]
params = [p for _, p in model.named_parameters()]
with torch.no_grad():
    for k, p in zip(names, params):
        p.copy_(torch.from_numpy(turned(k, initial[k]).copy()).view(p.shape))
if LAST:
    model, x = (v.to(memory_format=torch.channels_last) for v in (model, x))
optimizer = torch.optim.SGD(params, lr=0.01)
criterion = nn.CrossEntropyLoss()
samples, rate = len(x), BATCH / len(x)


def save(who, gradients):
    """Gradients in the order of params."""
    networks.save_sums(FOLDER, who, {k: turned(k, g.reshape(p.shape).numpy()) for k, g, p in zip(names, gradients, params)})


def draw():
    return (torch.rand(samples) < rate).nonzero().squeeze(1)


# --- the clipped sums of private steps, in the order of params

def factors(squares):
    return (CLIP / squares.sqrt()).clamp(max=1.0)


def square(v):
    return v.square().sum(1)


@torch.enable_grad()
def hand_cnn(i):
    w1, b1, w2, b2, w3, b3, w4, b4 = (p.detach() for p in params)
    xb = x[i]
    z1 = F.conv2d(xb, w1, b1, 2, 3).requires_grad_()
    a1 = F.max_pool2d(torch.tanh(z1), 2, 1)
    z2 = F.conv2d(a1, w2, b2, 2)
    a2 = F.max_pool2d(torch.tanh(z2), 2, 1).flatten(1)
    z3 = F.linear(a2, w3, b3)
    a3 = torch.tanh(z3)
    z4 = F.linear(a3, w4, b4)
    g1, g2, g3, g4 = torch.autograd.grad(F.cross_entropy(z4, y[i], reduction="sum"), [z1, z2, z3, z4])
    with torch.no_grad():  # the convolutions' gradients are small, so each sample's is made and kept
        g1, g2 = g1.flatten(2), g2.flatten(2)
        d1 = torch.bmm(g1, F.unfold(xb, 8, padding=3, stride=2).transpose(1, 2)).flatten(1)
        d2 = torch.bmm(g2, F.unfold(a1, 4, stride=2).transpose(1, 2)).flatten(1)
        e1, e2 = g1.sum(2), g2.sum(2)
        c = factors(sum(map(square, (d1, e1, d2, e2))) + square(g3) * (1 + square(a2)) + square(g4) * (1 + square(a3)))
        g3, g4 = g3 * c[:, None], g4 * c[:, None]
        return [(c @ d1).view_as(w1), c @ e1, (c @ d2).view_as(w2), c @ e2, g3.T @ a2, g3.sum(0), g4.T @ a3, g4.sum(0)]


def errors(z, labels):
    """The gradient of the loss at the logits."""
    return torch.softmax(z, 1) - F.one_hot(labels, OUTPUTS).to(z.dtype)


def perceptron_sums(ps, a, labels):
    # The backward pass is written out, so that one compiled graph holds it all.
    acts, layers = [a], len(ps) // 2
    for k in range(layers):
        z = torch.addmm(ps[2 * k + 1], acts[-1], ps[2 * k].T)
        if k < layers - 1:
            acts.append(torch.tanh(z))
    gs = [errors(z, labels)]
    for k in range(layers - 1, 0, -1):
        gs.insert(0, (gs[0] @ ps[2 * k]) * (1 - acts[k].square()))
    c = factors(sum(square(g) * (1 + square(a)) for a, g in zip(acts, gs)))[:, None]
    return [s for a, g in zip(acts, gs) for s in ((g * c).T @ a, (g * c).sum(0))]


def imdb_sums(ps, ids, labels, shares):
    table, w1, b1, w2, b2 = ps
    e = F.embedding(ids, table).mean(1) if KIND == "handc" else F.embedding_bag(ids, table, mode="mean")
    z1 = torch.addmm(b1, e, w1.T)
    h = torch.relu(z1)
    g2 = errors(torch.addmm(b2, h, w2.T), labels)
    g1 = (g2 @ w2) * (z1 > 0)
    ge = g1 @ w1
    c = factors(square(ge) * shares + square(g1) * (1 + square(e)) + square(g2) * (1 + square(h)))[:, None]
    g1, g2 = g1 * c, g2 * c
    each = (ge * c / networks.TOKENS).unsqueeze(1).expand(-1, networks.TOKENS, -1)
    if KIND == "handc":
        rows = torch.ops.aten.embedding_dense_backward(each, ids, networks.VOCABULARY, -1, False)
    else:
        rows = torch.zeros_like(table).index_add_(0, ids.flatten(), each.flatten(0, 1))
    return [rows, g1.T @ e, g1.sum(0), g2.T @ h, g2.sum(0)]


def hand():
    if MODEL == "mnist":
        return hand_cnn
    shares = torch.from_numpy(networks.squared_shares(x.numpy())) if MODEL == "imdb" else None
    sums = imdb_sums if MODEL == "imdb" else perceptron_sums
    if KIND == "handc":
        sums = torch.compile(sums, dynamic=True)

    return lambda i: sums([p.detach() for p in params], x[i], y[i], *([] if shares is None else [shares[i]]))


def loss_of(ps, a, label):
    return F.cross_entropy(functional_call(model, ps, (a.unsqueeze(0),)), label.unsqueeze(0))


def values():
    return {k: p.detach() for k, p in model.named_parameters()}


def by_vmap():
    def sums(ps, a, labels):
        g = vmap(grad(loss_of), (None, 0, 0))(ps, a, labels)
        c = factors(sum(square(v.flatten(1)) for v in g.values()))
        return [(c @ v.flatten(1)).view(v.shape[1:]) for v in g.values()]
    if KIND == "vmapc":
        sums = torch.compile(sums, dynamic=False)
    return lambda i: sums(values(), x[i], y[i])


@torch.no_grad()
def private():
    sums = hand() if KIND.startswith("hand") else by_vmap()
    save(VARIANT, sums(torch.arange(BATCH)))

    @torch.no_grad()
    def step():
        # A compiled vmap takes one size of batch: a fixed one is its best case.
        i = torch.randint(0, samples, (BATCH,)) if KIND == "vmapc" else draw()
        optimizer.zero_grad(set_to_none=True)
        for p, s in zip(params, sums(i)):
            p.grad = s.add_(torch.randn_like(s), alpha=NOISE * CLIP).div_(BATCH)
        optimizer.step()
        return len(i)
    return step


def plain():
    loss = lambda i: criterion(model(x[i]), y[i])
    if KIND == "npc":
        compiled = torch.compile(lambda a, b: criterion(model(a), b))
        loss = lambda i: compiled(x[i], y[i])

    def step(i=None):
        i = torch.randint(0, samples, (BATCH,)) if i is None else i
        optimizer.zero_grad(set_to_none=True)
        loss(i).backward()
        optimizer.step()
        return BATCH
    step(torch.arange(BATCH))
    save(VARIANT, [p.grad * BATCH for p in params])
    return step


def by_opacus():
    import opacus
    from torch.utils.data import DataLoader, TensorDataset
    mode = KIND.removeprefix("opacus-")
    made = opacus.PrivacyEngine(accountant="rdp").make_private(
        module=model, optimizer=optimizer, data_loader=DataLoader(TensorDataset(x, y), batch_size=BATCH), noise_multiplier=0.0,
        max_grad_norm=CLIP, grad_sample_mode=mode, **({"criterion": criterion} if mode == "ghost" else {}))
    wrapped, private_optimizer, loss = made[0], made[1], made[2] if mode == "ghost" else criterion

    def step(i=None):
        i = draw() if i is None else i
        private_optimizer.zero_grad(set_to_none=True)
        loss(wrapped(x[i]), y[i]).backward()
        private_optimizer.step()
        return len(i)
    step(torch.arange(BATCH))
    save(VARIANT, [p.grad * private_optimizer.expected_batch_size for p in params])
    private_optimizer.noise_multiplier = NOISE
    return step


def by_opake():
    from opake.dpsgd.clipping import clipped_grad
    from opake.dpsgd.noise import gaussian_noise
    from opake.random import key
    gradient, clipping = clipped_grad(loss_of, clipping_norm=CLIP, batch_argnums=(1, 2), normalize_by=BATCH)
    add_noise, noise = gaussian_noise(noise_multiplier=NOISE, key=key(1))
    ps = values()
    sums, clipping = gradient(ps, x[:BATCH], y[:BATCH], state=clipping)
    save(VARIANT, [v.detach() * BATCH for v in sums.pytree.values()])

    def step():
        nonlocal ps, clipping, noise
        i = draw()
        mean, clipping = gradient(ps, x[i], y[i], state=clipping)
        mean, noise = add_noise(mean, noise)
        ps = {k: ps[k] - 0.01 * v for k, v in mean.pytree.items()}
        return len(i)
    return step


def reference():
    """By autograd, sample after sample. The median norm clips: half of the samples then test the factors."""
    gradients, norms = [], []
    for clip in (None, "median"):
        sums = [torch.zeros_like(p) for p in params]
        for j in range(BATCH):
            gs = torch.autograd.grad(F.cross_entropy(model(x[j:j + 1]), y[j:j + 1]), params)
            if clip is None:
                norms.append(math.sqrt(sum(g.double().square().sum().item() for g in gs)))
            factor = 1.0 if clip is None else min(1.0, sorted(norms)[BATCH // 2] / norms[j])
            for s, g in zip(sums, gs):
                s.add_(g, alpha=factor)
        save("reference" if clip else "plain", sums)
    with open(f"{FOLDER}/clip", "w") as f:
        f.write(repr(sorted(norms)[BATCH // 2]))


if VARIANT == "reference":
    reference()
    sys.exit()
with open(f"{FOLDER}/clip") as f:
    CLIP = float(f.read())
make_step = {"np": plain, "npc": plain, "opake": by_opake}.get(KIND, by_opacus if KIND.startswith("opacus") else private)
networks.serve(make_step())
