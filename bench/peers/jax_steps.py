"""jax_steps.py VARIANT MODEL BATCH FOLDER: steps of JAX.

jnp is without privacy, jghost clips by norms without per-sample gradients (perceptrons and imdb), and jpriv is
jax-privacy, jpriv-M in microbatches of M. Every batch has the expected size, so that XLA compiles one shape: its best case.
"""
import sys

import jax
import jax.numpy as jnp
import networks
import numpy as np

VARIANT, MODEL, BATCH, FOLDER = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
KIND, _, MICROBATCH = VARIANT.partition("-")
NOISE, RATE = 1.0, 0.01
with open(f"{FOLDER}/clip") as f:
    CLIP = float(f.read())


# Images and convolutions have their channels last. The CNN's first dense layer follows the order of its pixels.
def ours(name, v):
    if v.ndim == 4 and name.endswith("weight") and v.shape[0] > 1:
        return v.transpose(2, 3, 1, 0)
    if MODEL == "mnist" and name == "fc1.weight":
        return v.reshape(32, 4, 4, 32).transpose(1, 2, 0, 3).reshape(512, 32)
    return v.reshape(-1) if v.shape[0] == 1 and MODEL != "attention" or name.endswith("bias") else v


def theirs(name, v):
    if v.ndim == 4:
        return v.transpose(3, 2, 0, 1)
    if MODEL == "mnist" and name == "fc1.weight":
        return v.reshape(4, 4, 32, 32).transpose(2, 0, 1, 3)
    return v


def dense(p, name, x):
    return x @ p[f"{name}.weight"] + p[f"{name}.bias"]


def conv(x, w, stride, pad):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), [(pad, pad)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pool(x, side, stride):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, side, side, 1), (1, stride, stride, 1), "VALID")


def normal(x, axes):
    return (x - x.mean(axes, keepdims=True)) * jax.lax.rsqrt(x.var(axes, keepdims=True) + 1e-5)


def layer_norm(p, name, x):
    return normal(x, -1) * p[f"{name}.weight"] + p[f"{name}.bias"]


def normed_conv(p, name, x, stride=1):
    w = p[f"{name}.0.weight"]
    h = conv(x, w, stride, w.shape[0] // 2)
    groups = normal(h.reshape(*h.shape[:3], 4, -1), (1, 2, 4)).reshape(h.shape)
    return groups * p[f"{name}.1.weight"] + p[f"{name}.1.bias"]


def mnist(p, x):
    x = pool(jnp.tanh(conv(x, p["conv1.weight"], 2, 3) + p["conv1.bias"]), 2, 1)
    x = pool(jnp.tanh(conv(x, p["conv2.weight"], 2, 0) + p["conv2.bias"]), 2, 1)
    return dense(p, "fc2", jnp.tanh(dense(p, "fc1", x.reshape(len(x), -1))))


def perceptron(p, x):
    for i in range(1, LAYERS):
        x = jnp.tanh(dense(p, f"fc{i}", x))
    return dense(p, f"fc{LAYERS}", x)


def imdb(p, ids):
    return dense(p, "fc2", jax.nn.relu(dense(p, "fc1", p["embedding.weight"][ids].mean(1))))


def attention(p, ids):
    x = p["embedding.weight"][ids] + p["positions.weight"]
    q, k, v = (dense(p, name, x).reshape(-1, 32, 4, 16).transpose(0, 2, 1, 3) for name in "qkv")
    mixed = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / 4, -1) @ v
    x = layer_norm(p, "first", x + dense(p, "o", mixed.transpose(0, 2, 1, 3).reshape(-1, 32, 64)))
    x = layer_norm(p, "second", x + dense(p, "down", jax.nn.relu(dense(p, "up", x))))
    return dense(p, "out", x.mean(1))


def gru(p, x):
    inputs, h = dense(p, "ih", x), jnp.zeros((len(x), 64))
    for t in range(16):
        (ar, az, an), (br, bz, bn) = jnp.split(inputs[:, t], 3, -1), jnp.split(dense(p, "hh", h), 3, -1)
        n = jnp.tanh(an + jax.nn.sigmoid(ar + br) * bn)
        h = n + jax.nn.sigmoid(az + bz) * (h - n)
    return dense(p, "out", h)


def layernorm(p, x):
    for i in (1, 2):
        x = jnp.tanh(layer_norm(p, f"n{i}", dense(p, f"fc{i}", x)))
    return dense(p, "out", x)


def residual(p, x):
    h = jax.nn.relu(normed_conv(p, "first", x))
    for i in range(sum(k.startswith("a.") and k.endswith(".0.weight") for k in p)):
        h = pool(h, 2, 2) if MODEL == "rescnn" else h
        stride = 2 if f"s.{i}.0.weight" in p else 1
        inner = normed_conv(p, f"b.{i}", jax.nn.relu(normed_conv(p, f"a.{i}", h, stride)))
        h = jax.nn.relu((normed_conv(p, f"s.{i}", h, stride) if stride == 2 else h) + inner)
    return dense(p, "out", h.mean((1, 2)))


NETWORKS = {"mnist": mnist, "imdb": imdb, "attention": attention, "gru": gru, "layernorm": layernorm, "rescnn": residual, "resnet": residual}
LAYERS = len(networks.widths(MODEL) or []) - 1
forward = NETWORKS.get(MODEL, perceptron)

