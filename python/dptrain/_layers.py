"""Computes the outputs of a released network: docs/model-format.md defines each kind of layer."""

from typing import Any, Callable, Dict, List, Mapping, Sequence

import numpy as np

from ._errors import ModelError
from ._types import Array

Layer = Mapping[str, Any]
State = Mapping[str, Array]


def shapes(layer: Layer) -> Dict[str, List[int]]:
    """Returns the shapes of a layer's parameters by their names."""
    kind, name = layer["kind"], layer.get("name", "")
    if kind == "linear":
        return {name + ".weight": [layer["out"], layer["in"]], name + ".bias": [layer["out"]]}
    if kind == "conv2d":
        kernel = layer["kernel"]
        return {name + ".weight": [layer["out"], layer["in"], kernel, kernel], name + ".bias": [layer["out"]]}
    if kind == "embedding":
        return {name + ".weight": [layer["in"], layer["out"]]}
    return {}


def check(layers: Sequence[Layer], state: State) -> None:
    """Raises a ModelError unless state has the parameters of the layers, and nothing else."""
    expected: Dict[str, List[int]] = {}
    for layer in layers:
        if layer.get("kind") not in _COMPUTED:
            raise ModelError(f"a layer of kind {layer.get('kind')!r}, which this version doesn't know; take a newer one")
        try:
            expected.update(shapes(layer))
        except KeyError as missing:
            raise ModelError(f"a layer of kind {layer['kind']} lacks {missing}") from None
    found = {name: list(tensor.shape) for name, tensor in state.items()}
    if found != expected or any(tensor.dtype.kind != "f" for tensor in state.values()):
        raise ModelError(f"the parameters have the shapes {found}, and the layers take {expected}")


def run(layers: Sequence[Layer], state: State, activation: Mapping[str, float], x: Array) -> Array:
    """Returns the outputs for a batch of samples in double precision. Tokens of texts are integers; 0 is padding."""
    tokens = x
    for layer in layers:
        x = _COMPUTED[layer["kind"]](layer, state, activation, x, tokens)
    return x


def _flatten(layer: Layer, state: State, activation: Any, x: Array, tokens: Array) -> Array:
    return x.reshape(len(x), int(np.prod(x.shape[1:])))


def _linear(layer: Layer, state: State, activation: Any, x: Array, tokens: Array) -> Array:
    name = layer["name"]
    return x @ state[name + ".weight"].astype(np.float64).T + state[name + ".bias"]


def _conv2d(layer: Layer, state: State, activation: Any, x: Array, tokens: Array) -> Array:
    name, pad = layer["name"], layer.get("padding", 0)
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    out = np.einsum("nchwij,ocij->nohw", _windows(x, layer), state[name + ".weight"].astype(np.float64), optimize=True)
    return out + state[name + ".bias"][:, None, None]


def _max_pool2d(layer: Layer, state: State, activation: Any, x: Array, tokens: Array) -> Array:
    return _windows(x, layer).max(axis=(4, 5))


def _windows(x: Array, layer: Layer) -> Array:
    kernel, stride = layer["kernel"], layer["stride"]
    axes: Any = (2, 3)
    windows: Array = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), axis=axes)
    return windows[:, :, ::stride, ::stride]


def _embedding(layer: Layer, state: State, activation: Any, x: Array, tokens: Array) -> Array:
    return state[layer["name"] + ".weight"].astype(np.float64)[x]


def _mean(layer: Layer, state: State, activation: Any, x: Array, tokens: Array) -> Array:
    real = (tokens != 0).astype(np.float64)
    return np.einsum("nl,nlw->nw", real, x) / real.sum(axis=1, keepdims=True)


def _activation(layer: Layer, state: State, activation: Mapping[str, float], x: Array, tokens: Array) -> Array:
    # 1/(1+exp(-z)) is (1+tanh(z/2))/2, which doesn't overflow.
    return activation["scale"] * 0.5 * (1 + np.tanh(0.5 * activation["temperature"] * x)) - activation["offset"]


def _relu(layer: Layer, state: State, activation: Any, x: Array, tokens: Array) -> Array:
    return np.maximum(x, 0)


_COMPUTED: Dict[str, Callable[..., Array]] = {
    "flatten": _flatten,
    "linear": _linear,
    "conv2d": _conv2d,
    "max_pool2d": _max_pool2d,
    "embedding": _embedding,
    "mean": _mean,
    "activation": _activation,
    "relu": _relu,
}
