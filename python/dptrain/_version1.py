"""Reads descriptions of version 1, which have no layers, and whose parameters have other layouts."""

from typing import Any, Dict, List, Tuple

import numpy as np

from ._errors import ModelError
from ._types import Array


def upgrade(description: Dict[str, Any], state: Dict[str, Array]) -> Tuple[List[Dict[str, Any]], Dict[str, Array]]:
    """Returns the layers that version 2 would list, and the parameters in its layouts."""
    network = str(description.get("model")).split(":")[0]
    new: Dict[str, Array] = {}
    for name, tensor in state.items():
        if name.endswith(".bias"):
            tensor = tensor.reshape(-1)
        elif tensor.ndim == 2 and not name.startswith("embedding."):
            tensor = tensor.T
        new[name] = tensor

    def linear(name: str) -> Dict[str, Any]:
        out, inputs = new[name + ".weight"].shape
        return {"kind": "linear", "name": name, "in": inputs, "out": out}

    activation, pool = {"kind": "activation"}, {"kind": "max_pool2d", "kernel": 2, "stride": 1}
    try:
        if network in ("linear", "mlp"):
            layers: List[Dict[str, Any]] = [{"kind": "flatten"}]
            for i in range(len(new) // 2):
                layers += [linear(f"fc{i + 1}"), activation]
            return layers[:-1], new
        if network == "cnn":
            conv1 = {"kind": "conv2d", "name": "conv1", "in": new["conv1.weight"].shape[1], "out": 16, "kernel": 8, "stride": 2, "padding": 3}
            conv2 = {"kind": "conv2d", "name": "conv2", "in": 16, "out": 32, "kernel": 4, "stride": 2}
            return [conv1, activation, pool, conv2, activation, pool, {"kind": "flatten"}, linear("fc1"), activation, linear("fc2")], new
        if network == "embedding":
            words, width = new["embedding.weight"].shape
            table = {"kind": "embedding", "name": "embedding", "in": words, "out": width}
            return [table, {"kind": "mean"}, linear("fc1"), {"kind": "relu"}, linear("fc2")], new
    except (KeyError, ValueError):
        raise ModelError(f"the parameters aren't those of model {network}") from None
    raise ModelError(f"model {network!r} of version 1, which this version doesn't know")
