"""Estimators in scikit-learn's manner, which train with differential privacy by the command dptrain.

Of private X and y this module computes nothing but their shapes: it writes them to a file that dptrain reads. Everything
that a model needs to know of them beforehand, the bounds of columns and the classes, is given by the caller or comes from
public rows.
"""

import inspect
import json
import os
import sys
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np

from . import _command
from ._errors import DataError
from ._model import Model, load
from ._types import Array

Bounds = Union[Tuple[float, float], Sequence[Tuple[float, float]]]
E = TypeVar("E", bound="_Estimator")

LABEL = "y"


class _Estimator:
    """What both estimators share."""

    _task = ""
    _estimator_type = ""  # for scikit-learn before 1.6; newer versions read __sklearn_tags__

    epsilon: float
    delta: float
    bounds: Optional[Bounds]
    model: str
    tune: bool
    holdout: float
    settings: Optional[Mapping[str, Any]]
    out: Optional[str]
    command: Optional[str]
    insecure_seed: Optional[int]
    verbose: bool

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """Returns the parameters of the constructor by their names."""
        return {name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"}

    def set_params(self: E, **params: Any) -> E:
        """Sets parameters of the constructor."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Returns what scikit-learn 1.6 or newer asks of an estimator. Nothing else here imports scikit-learn."""
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

        kind = {"classifier_tags": ClassifierTags()} if self._estimator_type == "classifier" else {"regressor_tags": RegressorTags()}
        return Tags(estimator_type=self._estimator_type, target_tags=TargetTags(required=True), **kind)

    def __repr__(self) -> str:
        default = inspect.signature(type(self).__init__).parameters
        given = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not default[name].default]
        return f"{type(self).__name__}({', '.join(given)})"

    def _fit(self, X: Any, y: Any, X_public: Any, y_public: Any) -> None:
        if (X_public is None) != (y_public is None):
            raise ValueError("give both X_public and y_public, or neither")
        rows, names = _matrix("X", X), _feature_names(X)
        files = {"train": self._arrays(rows, self._label("y", y, len(rows)))}
        if X_public is not None:
            public = _matrix("X_public", X_public)
            if public.shape[1] != rows.shape[1]:
                raise DataError(f"X has {rows.shape[1]} columns and X_public {public.shape[1]}")
            _same_order("X_public", X_public, names)
            self._note_clipped(public)
            files["test"] = self._arrays(public, self._label("y_public", y_public, len(public)))
        data = self._data(rows.shape[1])
        if X_public is None:
            data["columns"] = _names(rows.shape[1])  # no public file has their names
        command = _command.find_command(self.command)
        with _command.private_folder() as folder:
            arguments = self._arguments(folder, data)
            for name, arrays in files.items():
                path = os.path.join(folder, name + ".npz")
                _command.write_arrays(path, arrays)
                arguments += ["--" + name, path]
            if "test" not in files:
                arguments += ["--holdout", repr(float(self.holdout))]
            result = _command.run(command, arguments, folder, self.verbose)
        for text in [*result.get("plan_warnings", []), *([result["warning"]] if result.get("warning") else [])]:
            warnings.warn(f"dptrain: {text}", UserWarning, stacklevel=3)
        self.result_: Dict[str, Any] = result
        self.run_: str = result["directory"]
        self.model_: Model = load(self.run_)
        self.epsilon_: float = result["privacy"]["epsilon"]
        self.delta_: float = result["privacy"]["delta"]
        self.n_features_in_: int = rows.shape[1]
        vars(self).pop("feature_names_in_", None)  # of an earlier fit
        if names is not None:
            self.feature_names_in_: Array = np.array(names, dtype=object)

    def _arguments(self, folder: str, data: Mapping[str, Any]) -> List[str]:
        config = os.path.join(folder, "config.yaml")
        with open(config, "x", encoding="utf-8") as file:
            json.dump({"data": data}, file)  # JSON is YAML
        arguments = ["tune" if self.tune else "train", "--config", config, "--model", self.model]
        arguments += ["--epsilon", repr(float(self.epsilon)), "--delta", repr(float(self.delta))]
        for key, value in (self.settings or {}).items():
            arguments += ["--set", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
        if self.out is not None:
            arguments += ["--out", os.fspath(self.out)]
        if self.insecure_seed is not None:
            arguments += ["--insecure-seed", str(int(self.insecure_seed))]
        return arguments

    def _data(self, columns: int) -> Dict[str, Any]:
        """Returns the settings of the data: bounds become clip and scale, so that values are from -1 to 1."""
        pairs = _pairs("bounds", self.bounds, columns)
        data: Dict[str, Any] = {"label": LABEL, "task": self._task, "clip": {}, "scale": {}}
        for name, (low, high) in zip(_names(columns), pairs):
            _bound(data, name, low, high)
        return data

    def _note_clipped(self, public: Array) -> None:
        """Warns if bounds clip most public rows: those that a pipeline didn't transform, or were given in another unit."""
        low, high = np.array(_pairs("bounds", self.bounds, public.shape[1])).T
        clipped = int(((public < low) | (public > high)).any(axis=1).sum())
        if clipped > len(public) / 2:
            text = f"{clipped} of {len(public)} rows of X_public have values beyond bounds, and are clipped; if a pipeline transforms X, transform X_public likewise"
            warnings.warn(f"dptrain: {text}", UserWarning, stacklevel=4)

    def _label(self, name: str, y: Any, rows: int) -> Array:
        raise NotImplementedError

    def _arrays(self, X: Array, y: Array) -> Dict[str, Array]:
        arrays = {name: X[:, j] for j, name in enumerate(_names(X.shape[1]))}
        arrays[LABEL] = y
        return arrays

    def _columns(self, X: Any) -> Dict[str, Array]:
        if not hasattr(self, "model_"):
            unfitted = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", ValueError)  # a ValueError, too
            raise unfitted(f"this {type(self).__name__} isn't fitted; call fit first")
        rows = _matrix("X", X)
        if rows.shape[1] != self.n_features_in_:
            raise DataError(f"X has {rows.shape[1]} columns, and the model takes {self.n_features_in_}")
        _same_order("X", X, getattr(self, "feature_names_in_", None))
        return {name: rows[:, j] for j, name in enumerate(_names(rows.shape[1]))}


class DPClassifier(_Estimator):
    """A classifier that is trained with differential privacy, its learning rate tuned by default.

    epsilon, delta: the guarantee, for tuning and training together, if one row is added or removed.
    bounds: (low, high) for all columns, or one pair for each. Values are clipped to it and scaled to [-1, 1]. Bounds are
        public: choose them by what the columns mean, never by the rows of X.
    classes: all classes, in any order. They are public. By default those of y_public.
    model: "linear", or "mlp:32" with other widths: see dptrain tune --help.
    tune: whether to tune the learning rate; if not, settings may have "training.learning_rate".
    holdout: if fit gets no public rows, the share of private rows that select the best trial.
    settings: more settings of dptrain, such as {"privacy.epochs": 10}: see dptrain settings.
    out: the run's folder, which must not exist; by default a new one in $DPTRAIN_STORE or in runs. The store's ledger adds up
        what all releases of the same data cost together: keep it.
    command: the path of dptrain; by default $DPTRAIN, or the one in $PATH.
    insecure_seed: makes the run repeatable, and voids the guarantee.
    verbose: show dptrain's log on standard error. It is private.

    After fit: model_ (the released Model), run_ (its folder), result_ (what dptrain printed), classes_, epsilon_, delta_,
    n_features_in_, and of a frame feature_names_in_: later frames must have the same columns in the same order.

    Call fit once for the same rows: every call is a release of its own, and adds to what the rows have lost. A grid search
    or cross-validation around this class has no guarantee; dptrain's own tuning has.
    """

    _task = "classification"
    _estimator_type = "classifier"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        *,
        bounds: Optional[Bounds] = None,
        classes: Optional[Sequence[Any]] = None,
        model: str = "linear",
        tune: bool = True,
        holdout: float = 0.1,
        settings: Optional[Mapping[str, Any]] = None,
        out: Optional[str] = None,
        command: Optional[str] = None,
        insecure_seed: Optional[int] = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon, self.delta, self.bounds, self.classes, self.model, self.tune = epsilon, delta, bounds, classes, model, tune
        self.holdout, self.settings, self.out, self.command = holdout, settings, out, command
        self.insecure_seed, self.verbose = insecure_seed, verbose

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> "DPClassifier":
        """Trains on private rows X [rows, columns], numbers, and their classes y.

        Public rows X_public and y_public select the best trial. No guarantee protects them.
        """
        if self.classes is not None:
            given = list(self.classes)
        elif y_public is not None:
            given = np.unique(np.asarray(y_public)).tolist()
        else:
            raise ValueError("classes: list all classes, or give public rows; those of y are private")
        classes = np.sort(np.array(given))  # scikit-learn's scorers take classes_ to be sorted
        self._texts = [_class_text(c) for c in classes]
        if len(set(self._texts)) < max(2, len(self._texts)):
            raise ValueError("classes: want two or more, each once")
        self._fit(X, y, X_public, y_public)
        self.classes_ = classes
        return self

    def _data(self, columns: int) -> Dict[str, Any]:
        return {**super()._data(columns), "classes": self._texts}

    def _label(self, name: str, y: Any, rows: int) -> Array:
        return np.array([_class_text(c) for c in _column(name, y, rows)], dtype=str)

    def predict(self, X: Any) -> Array:
        """Returns the most probable class of each row."""
        columns = self._columns(X)
        return self.classes_[self.model_.outputs(columns).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        """Returns the probabilities [rows, classes], in the order of classes_, which is sorted."""
        columns = self._columns(X)
        return self.model_.predict_proba(columns)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Returns the accuracy. Of rows that were trained on it is private: no guarantee covers it."""
        predicted = self.predict(X)
        right = self._label("predicted", predicted, len(predicted)) == self._label("y", y, len(predicted))  # blanks don't count
        return float(np.average(right, weights=_weights(sample_weight, len(predicted))))


class DPRegressor(_Estimator):
    """A regression that is trained with differential privacy, its learning rate tuned by default.

    y_bounds: (low, high) of the labels, which are clipped to it. It is public, and required.
    The other parameters and the fitted attributes are those of DPClassifier, but for the classes.
    """

    _task = "regression"
    _estimator_type = "regressor"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        *,
        bounds: Optional[Bounds] = None,
        y_bounds: Optional[Tuple[float, float]] = None,
        model: str = "linear",
        tune: bool = True,
        holdout: float = 0.1,
        settings: Optional[Mapping[str, Any]] = None,
        out: Optional[str] = None,
        command: Optional[str] = None,
        insecure_seed: Optional[int] = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon, self.delta, self.bounds, self.y_bounds, self.model, self.tune = epsilon, delta, bounds, y_bounds, model, tune
        self.holdout, self.settings, self.out, self.command = holdout, settings, out, command
        self.insecure_seed, self.verbose = insecure_seed, verbose

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> "DPRegressor":
        """Trains on private rows X [rows, columns], numbers, and their labels y, numbers too. See DPClassifier.fit."""
        self._fit(X, y, X_public, y_public)
        return self

    def _data(self, columns: int) -> Dict[str, Any]:
        data = super()._data(columns)
        ((low, high),) = _pairs("y_bounds", self.y_bounds, 1)
        _bound(data, LABEL, low, high)
        return data

    def _label(self, name: str, y: Any, rows: int) -> Array:
        return _numbers(name, _column(name, y, rows))

    def predict(self, X: Any) -> Array:
        """Returns the predicted number of each row."""
        columns = self._columns(X)
        return self.model_.predict(columns)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Returns R², the coefficient of determination. Of rows that were trained on it is private."""
        predicted = self.predict(X)
        labels, weights = self._label("y", y, len(predicted)), _weights(sample_weight, len(predicted))
        rest = np.average((labels - predicted) ** 2, weights=weights)
        total = np.average((labels - np.average(labels, weights=weights)) ** 2, weights=weights)
        return float(1 - rest / total) if total > 0 else float("nan")


def _names(columns: int) -> List[str]:
    return [f"x{j}" for j in range(columns)]


def _bound(data: Dict[str, Any], name: str, low: float, high: float) -> None:
    data["clip"][name] = [low, high]
    data["scale"][name] = [low / 2 + high / 2, high / 2 - low / 2]


def _pairs(name: str, bounds: Any, columns: int) -> List[Tuple[float, float]]:
    """Returns a pair for each column."""
    if bounds is None:
        raise ValueError(f"{name}: give (low, high) from what is publicly known; bounds that were read off private rows would reveal them")
    pairs = np.asarray(bounds, np.float64)
    if pairs.shape == (2,):
        pairs = np.broadcast_to(pairs, (columns, 2))
    if pairs.shape != (columns, 2):
        raise ValueError(f"{name}: want one pair (low, high), or one for each of {columns} columns")
    if not (np.isfinite(pairs).all() and (pairs[:, 0] < pairs[:, 1]).all()):
        raise ValueError(f"{name}: want finite numbers, the first below the second")
    return [(float(low), float(high)) for low, high in pairs]


def _matrix(name: str, X: Any) -> Array:
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    rows = _numbers(name, X)
    if rows.ndim != 2 or 0 in rows.shape:
        raise DataError(f"{name}: an array of shape {rows.shape}; want [rows, columns]")
    return rows


def _feature_names(X: Any) -> Optional[List[str]]:
    """Returns the names of a frame's columns if all are texts, as scikit-learn does."""
    names = list(getattr(X, "column_names", getattr(X, "columns", [])))  # the first is pyarrow's
    return names if names and all(isinstance(name, str) for name in names) else None


def _same_order(name: str, X: Any, fitted: Optional[Sequence[str]]) -> None:
    """Raises an error if the columns of a frame have other names, or another order, than those of X in fit."""
    names = _feature_names(X)
    if names is not None and fitted is not None and names != list(fitted):
        j = next(j for j, pair in enumerate(zip(names, fitted)) if pair[0] != pair[1])
        raise DataError(f"{name}: column {j + 1} is {names[j]!r}, and {fitted[j]!r} in fit; give the same columns in the same order")


def _refuse_masked(name: str, values: Any) -> None:
    if np.ma.is_masked(values):  # NumPy would take what is behind the mask
        raise DataError(f"{name}: masked values; fill them by a constant of your own, as in {name}.filled(0)")


def _numbers(name: str, values: Any) -> Array:
    _refuse_masked(name, values)
    try:
        if np.asarray(values).dtype.kind == "c":  # NumPy would drop the imaginary parts
            raise TypeError
        return np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):  # their texts cite values, which may be private
        raise DataError(f"{name}: want numbers") from None


def _column(name: str, y: Any, rows: int) -> Array:
    _refuse_masked(name, y)
    labels = np.asarray(y)
    if labels.shape not in ((rows,), (rows, 1)):
        raise DataError(f"{name}: an array of shape {labels.shape}, and there are {rows} rows")
    return labels.reshape(rows)


def _weights(sample_weight: Any, rows: int) -> Optional[Array]:
    return None if sample_weight is None else _numbers("sample_weight", _column("sample_weight", sample_weight, rows))


def _class_text(value: Any) -> str:
    """Returns the text of a class, the same for 1, 1.0 and numpy's numbers."""
    if isinstance(value, (float, np.floating)) and value == np.trunc(value):
        value = int(value)
    return str(value).strip()
