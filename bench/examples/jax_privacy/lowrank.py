"""A network of public images, MNIST's, is fitted to private ones, FashionMNIST's, by updates of low rank.

The public weights W are frozen, and x·W + x·A·B is what is trained.
"""
import sys

import dp_accounting
import jax
import optax
from flax import linen as nn
from jax_privacy import batch_selection, clipped_grad, noise_addition

import data

INPUTS, HIDDEN, CLASSES, RANK = 784, 256, 10, 8
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
RATE, NOISE = 0.02, 0.8


class Network(nn.Module):
    @nn.compact
    def __call__(self, x, public=None):
        x = x.reshape(INPUTS)
        for name in ("fc1", "fc2"):
            if public:
                w = public["params"][name]
                down = nn.Dense(RANK, use_bias=False, kernel_init=nn.initializers.normal(1 / RANK))(x)
                x = nn.tanh(x @ w["kernel"] + w["bias"] + nn.Dense(HIDDEN, use_bias=False, kernel_init=nn.initializers.zeros)(down))
            else:
                x = nn.tanh(nn.Dense(HIDDEN, name=name)(x))
        return nn.Dense(CLASSES)(x)


def fit(x, y, noise, rate, public=None):
    """Without noise there is no privacy."""
    def loss(p, x, y):
        return optax.softmax_cross_entropy_with_integer_labels(model.apply(p, x, public), y)

    @jax.jit
    def update(params, state, x, y, padding):
        updates, state = optimizer.update(gradient(params, x, y, is_padding_example=padding), state)
        return optax.apply_updates(params, updates), state

    gradient = clipped_grad(loss, batch_argnums=(1, 2), keep_batch_dim=False, l2_clip_norm=1, normalize_by=RATE * len(x))
    privatizer = noise_addition.gaussian_privatizer(stddev=noise * gradient.sensitivity())
    optimizer = optax.chain(privatizer, optax.adam(rate))
    params = model.init(jax.random.key(0), x[0], public)
    state = optimizer.init(params)
    sampling = batch_selection.CyclicPoissonSampling(sampling_prob=RATE, iterations=STEPS)
    for indices in sampling.batch_iterator(len(x)):
        indices = batch_selection.pad_to_multiple_of(indices, 32)
        params, state = update(params, state, x[indices], y[indices], indices == -1)
    return params


model = Network()
x, y, _, _ = data.images("mnist")
public = fit(x, y, 0, 0.001)
x, y, test_x, test_y = data.images("fashion-mnist")
params = fit(x, y, NOISE, 0.003, public)
score = data.accuracy(jax.vmap(model.apply, (None, 0, None))(params, test_x, public), test_y)
accountant = dp_accounting.pld.PLDAccountant()
accountant.compose(dp_accounting.PoissonSampledDpEvent(RATE, dp_accounting.GaussianDpEvent(NOISE)), STEPS)
print(f"accuracy {score:.3f}, epsilon {accountant.get_epsilon(1e-5):.2f} at delta 1e-05")
