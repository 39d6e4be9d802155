"""A causal language model of film reviews by one transformer block: its table of words is also its last layer."""
import sys

import dp_accounting
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from jax_privacy import batch_selection, clipped_grad, noise_addition

import data

VOCABULARY, TOKENS, WIDTH = 2048, 32, 64
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 600
RATE, NOISE = 0.02, 0.7


class Language(nn.Module):
    @nn.compact
    def __call__(self, words):
        table = nn.Embed(VOCABULARY, WIDTH, embedding_init=nn.initializers.normal(0.1))
        x = table(words) + self.param("positions", nn.initializers.normal(0.1), (TOKENS, WIDTH))
        x += nn.MultiHeadDotProductAttention(4)(nn.LayerNorm()(x), mask=nn.make_causal_mask(words))
        x += nn.Dense(WIDTH)(nn.relu(nn.Dense(2 * WIDTH)(nn.LayerNorm()(x))))
        return table.attend(nn.LayerNorm()(x))


def loss(p, words, following, mask):
    costs = optax.softmax_cross_entropy_with_integer_labels(model.apply(p, words), following)
    return (costs * mask).sum() / jnp.maximum(mask.sum(), 1)


model = Language()
*training, words, following, mask = data.sequences(TOKENS, VOCABULARY)
samples = len(training[0])
gradient = clipped_grad(
    loss, batch_argnums=(1, 2, 3), keep_batch_dim=False, l2_clip_norm=1, normalize_by=RATE * samples, microbatch_size=8)
privatizer = noise_addition.gaussian_privatizer(stddev=NOISE * gradient.sensitivity())
optimizer = optax.chain(privatizer, optax.adam(0.003))


@jax.jit
def update(params, state, batch, padding):
    updates, state = optimizer.update(gradient(params, *batch, is_padding_example=padding), state)
    return optax.apply_updates(params, updates), state


params = model.init(jax.random.key(0), words[0])
state = optimizer.init(params)
sampling = batch_selection.CyclicPoissonSampling(sampling_prob=RATE, iterations=STEPS)
for indices in sampling.batch_iterator(samples):
    indices = batch_selection.pad_to_multiple_of(indices, 32)
    params, state = update(params, state, [x[indices] for x in training], indices == -1)

score = data.next_words(model.apply(params, words), following, mask)
accountant = dp_accounting.pld.PLDAccountant()
accountant.compose(dp_accounting.PoissonSampledDpEvent(RATE, dp_accounting.GaussianDpEvent(NOISE)), STEPS)
print(f"accuracy {score:.3f}, epsilon {accountant.get_epsilon(1e-5):.2f} at delta 1e-05")