x, y, initial = networks.load(MODEL, FOLDER)
samples = len(x)
if x.ndim == 4:
    x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
shares = jnp.asarray(networks.squared_shares(x)) if MODEL == "imdb" else None
data = (jnp.asarray(x), jnp.asarray(y))
params = {k: jnp.asarray(ours(k, v)) for k, v in initial.items()}


def losses(p, xb, yb):
    return -jnp.take_along_axis(jax.nn.log_softmax(forward(p, xb)), yb[:, None], 1)[:, 0]


# --- the sums of private steps

def square(v):
    return jnp.square(v).reshape(len(v), -1).sum(1)


def factors(squares):
    return jnp.minimum(1.0, CLIP * jax.lax.rsqrt(squares))


def errors(z, yb):
    return jax.nn.softmax(z) - jax.nn.one_hot(yb, networks.outputs(MODEL))


def ghost_perceptron(p, xb, yb, _):
    acts = [xb]
    for i in range(1, LAYERS):
        acts.append(jnp.tanh(dense(p, f"fc{i}", acts[-1])))
    gs = [errors(dense(p, f"fc{LAYERS}", acts[-1]), yb)]
    for i in range(LAYERS - 1, 0, -1):
        gs.insert(0, (gs[0] @ p[f"fc{i + 1}.weight"].T) * (1 - jnp.square(acts[i])))
    c = factors(sum(square(g) * (1 + square(a)) for a, g in zip(acts, gs)))[:, None]
    return {k: v for i, (a, g) in enumerate(zip(acts, gs), 1) for k, v in [(f"fc{i}.weight", a.T @ (g * c)), (f"fc{i}.bias", (g * c).sum(0))]}


def ghost_imdb(p, ids, yb, share):
    e, back = jax.vjp(lambda table: table[ids].mean(1), p["embedding.weight"])
    z1 = dense(p, "fc1", e)
    h = jax.nn.relu(z1)
    g2 = errors(dense(p, "fc2", h), yb)
    g1 = (g2 @ p["fc2.weight"].T) * (z1 > 0)
    ge = g1 @ p["fc1.weight"].T
    c = factors(square(ge) * share + square(g1) * (1 + square(e)) + square(g2) * (1 + square(h)))[:, None]
    return {"embedding.weight": back(ge * c)[0], "fc1.weight": e.T @ (g1 * c), "fc1.bias": (g1 * c).sum(0),
            "fc2.weight": h.T @ (g2 * c), "fc2.bias": (g2 * c).sum(0)}


def by_jax_privacy():
    import jax_privacy
    clipped = jax_privacy.clipped_grad(
        lambda p, a, b: losses(p, a, b)[0], l2_clip_norm=CLIP, batch_argnums=(1, 2), normalize_by=1.0,
        microbatch_size=int(MICROBATCH) if MICROBATCH else None)
    return lambda p, xb, yb, _: clipped(p, xb, yb)


def plain(p, xb, yb, _):
    return jax.grad(lambda p: losses(p, xb, yb).sum())(p)


sums = {"jnp": lambda: plain, "jpriv": by_jax_privacy,
        "jghost": lambda: ghost_imdb if MODEL == "imdb" else ghost_perceptron}[KIND]()


def updates():
    """The function that turns sums into the next parameters, and its state."""
    if KIND == "jnp":
        return lambda p, g, key, state: ({k: p[k] - RATE / BATCH * g[k] for k in p}, state), ()
    if KIND != "jpriv":
        def noisy(p, g, key, state):
            keys = jax.random.split(key, len(p))
            return {k: p[k] - RATE / BATCH * (g[k] + NOISE * CLIP * jax.random.normal(r, g[k].shape)) for k, r in zip(p, keys)}, state
        return noisy, ()
    import optax
    from jax_privacy import noise_addition
    noise = noise_addition.gaussian_privatizer(stddev=NOISE * CLIP, prng_key=jax.random.key(3))
    optimizer = optax.sgd(RATE)

    def update(p, g, key, state):
        g, first = noise.update(g, state[0])
        change, second = optimizer.update({k: v / BATCH for k, v in g.items()}, state[1], p)
        return optax.apply_updates(p, change), (first, second)
    return update, (noise.init(params), optimizer.init(params))


def batch_sums(p, data, i):
    return sums(p, data[0][i], data[1][i], None if shares is None else shares[i])


update, state = updates()
# The data are arguments: as constants of the compiled step they would slow its compilation.
advance = jax.jit(lambda p, state, data, i, key: update(p, batch_sums(p, data, i), key, state), donate_argnums=(0, 1))
rng, key, taken = np.random.default_rng(7), jax.random.key(1), 0
first = jax.jit(batch_sums)(params, data, jnp.arange(BATCH))
networks.save_sums(FOLDER, VARIANT, {k: theirs(k, np.asarray(v)) for k, v in first.items()})


def step():
    global params, state, taken
    taken += 1
    i = rng.integers(0, samples, BATCH)
    if KIND != "jnp":  # a Poisson sample, cut or filled up to the size
        drawn = np.flatnonzero(rng.random(samples, np.float32) < BATCH / samples)[:BATCH]
        i[:len(drawn)] = drawn
    params, state = advance(params, state, data, i.astype(np.int32), jax.random.fold_in(key, taken))
    jax.block_until_ready(params)
    return BATCH


networks.serve(step)
