"""Opens released models and predicts with them."""

import json
import math
import os
import re
from typing import Any, Dict, List, Mapping, Optional, Union

import numpy as np

from . import _layers, _safetensors, _table, _version1
from ._errors import DataError, ModelError
from ._types import Array

_SAMPLE_VALUES = 1 << 24  # of one sample, at most
_BATCH_VALUES = 1 << 22  # in a batch of inputs: windows of images take some dozen times as much memory


def load(path: "Union[str, os.PathLike[str]]") -> "Model":
    """Opens a released model: a run's folder, or its folder "released" wherever that was copied to."""
    path = os.fspath(path)
    for folder in (os.path.join(path, "released"), path):
        parameters = os.path.join(folder, "model.safetensors")
        if os.path.isfile(parameters):
            break
    else:
        raise ModelError(f"{path}: no model.safetensors; give a run's folder, or its folder released")
    try:
        with open(os.path.join(folder, "model.json"), encoding="utf-8") as file:
            description = json.load(file)
    except (ValueError, RecursionError) as err:
        raise ModelError(f"{folder}: model.json: {err}") from None
    checksum = description.get("parameters_sha256") if isinstance(description, dict) else None  # none in older files
    return Model(description, _safetensors.read(parameters, checksum))


class Model:
    """A released model. It is public: to use it costs no privacy. A prediction is as private as its row.

    description: what model.json says, see docs/model-format.md.
    state: the parameters by their names, in PyTorch's layouts.
    layers: the layers, in their order.
    task: "classification" or "regression".
    classes: the classes in the order of the outputs: integers if all are whole numbers, booleans if they are true and false,
        as a frame's column has them, otherwise texts; None for a regression.
    """

    def __init__(self, description: Dict[str, Any], state: Mapping[str, Array]) -> None:
        if not isinstance(description, dict) or description.get("version") not in (1, 2, 3):
            version = description.get("version") if isinstance(description, dict) else None
            raise ModelError(f"version {version!r} of model.json, and this reads 1 to 3; take a newer one")
        self.description = description
        self.state: Dict[str, Array] = dict(state)
        self.layers: List[Dict[str, Any]] = description.get("layers") or []
        if not self.layers:
            self.layers, self.state = _version1.upgrade(description, self.state)
        try:
            _layers.check(self.layers, self.state)
            self.task: str = description["task"]
            self._outputs: int = description["outputs"]
            self._shape: List[int] = list(description["sample_shape"])
            self._activation: Mapping[str, float] = description["activation"]
            self._table: Optional[Mapping[str, Any]] = (description.get("input") or {}).get("table")
            temperature, names = description.get("temperature"), description.get("classes")
            self._temperature = 1.0 if temperature is None else float(temperature)
            self._check(names)
        except ModelError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError, IndexError, ZeroDivisionError) as err:
            raise ModelError(f"model.json: {type(err).__name__}: {err}") from None
        self.classes: Optional[Array] = None
        if self.task == "classification":
            self.classes = _classes(names) if names else np.arange(self._outputs)

    def _check(self, names: Any) -> None:
        """Raises an error unless the description fits together, so that no damaged folder predicts something."""
        if self.task not in ("classification", "regression"):
            raise ModelError(f"model.json: task {self.task!r}; want classification or regression")
        if not (self._temperature > 0 and np.isfinite(self._temperature)):
            raise ModelError(f"model.json: temperature {self._temperature}, want a number above 0")
        if names and (not isinstance(names, list) or len(names) != self._outputs or len(set(map(str, names))) != len(names)):
            raise ModelError(f"model.json: {self._outputs} outputs, and other classes")
        if self.task == "regression" and self._outputs != 1:
            raise ModelError(f"model.json: {self._outputs} outputs of a regression, which has one")
        if not np.isfinite([float(v) for v in self._activation.values()]).all():
            raise ModelError("model.json: an activation that isn't finite")
        if self._table is not None:
            label = self._table["label"]
            if label.get("task", self.task) != self.task or (label.get("classes") or names or []) != (names or []) or not self._table["columns"]:
                raise ModelError("model.json: its table has another task or other classes than the model, or no columns")
        if not self._shape or any(type(d) is not int or d < 1 for d in self._shape) or math.prod(self._shape) > _SAMPLE_VALUES:
            raise ModelError(f"model.json: samples of shape {self._shape}")
        for column in self._table["columns"] if self._table else []:
            self._check_column(column)
        for name, tensor in self.state.items():
            if not np.isfinite(tensor).all():
                raise ModelError(f"parameter {name} has values that aren't finite")
        sample = np.ones([1] + self._shape, np.int64 if self.description.get("vocabulary") else np.float64)
        found = _layers.run(self.layers, self.state, self._activation, sample).shape
        if found != (1, self._outputs):
            raise ModelError(f"the layers make {list(found)[1:]} outputs of a sample, and model.json says {self._outputs}")

    @staticmethod
    def _check_column(column: Any) -> None:
        name = column.get("name")
        wrong = ModelError(f"model.json: column {name!r} can't be read: dptrain doesn't write such a description")
        categories, missing = column.get("categories") or [], column.get("missing")
        scale, clip = column.get("scale"), column.get("clip")
        if not isinstance(name, str) or len({str(c) for c in categories}) != len(categories):
            raise wrong
        if scale and not (np.isfinite(scale["shift"]) and 0 < scale["divisor"] < math.inf):
            raise wrong
        if clip and not clip["low"] < clip["high"]:
            raise wrong
        if missing is not None and not (isinstance(missing["fill"], (int, float)) and np.isfinite(missing["fill"])):
            raise wrong

    def __repr__(self) -> str:
        d = self.description
        return f"<dptrain.Model {d.get('model')} of {d.get('dataset')}: {self.task}, samples of shape {self._shape}>"

    @property
    def columns(self) -> List[str]:
        """The names of the columns that a row needs, in their order; empty unless the model is of a table."""
        return [str(c["name"]) for c in self._table["columns"]] if self._table else []

    def encode(self, X: Any, encoded: bool = False) -> Array:
        """Returns the samples [rows, …] that X makes.

        Of a table, X holds rows as its files do: a DataFrame, a structured array, a mapping of arrays by column, a list
        of dicts, or rows with cells in the order of `columns`, as a list or an array. With encoded, it is an array of
        samples [rows, values], whose values are clipped, scaled and one-hot already.
        Of other models, X holds the samples: an array of numbers [rows, …] or [rows, values].
        Of images, X is an array of bytes (uint8) [images, channels, rows, columns], or without the axis of channels.
        Of texts, X holds the tokens of each text, integers; shorter texts may be padded with 0, or be short lists.
        """
        if self.description.get("vocabulary"):
            return self._texts(X)
        if self._table is not None and not encoded:
            values = _table.encode(self._table["columns"], X)
            if values.shape[1] != math.prod(self._shape):
                raise ModelError(f"model.json: its columns make {values.shape[1]} values, and its samples have shape {self._shape}")
            return values.reshape([-1] + self._shape)
        x = np.asarray(X)
        if x.dtype.kind not in "fiub":
            raise DataError("want an array of numbers")
        image = self.description.get("image")
        if image and x.dtype == np.uint8:
            return self._image(image, x)
        with np.errstate(over="ignore"):
            x = self._shaped(x.astype(np.float32), self._shape)
        finite = np.isfinite(x.reshape(len(x), -1)).all(axis=1) if x.size else np.ones(len(x), bool)
        if not finite.all():
            raise DataError(f"row {1 + int(finite.argmin())}: a value that isn't finite in single precision")
        return x

    def _image(self, image: Mapping[str, Any], x: Array) -> Array:
        if self.description.get("features_of"):
            raise DataError(f"samples are features of {self.description['features_of']}; compute them from the images first")
        x = self._shaped(x, image["shape"]).astype(np.float64) / 255
        mean, std = (np.reshape(image[name], (-1, 1, 1)) for name in ("mean", "std"))
        return ((x - mean) / std).astype(np.float32)

    def _shaped(self, x: Array, shape: List[int]) -> Array:
        values = int(np.prod(shape))
        ok = x.ndim >= 1 and (list(x.shape[1:]) in (shape, [values]) or shape[:1] == [1] and list(x.shape[1:]) == shape[1:])
        if not ok:
            raise DataError(f"an array of shape {list(x.shape)}; want [rows, {', '.join(map(str, shape))}]")
        return x.reshape([len(x)] + shape)

    def _texts(self, X: Any) -> Array:
        if hasattr(X, "dtypes") or isinstance(X, (str, bytes)) or any(isinstance(text, (str, bytes)) for text in X):
            raise DataError(
                f"texts aren't tokenised here: give each text as tokens of {self.description.get('tokens_of')}, integers; "
                '"dptrain predict" reads texts as they are'
            )
        length, words = self._shape[0], int(self.description["vocabulary"])
        out = np.zeros((len(X), length), np.int64)
        for i, text in enumerate(X):
            tokens = np.asarray(text)
            if tokens.dtype.kind not in "iu" or tokens.ndim != 1 or len(tokens) > length:
                raise DataError(f"text {i + 1}: want up to {length} tokens, as integers")
            out[i, : len(tokens)] = tokens
        if out.size and (out.min() < 0 or out.max() >= words):
            raise DataError(f"tokens go from 0 to {words - 1}")
        if out.size and not out.any(axis=1).all():
            raise DataError("a text without a token; a text has [CLS] and [SEP] at least")
        return out

    def outputs(self, X: Any, encoded: bool = False) -> Array:
        """Returns the network's outputs [rows, outputs] in double precision: of classes the logits."""
        x = self.encode(X, encoded)
        if x.dtype.kind == "f":
            x = x.astype(np.float64)
        batch = max(1, _BATCH_VALUES // max(1, x[:1].size * (16 if self.description.get("vocabulary") else 1)))
        with np.errstate(over="ignore"):
            parts = [_layers.run(self.layers, self.state, self._activation, x[i : i + batch]) for i in range(0, len(x), batch)]
        return np.concatenate(parts) if parts else np.zeros((0, self._outputs))

    def predict(self, X: Any, encoded: bool = False) -> Array:
        """Returns the most probable class of each row, or its number in the unit of the training file."""
        out = self.outputs(X, encoded)
        if self.classes is not None:
            return self.classes[out.argmax(axis=1)]
        label = self._table["label"] if self._table else {}
        values = out[:, 0]
        if label.get("scale"):
            values = values * label["scale"]["divisor"] + label["scale"]["shift"]
        if label.get("clip"):
            values = np.minimum(np.maximum(values, label["clip"]["low"]), label["clip"]["high"])
        return values

    def predict_proba(self, X: Any, encoded: bool = False) -> Array:
        """Returns the probabilities [rows, classes] of a classification."""
        if self.classes is None:
            raise ModelError("a regression has no probabilities; call predict")
        z = self.outputs(X, encoded) / self._temperature
        z = np.exp(z - z.max(axis=1, keepdims=True))
        return z / z.sum(axis=1, keepdims=True)


def _classes(names: List[Any]) -> Array:
    """Returns classes as a frame's column has them, so that predictions can be compared with it."""
    texts = [str(name) for name in names]
    if all(re.fullmatch("0|-?[1-9][0-9]{0,17}", text) for text in texts):
        return np.array([int(text) for text in texts])
    if sorted(text.lower() for text in texts) == ["false", "true"]:
        return np.array([text.lower() == "true" for text in texts])
    return np.array(texts, dtype=object)
