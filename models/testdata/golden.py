"""Writes golden.json: outputs and per-sample gradients of PyTorch's layers, for TestLayersArePyTorchs."""
import json
import torch
from torch import nn
from torch.nn.functional import cross_entropy

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)  # values are rounded to single precision once, at the end
SAMPLES, TOKENS, INPUTS, WIDTH, HEADS, VOCABULARY = 2, 4, 2, 4, 2, 5
LENGTHS = [2, 3]
MASK = torch.tensor([[float(t < n) for t in range(TOKENS)] for n in LENGTHS])


def single(t):
    return t.detach().to(torch.float32).to(torch.float64)


def numbers(t):
    return [float(str(v)) for v in t.detach().to(torch.float32).numpy().flatten()]  # the shortest that reads as v


def randomise(module):
    for p in module.parameters():
        p.data = single(torch.randn_like(p) * 0.5)
    return module


def drawn(*shape):
    return single(torch.randn(*shape))


def graph_layout(name, t):
    """The layout of dptrain's parameter: matrices are transposed, but for an embedding."""
    return t.T if t.dim() == 2 and not name.startswith("embedding") else t


def case(name, parameters, inputs, f, squared=True):
    """f returns the output for the inputs of one sample, each with a batch of one. The cost is the sum of the squares
    of the output, or if not squared the output itself."""
    outputs, gradients = [], []
    for i in range(SAMPLES):
        out = f(*[x[i:i + 1] for x in inputs])
        cost = out.square().sum() if squared else out.sum()
        grads = torch.autograd.grad(cost, list(parameters.values()))
        outputs.append(numbers(out))
        gradients.append([numbers(graph_layout(n, g)) for n, g in zip(parameters, grads)])
    return {
        "name": name,
        "parameters": [{"name": n, "values": numbers(graph_layout(n, p))} for n, p in parameters.items()],
        "inputs": [[numbers(x[i]) for x in inputs] for i in range(SAMPLES)],
        "outputs": outputs,
        "gradients": gradients,
    }


def named(prefix, module):
    return {f"{prefix}.{n}": p for n, p in module.named_parameters()}


def recurrent(module, x, mask):
    """Outputs of a packed sequence; at padding, the output before it."""
    n = int(mask.sum())
    packed = nn.utils.rnn.pack_padded_sequence(x, [n], batch_first=True)
    out, _ = nn.utils.rnn.pad_packed_sequence(module(packed)[0], batch_first=True, total_length=TOKENS)
    return out[:, [min(t, n - 1) for t in range(TOKENS)]]


cases = []
x = drawn(SAMPLES, TOKENS, INPUTS)
for kind, module in ("lstm", nn.LSTM), ("gru", nn.GRU):
    m = randomise(module(INPUTS, WIDTH - 1, batch_first=True))
    cases.append(case(kind, named(kind, m), [x], lambda x: m(x)[0]))
    cases.append(case(kind + ", padded", named(kind, m), [x, MASK], lambda x, mask: recurrent(m, x, mask)))

m = randomise(nn.MultiheadAttention(WIDTH, HEADS, batch_first=True))
x = drawn(SAMPLES, TOKENS, WIDTH)
later = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)


def attend(x, mask=None, causal=False):
    padding = None if mask is None else mask == 0
    return m(x, x, x, key_padding_mask=padding, attn_mask=later if causal else None, need_weights=False)[0]


cases.append(case("attention", named("attention", m), [x], attend))
cases.append(case("attention, causal", named("attention", m), [x], lambda x: attend(x, causal=True)))
cases.append(case("attention, padded", named("attention", m), [x, MASK], attend))
cases.append(case("attention, causal and padded", named("attention", m), [x, MASK], lambda x, mask: attend(x, mask, True)))

norm = randomise(nn.LayerNorm(WIDTH))
cases.append(case("layer norm", named("norm", norm), [x], norm))

table = randomise(nn.Embedding(VOCABULARY, 2))
ids = torch.tensor([[0, 4, 4, 1], [3, 3, 3, 3]])
cases.append(case("embedding", named("embedding", table), [ids], table))

linear = randomise(nn.Linear(WIDTH, 3))
classes = torch.tensor([[0, 2, 2, 1], [1, 2, 0, 0]])
soft = single(torch.rand(SAMPLES, TOKENS, 3))


def classified(x, y, mask=None):
    logits = linear(x).transpose(1, 2)
    each = cross_entropy(logits, y if y.dim() == 2 else y.transpose(1, 2), reduction="none")
    return each.mean() if mask is None else (each * mask).sum() / mask.sum()


params = named("linear", linear)
cases.append(case("cross-entropy", params, [x, classes], classified, squared=False))
cases.append(case("cross-entropy, padded", params, [x, classes, MASK], classified, squared=False))
cases.append(case("cross-entropy of probabilities", params, [x, soft], classified, squared=False))

block = randomise(nn.TransformerEncoderLayer(WIDTH, HEADS, 3 * WIDTH // 2, dropout=0, norm_first=True, batch_first=True))
cases.append(case("block", named("block", block), [x], block))

with open("golden.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
print(torch.__version__)
