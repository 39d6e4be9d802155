"""A recurrent network over padded texts: is a review of a film good or bad?"""
import sys

import dp_accounting
import jax
import optax
from flax import linen as nn
from jax_privacy import batch_selection, clipped_grad, noise_addition

import data

VOCABULARY, TOKENS, WIDTH = 28996, 96, 16
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
RATE, NOISE = 0.02, 0.8


class Reviews(nn.Module):
    @nn.compact
    def __call__(self, ids, weights):
        x = nn.Embed(VOCABULARY, WIDTH, embedding_init=nn.initializers.normal(1))(ids)
        states = nn.RNN(nn.OptimizedLSTMCell(WIDTH))(x)  # those of padding, which comes last, have the weight 0
        return nn.Dense(2)((states * weights[..., None]).sum(-2))  # of the mean state


def loss(p, ids, weights, y):
    return optax.softmax_cross_entropy_with_integer_labels(model.apply(p, ids, weights), y)


model = Reviews()
*training, ids, weights, y = data.reviews(TOKENS)
samples = len(training[0])
gradient = clipped_grad(
    loss, batch_argnums=(1, 2, 3), keep_batch_dim=False, l2_clip_norm=1, normalize_by=RATE * samples, microbatch_size=8)
privatizer = noise_addition.gaussian_privatizer(stddev=NOISE * gradient.sensitivity())
optimizer = optax.chain(privatizer, optax.adam(0.02))


@jax.jit
def update(params, state, batch, padding):
    updates, state = optimizer.update(gradient(params, *batch, is_padding_example=padding), state)
    return optax.apply_updates(params, updates), state


params = model.init(jax.random.key(0), ids[0], weights[0])
state = optimizer.init(params)
sampling = batch_selection.CyclicPoissonSampling(sampling_prob=RATE, iterations=STEPS)
for indices in sampling.batch_iterator(samples):
    indices = batch_selection.pad_to_multiple_of(indices, 32)
    params, state = update(params, state, [x[indices] for x in training], indices == -1)

score = data.accuracy(model.apply(params, ids, weights), y)
accountant = dp_accounting.pld.PLDAccountant()
accountant.compose(dp_accounting.PoissonSampledDpEvent(RATE, dp_accounting.GaussianDpEvent(NOISE)), STEPS)
print(f"accuracy {score:.3f}, epsilon {accountant.get_epsilon(1e-5):.2f} at delta 1e-05")
