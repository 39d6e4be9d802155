"""A siamese network: two images at a time pass through one network. Do they show the same digit?"""
import sys

import dp_accounting
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from jax_privacy import batch_selection, clipped_grad, noise_addition

import data

WIDTH = 16
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
RATE, NOISE = 0.02, 0.8
INITIAL = nn.initializers.variance_scaling(1 / 3, "fan_in", "uniform")  # PyTorch's: with Flax's own the distances begin too large


class Siamese(nn.Module):
    @nn.compact
    def __call__(self, images):
        x = images[..., None]  # of one pair, [2, 28, 28, 1]
        for channels, kernel in ((16, 5), (32, 3)):
            x = nn.relu(nn.Conv(channels, (kernel, kernel), strides=2, padding=kernel // 2, kernel_init=INITIAL)(x))
        x = nn.Dense(WIDTH, kernel_init=INITIAL)(x.reshape(2, -1))
        return jnp.sqrt(jnp.square(x[0] - x[1]).sum() + 1e-6)


def loss(p, images, same):
    """The contrastive loss of Hadsell, Chopra and LeCun (2006) with the margin 2."""
    distance = model.apply(p, images)
    return jnp.where(same, distance**2, jax.nn.relu(2 - distance) ** 2)


model = Siamese()
images, same, test_images, test_same = data.digits()
gradient = clipped_grad(loss, batch_argnums=(1, 2), keep_batch_dim=False, l2_clip_norm=1, normalize_by=RATE * len(same))
privatizer = noise_addition.gaussian_privatizer(stddev=NOISE * gradient.sensitivity())
optimizer = optax.chain(privatizer, optax.adam(0.002))


@jax.jit
def update(params, state, images, same, padding):
    updates, state = optimizer.update(gradient(params, images, same, is_padding_example=padding), state)
    return optax.apply_updates(params, updates), state


params = model.init(jax.random.key(0), images[0])
state = optimizer.init(params)
sampling = batch_selection.CyclicPoissonSampling(sampling_prob=RATE, iterations=STEPS)
for indices in sampling.batch_iterator(len(same)):
    indices = batch_selection.pad_to_multiple_of(indices, 32)
    params, state = update(params, state, images[indices], same[indices], indices == -1)

score = data.accuracy_of_pairs(jax.vmap(model.apply, (None, 0))(params, test_images), test_same)
accountant = dp_accounting.pld.PLDAccountant()
accountant.compose(dp_accounting.PoissonSampledDpEvent(RATE, dp_accounting.GaussianDpEvent(NOISE)), STEPS)
print(f"accuracy {score:.3f}, epsilon {accountant.get_epsilon(1e-5):.2f} at delta 1e-05")  # of a pair
