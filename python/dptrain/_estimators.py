"""Estimators in scikit-learn's manner, which train with differential privacy by the command dptrain.

Of private X and y this module computes nothing but their shapes, and whether they are numbers without gaps: it writes them
to a file that dptrain reads. Everything that a model needs to know of them beforehand, the bounds of columns and the classes,
is given by the caller or comes from public rows.
"""

import copy
import inspect
import json
import math
import os
import re
import secrets
import sys
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np

from . import _command
from ._errors import DataError
from ._model import Model, load
from ._types import Array

Bounds = Union[Tuple[float, float], Sequence[Tuple[float, float]], Mapping[str, Tuple[float, float]]]
E = TypeVar("E", bound="_Estimator")

LABEL = "y"

_NO_LABELS = "y: the estimator requires y to be passed, but the target y is None"


class _Estimator:
    """What both estimators share."""

    _task = ""
    _estimator_type = ""  # for scikit-learn before 1.6; newer versions read __sklearn_tags__

    epsilon: Optional[float]
    delta: Optional[float]
    bounds: Optional[Bounds]
    model: str
    tune: bool
    holdout: Optional[float]
    settings: Optional[Mapping[str, Any]]
    data: Optional[str]
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

    def set_fit_request(self: E, *, X_public: Any = "$UNCHANGED$", y_public: Any = "$UNCHANGED$") -> E:
        """Asks scikit-learn's metadata routing, if that is enabled, to pass X_public and y_public on to fit."""
        routing = self.get_metadata_routing()
        for name, alias in (("X_public", X_public), ("y_public", y_public)):
            if alias != "$UNCHANGED$":
                routing.fit.add_request(param=name, alias=alias)
        self._metadata_request = routing  # which scikit-learn's clone copies
        return self

    def get_metadata_routing(self) -> Any:
        """Returns what metadata routing asks: which arguments its methods take besides X and y."""
        from sklearn.utils.metadata_routing import MetadataRequest

        if hasattr(self, "_metadata_request"):
            return copy.deepcopy(self._metadata_request)
        routing = MetadataRequest(owner=type(self).__name__)
        for method, name in (("fit", "X_public"), ("fit", "y_public"), ("score", "sample_weight")):
            getattr(routing, method).add_request(param=name, alias=None)
        return routing

    def _repr_html_(self) -> Optional[str]:
        """Returns what a notebook shows: scikit-learn's view if that is installed."""
        try:
            from sklearn.utils import estimator_html_repr
        except ImportError:
            return None
        return str(estimator_html_repr(self))

    def __repr__(self) -> str:
        default = inspect.signature(type(self).__init__).parameters
        given = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not default[name].default]
        return f"{type(self).__name__}({', '.join(given)})"

    def _fit(self, X: Any, y: Any, X_public: Any, y_public: Any) -> None:
        if (X_public is None) != (y_public is None):
            raise ValueError("give both X_public and y_public, or neither")
        rows, names = _matrix("X", X), _feature_names(X)
        inputs = names if names is not None and _writable(names) else [f"x{j}" for j in range(rows.shape[1])]
        label = _label_name(y, inputs)
        arrays = {"X": {**dict(zip(inputs, rows.T)), label: self._label("y", y, len(rows))}}
        if X_public is not None:
            public = _matrix("X_public", X_public)
            if public.shape[1] != rows.shape[1]:
                raise DataError(f"X has {rows.shape[1]} columns and X_public {public.shape[1]}")
            _same_order("X_public", X_public, names)
            self._note_clipped(public, names)
            arrays["X_public"] = {**dict(zip(inputs, public.T)), label: self._label("y_public", y_public, len(public))}
        data = self._data(_pairs("bounds", self.bounds, names, rows.shape[1]), inputs, label)
        if X_public is None:
            data["columns"] = inputs  # no public file has their names
        command = _command.find_command(self.command)
        with _command.private_folder() as folder:
            name = _file_name(self.data)
            arguments = self._arguments(folder, data)
            files = {"X": os.path.join(folder, name + ".npz"), "X_public": os.path.join(folder, "public.npz")}

            def told(text: str) -> str:
                return _told(text, files, inputs is names)

            for of, flag in (("X", "--train"), ("X_public", "--test")):
                if of in arrays:
                    _command.write_arrays(files[of], arrays[of])
                    arguments += [flag, files[of]]
            if X_public is None and self.tune and self._searches():
                arguments += ["--holdout", repr(0.1 if self.holdout is None else float(self.holdout))]
            if self.data is not None and any(name + ".npz" in known["names"] for known in _command.ledger(command)):
                arguments += ["--same-as", name + ".npz"]
            result, said = _command.run(command, arguments, folder, self.verbose, told)
        self.result_: Dict[str, Any] = result
        self.run_: str = result["directory"]
        self.model_: Model = load(self.run_)
        self.epsilon_: float = result["privacy"]["epsilon"]
        self.delta_: float = result["privacy"]["delta"]
        self.n_features_in_: int = rows.shape[1]
        self._inputs = inputs
        budget = self._add_up(_command.ledger(command))
        said += [told(text) for text in [*result.get("plan_warnings", []), result.get("warning") or ""]]
        for text in dict.fromkeys([budget, *said]):
            if text:
                warnings.warn(f"dptrain: {text}", UserWarning, stacklevel=3)
        vars(self).pop("feature_names_in_", None)  # of an earlier fit
        if names is not None:
            self.feature_names_in_: Array = np.array(names, dtype=object)

    def _add_up(self, ledger: List[Dict[str, Any]]) -> str:
        """Sets epsilon_spent_, and returns a warning if there were releases of the rows before."""
        self.epsilon_spent_: float = self.epsilon_
        for known in ledger:
            if any(release["path"] == os.path.abspath(self.run_) for release in known["releases"]):
                together, count = known["together"], len(known["releases"])
                self.epsilon_spent_ = math.inf if together["void"] else together["epsilon"]
                if count > 1:
                    return f"{count} releases of these rows, this one included, cost epsilon {self.epsilon_spent_:.4g} together at delta {together['delta']:.3g}, not {self.epsilon_:.4g}: see epsilon_spent_"
        return ""

    def log_to(self, mlflow: Any) -> None:
        """Logs a fitted estimator to the active run of MLflow, which the caller imports: hyperparameters as params, scores, epsilon
        and delta as metrics, and the learning curve by step. All of it is public."""
        result = self.result_
        mlflow.log_params({"model": result["model"], **result["hyperparameters"], "accounting": result["privacy"]["accounting"]})
        numbers = {**result.get("public_test", {}), **result, **{name: result["privacy"][name] for name in ("epsilon", "delta")}}
        numbers.update({"held_out_score": result["held_out"]["score"]} if "held_out" in result else {})
        mlflow.log_metrics({name: float(v) for name, v in numbers.items() if isinstance(v, (int, float)) and not isinstance(v, bool)})
        for point in result.get("learning_curve", []):
            mlflow.log_metric("learning_curve", point["score"], step=point["step"])

    def _arguments(self, folder: str, data: Mapping[str, Any]) -> List[str]:
        config = os.path.join(folder, "config.yaml")
        with open(config, "x", encoding="utf-8") as file:
            json.dump({"data": data}, file)  # JSON is YAML
        arguments = ["tune" if self.tune else "train", "--config", config, "--model", self.model]
        for name, value in (("--epsilon", self.epsilon), ("--delta", self.delta)):
            if value is not None:
                arguments += [name, repr(float(value))]
        for key, value in (self.settings or {}).items():
            arguments += ["--set", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
        if self.out is not None:
            arguments += ["--out", os.fspath(self.out)]
        if self.insecure_seed is not None:
            arguments += ["--insecure-seed", str(int(self.insecure_seed))]
        return arguments

    def _searches(self) -> bool:
        """Whether trials need rows to score them: not where the command's rule gives the hyperparameters."""
        asked = any(not key.startswith(("data", "performance")) for key in self.settings or {})
        return asked or self.holdout is not None or self.epsilon is None or self.model != "linear"

    def _data(self, bounds: List[Tuple[float, float]], inputs: List[str], label: str) -> Dict[str, Any]:
        """Returns the settings of the data: bounds become clip and scale, so that values are from -1 to 1."""
        data: Dict[str, Any] = {"label": label, "task": self._task, "clip": {}, "scale": {}}
        for name, (low, high) in zip(inputs, bounds):
            _bound(data, name, low, high)
        return data

    def _note_clipped(self, public: Array, names: Optional[List[str]]) -> None:
        """Warns if bounds clip most public rows: those that a pipeline didn't transform, or were given in another unit."""
        low, high = np.array(_pairs("bounds", self.bounds, names, public.shape[1])).T
        beyond = (public < low) | (public > high)
        clipped = int(beyond.any(axis=1).sum())
        if clipped > len(public) / 2 and beyond.mean() > 0.05:  # of many columns some value is beyond in most rows
            text = f"{clipped} of {len(public)} rows of X_public have values beyond bounds, and are clipped; if a pipeline transforms X, transform X_public likewise"
            warnings.warn(f"dptrain: {text}", UserWarning, stacklevel=4)

    def _label(self, name: str, y: Any, rows: int) -> Array:
        raise NotImplementedError

    def _columns(self, X: Any) -> Dict[str, Array]:
        if not hasattr(self, "model_"):
            unfitted = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", ValueError)  # a ValueError, too
            raise unfitted(f"this {type(self).__name__} isn't fitted; call fit first")
        rows = _matrix("X", X)
        if rows.shape[1] != self.n_features_in_:
            raise DataError(f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input")
        _same_order("X", X, getattr(self, "feature_names_in_", None))
        return dict(zip(self._inputs, rows.T))


class DPClassifier(_Estimator):
    """A classifier that is trained with differential privacy.

    epsilon, delta: the guarantee, for tuning and training together, if one row is added or removed. epsilon=None leaves it to
        settings, such as {"privacy.noise_multiplier": 2}.
    bounds: (low, high) for all columns, one pair for each, or a dict of pairs by the names of a frame's columns. Values are
        clipped to it and scaled to [-1, 1]. Bounds are public: choose them by what the columns mean, never by the rows of X.
    classes: all classes, in any order. They are public. By default those of y_public.
    model: "linear", or "mlp:32" with other widths: see dptrain tune --help.
    tune: whether hyperparameters are found as "dptrain tune" finds them: those of a linear model by a rule from public numbers,
        others by a private search, which settings={"tuning.tune": "rate"} asks for. If not, settings may have
        "training.learning_rate"; without any setting a linear model gets the rule's.
    holdout: if a search gets no public rows, the share of private rows that select the best trial; None is 0.1. A number asks
        for a search. Without one, and with tune=False, nothing is held out, and nothing scores a model without public rows.
    settings: more settings of dptrain, such as {"privacy.epochs": 10}: see dptrain settings.
    data: a name for the rows, such as "survey-2026", by which the ledger lists them: under one name they count as the same
        people's, even if columns or digits changed. Without it the ledger tells by the rows.
    out: the run's folder, which must not exist; by default a new one in $DPTRAIN_STORE or in runs. The store's ledger adds up
        what all releases of the same data cost together: keep it.
    command: the path of dptrain; by default $DPTRAIN, that of this Python environment, or the one in $PATH.
    insecure_seed: makes the run repeatable, and voids the guarantee.
    verbose: show dptrain's log on standard error. It is private.

    After fit: model_ (the released Model), run_ (its folder), result_ (what dptrain printed), classes_, epsilon_, delta_,
    epsilon_spent_ (of all releases of these rows in the store's ledger together; infinite if one has no guarantee, and private),
    n_features_in_, and of a frame feature_names_in_: later frames must have the same columns in the same order.

    Call fit once for the same rows: every call is a release of its own, and adds to what the rows have lost. A grid search
    or cross-validation around this class has no guarantee; dptrain's own tuning has.
    """

    _task = "classification"
    _estimator_type = "classifier"

    def __init__(
        self,
        epsilon: Optional[float] = 1.0,
        delta: Optional[float] = 1e-5,
        *,
        bounds: Optional[Bounds] = None,
        classes: Optional[Sequence[Any]] = None,
        model: str = "linear",
        tune: bool = True,
        holdout: Optional[float] = None,
        settings: Optional[Mapping[str, Any]] = None,
        data: Optional[str] = None,
        out: Optional[str] = None,
        command: Optional[str] = None,
        insecure_seed: Optional[int] = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon, self.delta, self.bounds, self.classes, self.model, self.tune = epsilon, delta, bounds, classes, model, tune
        self.holdout, self.settings, self.data, self.out, self.command = holdout, settings, data, out, command
        self.insecure_seed, self.verbose = insecure_seed, verbose

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> "DPClassifier":
        """Trains on private rows X [rows, columns], numbers, and their classes y.

        Public rows X_public and y_public select the best trial. No guarantee protects them.
        """
        if y is None:
            raise DataError(_NO_LABELS)
        if self.classes is None and y_public is None:
            raise ValueError("classes: list all classes, or give public rows; those of y are private")
        try:
            given = list(self.classes) if self.classes is not None else np.unique(np.asarray(y_public)).tolist()
            classes = np.sort(np.array(given))  # scikit-learn's scorers take classes_ to be sorted
        except TypeError:
            raise DataError("classes, or y_public: missing values, or classes of several kinds, which have no order") from None
        if classes.dtype.kind == "f" and not (classes % 1 == 0).all():
            raise ValueError("classes: Unknown label type: continuous; for numbers to predict take DPRegressor")
        self._texts = [_class_text(c) for c in classes]
        if len(set(self._texts)) < max(2, len(self._texts)):
            raise ValueError("classes: want two or more, each once; one class can't be told from others")
        self._fit(X, y, X_public, y_public)
        self.classes_ = classes
        return self

    def _data(self, bounds: List[Tuple[float, float]], inputs: List[str], label: str) -> Dict[str, Any]:
        return {**super()._data(bounds, inputs, label), "classes": self._texts}

    def _label(self, name: str, y: Any, rows: int) -> Array:
        labels = _column(name, y, rows)
        if labels.dtype == bool and set(self._texts) == {"0", "1"}:
            labels = labels.astype(int)
        elif labels.dtype.kind in "iu" and set(self._texts) == {"False", "True"} and set(np.unique(labels)) <= {0, 1}:
            labels = labels.astype(bool)
        return np.array([_class_text(c) for c in labels], dtype=str)

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
    """A regression that is trained with differential privacy.

    y_bounds: (low, high) of the labels, which are clipped to it. It is public, and required.
    The other parameters and the fitted attributes are those of DPClassifier, but for the classes.
    """

    _task = "regression"
    _estimator_type = "regressor"

    def __init__(
        self,
        epsilon: Optional[float] = 1.0,
        delta: Optional[float] = 1e-5,
        *,
        bounds: Optional[Bounds] = None,
        y_bounds: Optional[Tuple[float, float]] = None,
        model: str = "linear",
        tune: bool = True,
        holdout: Optional[float] = None,
        settings: Optional[Mapping[str, Any]] = None,
        data: Optional[str] = None,
        out: Optional[str] = None,
        command: Optional[str] = None,
        insecure_seed: Optional[int] = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon, self.delta, self.bounds, self.y_bounds, self.model, self.tune = epsilon, delta, bounds, y_bounds, model, tune
        self.holdout, self.settings, self.data, self.out, self.command = holdout, settings, data, out, command
        self.insecure_seed, self.verbose = insecure_seed, verbose

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> "DPRegressor":
        """Trains on private rows X [rows, columns], numbers, and their labels y, numbers too. See DPClassifier.fit."""
        self._fit(X, y, X_public, y_public)
        return self

    def _data(self, bounds: List[Tuple[float, float]], inputs: List[str], label: str) -> Dict[str, Any]:
        data = super()._data(bounds, inputs, label)
        ((low, high),) = _pairs("y_bounds", self.y_bounds, None, 1)
        _bound(data, label, low, high)
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


def _writable(names: Sequence[str]) -> bool:
    """Reports whether the names of columns may be those of a file's arrays and of the released model's columns."""
    return len(set(names)) == len(names) and all(name == name.strip() and name.isprintable() and name not in ("", "*") and not set(name) & set("[]/\\") for name in names)


def _label_name(y: Any, inputs: Sequence[str]) -> str:
    """Returns a name for the labels that no column has: that of a series, or else y."""
    name = getattr(y, "name", None)
    if not isinstance(name, str) or not _writable([name]) or name in inputs:
        name = LABEL
    while name in inputs:
        name += "_"
    return name


def _file_name(data: Optional[str]) -> str:
    """Returns the name of the file of private rows, by which the ledger lists them. Without one of the caller's it is random:
    files of one name and length are taken for near copies."""
    if data is None:
        return "array-" + secrets.token_hex(4)
    if not isinstance(data, str) or not _writable([data]) or data.startswith(".") or len(data) > 100:
        raise ValueError("data: want a name, such as survey-2026, without slashes and brackets")
    return data


# What the caller knows the command's flags by.
_ARGUMENTS = {
    "train": "X", "test": "X_public", "same-as": "data", "new-data": "another name as data", "config": "bounds, classes",
    **{flag: f'settings["{key}"]' for flag, key in (
        ("mu", "privacy.mean_repetitions"), ("q", "privacy.subset_rate"), ("sampling-rate", "privacy.sampling_rate"), ("epochs", "privacy.epochs"),
        ("clipping-norm", "privacy.clipping_norm"), ("clipping", "privacy.clipping"), ("noise-multiplier", "privacy.noise_multiplier"), ("learning-rate", "training.learning_rate"),
        ("variant", "privacy.variant"), ("accounting", "privacy.accounting"), ("repetitions", "privacy.repetitions"), ("optimizer", "training.optimizer"),
        ("tune", "tuning.tune"), ("search", "tuning.search"), ("metric", "tuning.metric"), ("unit", "data.unit"),
    )},
    **{flag: flag for flag in ("epsilon", "delta", "model", "holdout", "out", "classes")},
}


def _told(text: str, files: Mapping[str, str], named: bool) -> str:
    """Returns what the command says in the words of the caller, who gave no flags, and whose files are gone."""
    for name, path in files.items():
        text = text.replace(path, name).replace(os.path.basename(path), name)
    if not named:
        text = re.sub(r"\bx(\d+)\b", r"[:, \1]", text)
    text = re.sub(r"--set ([a-z_.]+)", r'settings["\1"]', text)
    text = text.replace('"dptrain train"', "tune=False").replace("--task regression", "DPRegressor").replace("--verbose", "verbose=True")
    text = re.sub(r", or a threshold, such as --threshold .* and \"evaluate\"", "", text)
    text = re.sub(r"--same-as \"([^\"]+)\.npz\"", r'data="\1"', text)
    text = re.sub(r"\"?([^\s\"]+)\.npz\b\"?", r'"\1"', text)
    return re.sub(r"--([a-z-]+)\b", lambda flag: _ARGUMENTS.get(flag[1], flag[0]), text)


def _bound(data: Dict[str, Any], name: str, low: float, high: float) -> None:
    data["clip"][name] = [low, high]
    data["scale"][name] = [low / 2 + high / 2, high / 2 - low / 2]


def _pairs(name: str, bounds: Any, names: Optional[Sequence[str]], columns: int) -> List[Tuple[float, float]]:
    """Returns a pair for each column. bounds are a pair for all, a pair for each, a dict of pairs by the columns' names, or all
    lowest and all highest values, as diffprivlib takes them."""
    if bounds is None:
        raise ValueError(f"{name}: give (low, high) from what is publicly known; bounds that were read off private rows would reveal them")
    if isinstance(bounds, Mapping):
        if names is None or set(bounds) != set(names):
            odd = sorted(set(bounds) ^ set(names or []), key=str)
            raise ValueError(f"{name}: a dict needs a pair for each column of a frame, and no other; see {', '.join(map(str, odd[:5]))}")
        bounds = [bounds[column] for column in names]
    pairs = np.asarray(bounds, np.float64)
    if pairs.shape == (2,):
        pairs = np.broadcast_to(pairs, (columns, 2))
    elif pairs.shape == (2, columns) and columns != 2:
        pairs = pairs.T
    if pairs.shape != (columns, 2):
        raise ValueError(f"{name}: want one pair (low, high), or one for each of {columns} columns")
    if not (np.isfinite(pairs).all() and (pairs[:, 0] < pairs[:, 1]).all()):
        raise ValueError(f"{name}: want finite numbers, the first below the second")
    return [(float(low), float(high)) for low, high in pairs]


def _matrix(name: str, X: Any) -> Array:
    if type(X).__module__.startswith("scipy.sparse"):
        raise DataError(f"{name}: a sparse matrix; give {name}.toarray()")
    columns = list(getattr(X, "column_names", getattr(X, "columns", [])))
    if columns and hasattr(X, "__getitem__") and len(set(columns)) == len(columns):
        parts = [_numbers(f"{name}: column {column!r}", X[column]) for column in columns]
        rows = np.stack(parts, axis=1) if all(part.ndim == 1 for part in parts) else np.empty(())
    else:
        rows = _numbers(name, X.to_numpy() if hasattr(X, "to_numpy") else X)
    if rows.ndim != 2 or 0 in rows.shape:
        if rows.ndim == 2:
            raise DataError(f"{name}: {rows.shape[0]} sample(s) and {rows.shape[1]} feature(s) (shape={rows.shape}) while a minimum of 1 is required.")
        raise DataError(f"{name}: an array of shape {rows.shape}; want [rows, columns]. Reshape your data")
    gaps = ~np.isfinite(rows).all(axis=0)
    if gaps.any():
        column = columns[int(gaps.argmax())] if columns else f"[:, {int(gaps.argmax())}]"
        raise DataError(f"{name}: column {column} has NaN or infinity; fill gaps by a constant of your own, and add a column that says where")
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
    array = np.asarray(values)
    if array.dtype.kind == "O" and any(type(cell).__name__ in ("NAType", "NaTType") for cell in array.flat):
        raise DataError(f"{name} has missing values; fill them by a constant of your own, and add a column that says where")
    try:
        if array.dtype.kind in "cmM":  # NumPy would drop imaginary parts, and count nanoseconds
            raise TypeError
        return np.asarray(array, np.float64)
    except (TypeError, ValueError, OverflowError):  # their texts cite values, which may be private
        kind = {"U": "texts", "S": "bytes", "M": "dates", "m": "times", "c": "complex numbers (Complex data not supported)"}.get(array.dtype.kind, "texts or other values")
        raise DataError(f"{name} has {kind}; want numbers") from None


def _column(name: str, y: Any, rows: int) -> Array:
    _refuse_masked(name, y)
    if y is None:
        raise DataError(_NO_LABELS)
    labels = np.asarray(y)
    if labels.shape not in ((rows,), (rows, 1)):
        raise DataError(f"{name}: an array of shape {labels.shape}, and there are {rows} rows")
    if labels.dtype.kind in "fc" and not np.isfinite(labels).all():
        raise DataError(f"Input {name} contains infinity or a value too large for dtype('{labels.dtype}'), or NaN.")
    if labels.ndim == 2:
        kind = getattr(sys.modules.get("sklearn.exceptions"), "DataConversionWarning", UserWarning)
        warnings.warn(f"A column-vector y was passed when a 1d array was expected: the column is taken as {name}", kind, stacklevel=5)
    return labels.reshape(rows)


def _weights(sample_weight: Any, rows: int) -> Optional[Array]:
    return None if sample_weight is None else _numbers("sample_weight", _column("sample_weight", sample_weight, rows))


def _class_text(value: Any) -> str:
    """Returns the text of a class, the same for 1, 1.0 and numpy's numbers."""
    if isinstance(value, (float, np.floating)) and value == np.trunc(value):
        value = int(value)
    return str(value).strip()
