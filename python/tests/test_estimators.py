"""Tests of the estimators: with a stand-in for dptrain that records what it gets, and with dptrain itself."""

import io
import json
import math
import os
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import warnings
from unittest import mock

import numpy as np

try:
    import pandas
    import pyarrow
except ImportError:
    pandas = pyarrow = None

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import dptrain
from dptrain import DPClassifier, DPRegressor

DPTRAIN = os.environ.get("DPTRAIN")

# The stand-in copies what it gets to $RECORD, with the modes, and then does as $ACT says.
STAND_IN = """\
#!{python}
import json, os, shutil, stat, sys, time
arguments = sys.argv[1:]
if arguments[0] == "ledger":
    print(os.environ.get("LEDGER", json.dumps({{"data": []}})))
    sys.exit(3 if os.environ["ACT"] == "no ledger" else 0)
files = {{name: arguments[arguments.index(name) + 1] for name in ("--train", "--test", "--config") if name in arguments}}
mode = lambda path: stat.S_IMODE(os.stat(path).st_mode)
folder = os.path.dirname(files["--train"])
for name, path in files.items():
    shutil.copy(path, os.path.join(os.environ["RECORD"], name[2:]))
with open(os.path.join(os.environ["RECORD"], "record.json.new"), "w") as out:
    json.dump({{"arguments": arguments, "folder": folder, "folder_mode": mode(folder), "modes": {{n: mode(p) for n, p in files.items()}}}}, out)
os.rename(os.path.join(os.environ["RECORD"], "record.json.new"), os.path.join(os.environ["RECORD"], "record.json"))
if os.environ["ACT"] == "sleep":
    time.sleep(60)
if os.environ["ACT"] == "fail":
    print("a note", file=sys.stderr)
    print(json.dumps({{"error": "no noise meets it", "exit_code": 4}}), file=sys.stderr)
    sys.exit(4)
model = os.path.join(os.environ["RUN"], "model.json")
description = json.load(open(model))
for column, name in zip(description["input"]["table"]["columns"], json.load(open(files["--config"]))["data"]["clip"]):
    column["name"] = name
json.dump(description, open(model, "w"))
result = {{"directory": os.environ["RUN"], "privacy": {{"epsilon": 0.5, "delta": 1e-6}}}}
if os.environ["ACT"] == "old":
    print(json.dumps({{"error": "unknown flag: --same-as; see dptrain tune --help", "exit_code": 2}}), file=sys.stderr)
    sys.exit(2)
if os.environ["ACT"] == "warn":
    print("a note of some length\\nwarning: few rows\\nwarning: " + files["--train"] + ", " + os.path.basename(files["--train"]) + ", column x1: try --mu or --set privacy.delta=1; may be s-1.npz: give --same-as \\"s-1.npz\\", or --new-data, or a threshold, such as --threshold no=0.1 of \\"dptrain predict\\" and \\"evaluate\\"", file=sys.stderr)
    result.update(plan_warnings=["few rows"], warning="no better than one answer")
print(json.dumps(result))
"""


def frames(columns):
    """Returns frames of these columns by pandas and Arrow, of those that are installed."""
    made = []
    if pandas:
        made.append(pandas.DataFrame(columns))
        made.append(pyarrow.Table.from_pandas(made[0]))
    return made


class StandIn(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.record = os.path.join(self.temporary.name, "record")
        self.tmp = os.path.join(self.temporary.name, "tmp")
        self.command = os.path.join(self.temporary.name, "dptrain")
        os.mkdir(self.record)
        os.mkdir(self.tmp)
        with open(self.command, "w", encoding="utf-8") as file:
            file.write(STAND_IN.format(python=sys.executable))
        os.chmod(self.command, 0o755)
        store = os.path.join(self.temporary.name, "store")
        environment = mock.patch.dict(os.environ, RECORD=self.record, ACT="", RUN=self.released(), TMPDIR=self.tmp, DPTRAIN_STORE=store)
        environment.start()
        tempfile.tempdir = None
        self.addCleanup(setattr, tempfile, "tempdir", None)
        self.addCleanup(environment.stop)

    def released(self):
        """Writes a released model of two columns that says class 1 where x0 is above x1."""
        import struct

        folder = os.path.join(self.temporary.name, "run")
        os.mkdir(folder)
        columns = [{"name": n, "clip": {"low": -1, "high": 3}, "scale": {"shift": 1, "divisor": 2}} for n in ("x0", "x1")]
        description = {
            "version": 2, "dataset": "files", "model": "linear", "activation": {"scale": 2, "temperature": 2, "offset": 1}, "sample_shape": [2],
            "outputs": 2, "task": "classification", "classes": ["a", "b"], "layers": [{"kind": "linear", "name": "fc1", "in": 2, "out": 2}],
            "input": {"table": {"label": {"name": "y", "task": "classification", "classes": ["a", "b"]}, "columns": columns, "shape": [2]}},
        }
        with open(os.path.join(folder, "model.json"), "w", encoding="utf-8") as file:
            json.dump(description, file)
        header = {"fc1.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}, "fc1.bias": {"dtype": "F32", "shape": [2], "data_offsets": [16, 24]}}
        text = json.dumps(header).encode()
        with open(os.path.join(folder, "model.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + struct.pack("<6f", 0, 0, 1, -1, 0, 0))
        return folder

    def recorded(self):
        with open(os.path.join(self.record, "record.json"), encoding="utf-8") as file:
            return json.load(file)


class TestCommandLine(StandIn):
    X = np.array([[1, 2], [3, 4], [5, -6]])

    def test_what_dptrain_gets(self):
        estimator = DPClassifier(0.5, 1e-6, bounds=(-1, 3), command=self.command, model="mlp:4", settings={"privacy.epochs": 3, "tuning.learning_rates": [1, 2]}, out="somewhere")
        self.assertIs(estimator.fit(self.X, ["b", "a", "b"], X_public=[[0.0, 1], [2, 3]], y_public=["b", "a"]), estimator)
        self.assertEqual(estimator.classes_.tolist(), ["a", "b"])  # of the public rows
        got = self.recorded()
        arguments = got["arguments"]
        at = lambda name: arguments[arguments.index(name) + 1]
        self.assertEqual(arguments[0], "tune")
        self.assertEqual([at("--epsilon"), at("--delta"), at("--model"), at("--out")], ["0.5", "1e-06", "mlp:4", "somewhere"])
        self.assertEqual([arguments[i + 1] for i, a in enumerate(arguments) if a == "--set"], ["privacy.epochs=3", "tuning.learning_rates=[1, 2]"])
        self.assertNotIn("--holdout", arguments)
        self.assertNotIn("--insecure-seed", arguments)
        self.assertEqual([got["folder_mode"], got["modes"]["--train"], got["modes"]["--test"]], [0o700, 0o600, 0o600])
        self.assertEqual(os.path.dirname(got["folder"]), self.tmp)
        self.assertEqual(os.listdir(self.tmp), [])
        with np.load(os.path.join(self.record, "train")) as arrays:
            self.assertEqual(sorted(arrays), ["x0", "x1", "y"])
            self.assertEqual([arrays["x0"].tolist(), arrays["x1"].tolist(), arrays["y"].tolist()], [[1, 3, 5], [2, 4, -6], ["b", "a", "b"]])
        with open(os.path.join(self.record, "config"), encoding="utf-8") as file:
            data = json.load(file)["data"]
        self.assertEqual(data, {"label": "y", "task": "classification", "classes": ["a", "b"], "clip": {"x0": [-1, 3], "x1": [-1, 3]}, "scale": {"x0": [1, 2], "x1": [1, 2]}})
        self.assertEqual([estimator.epsilon_, estimator.delta_, estimator.n_features_in_, estimator.run_], [0.5, 1e-6, 2, os.environ["RUN"]])
        self.assertEqual(estimator.predict([[2, 1], [1, 2]]).tolist(), ["b", "a"])
        self.assertAlmostEqual(estimator.predict_proba([[2, 1]])[0, 1], 1 / (1 + np.exp(-0.5)))
        self.assertEqual(estimator.score([[2, 1], [1, 2]], ["b", "b"]), 0.5)
        with self.assertRaises(dptrain.DataError):
            estimator.predict([[1, 2, 3]])

    def test_warnings(self):
        os.environ["ACT"] = "warn"
        with self.assertWarns(UserWarning) as got:
            DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command).fit(self.X, ["b", "a", "b"])
        told = 'X, X, column [:, 1]: try settings["privacy.mean_repetitions"] or settings["privacy.delta"]=1; may be "s-1": give data="s-1", or another name as data'
        self.assertEqual([str(w.message) for w in got.warnings], ["dptrain: few rows", "dptrain: " + told, "dptrain: no better than one answer"])
        self.assertEqual(got.filename, __file__)

    # In a notebook sys.stderr is no file.
    def test_verbose(self):
        os.environ["ACT"] = "warn"
        with mock.patch("sys.stderr", io.StringIO()) as shown, self.assertWarnsRegex(UserWarning, "few rows"):
            DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command, verbose=True).fit(self.X, ["b", "a", "b"])
        self.assertTrue(shown.getvalue().startswith("a note of some length\nwarning: few rows\n"))
        self.assertNotIn("--quiet", self.recorded()["arguments"])

    def test_log_to_mlflow(self):
        estimator, mlflow = DPClassifier(), mock.Mock()
        estimator.result_ = {
            "dataset": "files", "model": "linear", "test_accuracy": 0.84, "public_test": {"rows": 200, "auc": 0.93, "classes": [], "confusion": []},
            "hyperparameters": {"learning_rate": 0.03, "optimizer": "dp-adam"}, "privacy": {"epsilon": 2, "delta": 1e-5, "accounting": "best", "insecure_seed": True},
            "learning_curve": [{"step": 0, "score": 0.5}, {"step": 20, "score": 0.8}],
        }
        estimator.log_to(mlflow)
        mlflow.log_params.assert_called_once_with({"model": "linear", "learning_rate": 0.03, "optimizer": "dp-adam", "accounting": "best"})
        mlflow.log_metrics.assert_called_once_with({"rows": 200, "auc": 0.93, "test_accuracy": 0.84, "epsilon": 2, "delta": 1e-5})
        self.assertEqual(mlflow.log_metric.call_args_list, [mock.call("learning_curve", 0.5, step=0), mock.call("learning_curve", 0.8, step=20)])

    def test_epsilon_of_settings(self):
        DPClassifier(None, bounds=(-1, 3), classes=["a", "b"], command=self.command, settings={"privacy.noise_multiplier": 2}).fit(self.X, ["b", "a", "b"])
        arguments = self.recorded()["arguments"]
        self.assertNotIn("--epsilon", arguments)
        self.assertEqual(arguments[arguments.index("--holdout") + 1], "0.1")

    # Rows are held out for a search alone: see TestChoice of the command.
    def test_holdout_of_a_search(self):
        for held, options in [
            (None, {}), (None, {"settings": {"performance.workers": 1, "data.clip": {"y": [0, 1]}}}), ("0.1", {"model": "mlp:4"}),
            ("0.3", {"holdout": 0.3}), ("0.1", {"settings": {"tuning.tune": "rate"}}), (None, {"tune": False, "model": "mlp:4"}),
        ]:
            DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command, **options).fit(self.X, ["b", "a", "b"])
            arguments = self.recorded()["arguments"]
            self.assertEqual(arguments[arguments.index("--holdout") + 1] if "--holdout" in arguments else None, held, options)

    # Each fit is a release, and the ledger says what all releases of the rows cost.
    def test_releases_add_up(self):
        estimator = DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command)
        of = lambda void, *paths: {"names": ["survey.npz"], "releases": [{"path": p} for p in paths], "together": {"epsilon": 6.84, "delta": 1e-5, "void": void}}
        run, other = os.environ["RUN"], of(0, "/elsewhere")
        for ledger, spent, warned in (
            ([], 0.5, False), ([other, of(0, run)], 6.84, False), ([of(0, "/before", run), other], 6.84, True), ([of(1, "/before", run)], np.inf, True),
        ):
            os.environ["LEDGER"] = json.dumps({"data": ledger})
            with warnings.catch_warnings(record=True) as got:
                warnings.simplefilter("always")
                estimator.fit(self.X, ["b", "a", "b"])
            self.assertEqual(estimator.epsilon_spent_, spent)
            self.assertEqual(len(got), warned)
            if warned:
                self.assertRegex(str(got[0].message), "dptrain: 2 releases of these rows, this one included, cost epsilon (6.84|inf) together at delta 1e-05, not 0.5")
                self.assertEqual(got[0].filename, __file__)

        os.environ.update(ACT="no ledger", LEDGER="no JSON")
        self.assertEqual(estimator.fit(self.X, ["b", "a", "b"]).epsilon_spent_, 0.5)

    def test_a_command_of_another_version(self):
        os.environ["ACT"] = "old"
        with self.assertRaisesRegex(dptrain.CommandError, "unknown flag: data; .* doesn't fit this package: install both from one version"):
            DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command).fit(self.X, ["b", "a", "b"])

    def test_labels_that_are_no_classes(self):
        with self.assertRaisesRegex(ValueError, "requires y to be passed"):
            DPClassifier(bounds=(-1, 3), command=self.command).fit(self.X, None)
        for mixed in ([None, 0.5], np.array(["a", None, 1], object)):
            with self.assertRaisesRegex(dptrain.DataError, "no order"):
                DPClassifier(bounds=(-1, 3), command=self.command).fit(self.X, [0, 1, 0], self.X, mixed)
        for wrong in ([0.5, 1.5], [0, np.nan]):
            with self.assertRaisesRegex(ValueError, "Unknown label type: continuous"):
                DPClassifier(bounds=(-1, 3), classes=wrong, command=self.command).fit(self.X, [0, 1, 0])

    def test_names_of_data(self):
        names = set()
        for data, known in ((None, "x.npz"), (None, "x.npz"), ("survey-2026", "x.npz"), ("survey-2026", "survey-2026.npz")):
            os.environ["LEDGER"] = json.dumps({"data": [{"names": [known], "releases": []}]})
            DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command, data=data).fit(self.X, ["b", "a", "b"])
            arguments = self.recorded()["arguments"]
            names.add(os.path.basename(arguments[arguments.index("--train") + 1]))
            self.assertEqual("--same-as" in arguments, data is not None and known == data + ".npz")
        self.assertEqual(len(names), 3)  # random ones differ: files of one name and length are near
        for wrong in ("a/b", "", "..", 3, "x" * 101):
            with self.assertRaisesRegex(ValueError, "data: want a name"):
                DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command, data=wrong).fit(self.X, ["b", "a", "b"])

    # A frame's names are the model's, so that its columns are found again, by the command too.
    def test_names_of_columns(self):
        columns = lambda X: DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command).fit(X, ["b", "a"]).model_.columns
        for frame in frames({"age, in years": [1.0, 2], "Größe": [3, 0]}):
            self.assertEqual(columns(frame), ["age, in years", "Größe"])
            with np.load(os.path.join(self.record, "train")) as arrays:
                self.assertEqual(arrays["Größe"].tolist(), [3, 0])
        for names in (["a/b", "c"], ["a[", "c"], ["a]", "c"], ["a\\", "c"], ["a\x00b", "c"], [" a", "c"], ["*", "c"], ["", "c"]):
            for frame in frames(dict(zip(names, [[1, 2], [3, 0]]))):
                self.assertEqual(columns(frame), ["x0", "x1"])
        if pandas:
            self.assertEqual(columns(pandas.DataFrame({0: [1, 2], 1: [3, 0]})), ["x0", "x1"])
            self.assertEqual(columns(pandas.DataFrame([[1, 2], [3, 0]], columns=["a", "a"])), ["x0", "x1"])
            frame, y = pandas.DataFrame({"y": [1, 2], "file": [3, 0]}), pandas.Series(["b", "a"], name="outcome")
            for labels, name in ((y, "outcome"), (y.rename("file"), "y_"), (["b", "a"], "y_")):
                estimator = DPClassifier(bounds={"file": (0, 9), "y": (-1, 3)}, classes=["a", "b"], command=self.command).fit(frame, labels)
                with open(os.path.join(self.record, "config"), encoding="utf-8") as file:
                    data = json.load(file)["data"]
                self.assertEqual([data["label"], data["clip"]], [name, {"y": [-1, 3], "file": [0, 9]}])
                self.assertEqual(estimator.predict(frame).tolist(), estimator.model_.predict(frame[["file", "y"]]).tolist())

    def test_bounds(self):
        X = [[1.0, 2, 3], [3, 0, 1]]
        for bounds in ((0, 9), [(0, 9)] * 3, ([0, 0, 0], [9, 9, 9]), (np.zeros(3), np.full(3, 9))):
            DPClassifier(bounds=bounds, classes=["a", "b"], command=self.command).fit(X, ["b", "a"])
            with open(os.path.join(self.record, "config"), encoding="utf-8") as file:
                self.assertEqual(json.load(file)["data"]["clip"], {f"x{j}": [0, 9] for j in range(3)})
        for bounds, names, why in (({"a": (0, 1)}, "ab", "no other; see b"), ({"a": (0, 1), "b": (0, 1), "c": (0, 1)}, "ab", "see c")):
            for frame in frames({name: [1, 2] for name in names}):
                with self.assertRaisesRegex(ValueError, why):
                    DPClassifier(bounds=bounds, classes=["a", "b"], command=self.command).fit(frame, ["b", "a"])

    # The error names the column, and cites no cell.
    def test_cells_that_are_no_numbers(self):
        cells = [(["secret", "x"], "texts"), ([None, "secret"], "texts or other"), ([1.0, math.nan], "NaN or infinity"), ([1, math.inf], "NaN or infinity")]
        if pandas:
            cells += [(pandas.to_datetime(["2026-01-01", "2026-01-02"]), "dates"), (pandas.array([1, None], dtype="Int64"), "missing values|NaN"), (pandas.Series([1, pandas.NA], dtype=object), "missing values|NaN")]
        for column, why in cells:
            for frame in frames({"age": [1, 2], "odd": column}):
                with self.assertRaisesRegex(dptrain.DataError, "column '?odd'? has (%s)" % why) as got:
                    DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command).fit(frame, ["b", "a"])
                self.assertNotIn("secret", str(got.exception))
        with self.assertRaisesRegex(dptrain.DataError, r"X: column \[:, 1\] has NaN"):
            DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command).fit([[1, 2], [3, math.nan]], ["b", "a"])

    def test_labels(self):
        for classes, y, texts in [
            ([0, 1], np.array([1.0, 0, 1]), ["1", "0", "1"]), ([False, True], [True, False, True], ["True", "False", "True"]),
            ((2, 10), np.array([[2], [10], [2]]), ["2", "10", "2"]),
        ]:
            estimator = DPClassifier(bounds=[(0, 1), (-5, 5)], classes=classes, command=self.command, holdout=0.2, tune=False, insecure_seed=7).fit(self.X, y)
            arguments = self.recorded()["arguments"]
            self.assertEqual(arguments[0], "train")
            self.assertNotIn("--holdout", arguments)  # train has nothing to select
            self.assertEqual(arguments[arguments.index("--insecure-seed") + 1], "7")
            with np.load(os.path.join(self.record, "train")) as arrays:
                self.assertEqual(arrays["y"].tolist(), texts)
            with open(os.path.join(self.record, "config"), encoding="utf-8") as file:
                self.assertEqual(json.load(file)["data"]["columns"], ["x0", "x1"])
            self.assertEqual(estimator.classes_.tolist(), list(classes))
            self.assertEqual(estimator.predict([[3, 0]]).tolist(), [classes[1]])

    # scikit-learn's scorers take the last column of predict_proba for the class that sorts last.
    def test_order_of_classes(self):
        estimator = DPClassifier(bounds=(-1, 3), classes=[10, 2], command=self.command).fit(self.X, [2, 10, 2])
        with open(os.path.join(self.record, "config"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["data"]["classes"], ["2", "10"])
        self.assertEqual(estimator.classes_.tolist(), [2, 10])
        self.assertEqual(estimator.predict([[3, 0]]).tolist(), [10])

    # Predictions are ["b", "a", "b"]. A column of labels was compared with all predictions.
    def test_accuracy(self):
        estimator = DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command).fit(self.X, ["b", "a", "b"])
        X, y = [[2, 1], [1, 2], [3, 1]], np.array(["b", "a", "a"])
        for weights, want in ((None, 2 / 3), ([1, 1, 2], 0.5), (np.array([[3], [0], [1]]), 0.75)):
            for labels in (y, y[:, None], list(y)):
                self.assertAlmostEqual(estimator.score(X, labels, sample_weight=weights), want)
        self.refuse_shapes(estimator, X, y)

    # NumPy's True equals 1, and so it does here, in either direction.
    def test_booleans(self):
        for classes, y in (([0, 1], [True, False, True]), ([False, True], [1, 0, 1])):
            estimator = DPClassifier(bounds=(-1, 3), classes=classes, command=self.command).fit(self.X, y)
            with np.load(os.path.join(self.record, "train")) as arrays:
                self.assertEqual(arrays["y"].tolist(), [str(classes[i]) for i in (1, 0, 1)])
            self.assertEqual(estimator.score([[2, 1], [1, 2], [3, 1]], np.array(y)), 1)

    # "b " is class b to the command.
    def test_labels_with_blanks(self):
        estimator = DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command).fit(self.X, ["b ", " a", "b"])
        self.assertEqual(estimator.score([[2, 1], [1, 2], [3, 1]], ["b ", "a", " a"]), 2 / 3)

    def test_masked(self):
        masked = np.ma.array(self.X, mask=[[0, 0], [0, 1], [0, 0]])
        estimator = DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command)
        for X, y in ((masked, ["b", "a", "b"]), (self.X, np.ma.array(["b", "a", "b"], mask=[1, 0, 0]))):
            with self.assertRaisesRegex(dptrain.DataError, "masked"):
                estimator.fit(X, y)
        estimator.fit(np.ma.array(self.X), ["b", "a", "b"])  # nothing is masked
        with self.assertRaisesRegex(dptrain.DataError, "masked"):
            estimator.predict(masked)

    def test_columns_in_another_order(self):
        class Frame:
            def __init__(self, columns):
                self.columns = columns

            def to_numpy(self):
                return np.array([[1.0, 2], [3, 0]])

        estimator = DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command)
        with self.assertRaisesRegex(dptrain.DataError, "X_public: column 1 is 'w', and 'v' in fit"):
            estimator.fit(Frame(["v", "w"]), ["b", "a"], Frame(["w", "v"]), ["b", "a"])
        estimator.fit(Frame(["v", "w"]), ["b", "a"], Frame(["v", "w"]), ["b", "a"])
        self.assertEqual(estimator.feature_names_in_.tolist(), ["v", "w"])
        self.assertEqual(estimator.predict(Frame(["v", "w"])).tolist(), estimator.predict([[1, 2], [3, 0]]).tolist())
        with self.assertRaisesRegex(dptrain.DataError, "X: column 2 is 'u', and 'w' in fit"):
            estimator.predict(Frame(["v", "u"]))
        self.assertFalse(hasattr(estimator.fit([[1, 2], [3, 0]], ["b", "a"]), "feature_names_in_"))

    def test_public_rows_beyond_bounds(self):
        estimator = DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command)
        with self.assertWarnsRegex(UserWarning, "2 of 3 rows of X_public have values beyond bounds") as got:
            estimator.fit(self.X, ["b", "a", "b"], [[0, 9], [-7, 1], [1, 2]], ["b", "a", "b"])
        self.assertEqual(got.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            estimator.fit(self.X, ["b", "a", "b"], [[0, 9], [-7, 1], [1, 2], [3, -1]], ["b", "a"] * 2)

    def test_r2(self):
        estimator = DPRegressor()
        estimator.model_, estimator.n_features_in_, estimator._inputs = mock.Mock(predict=lambda columns: columns["x0"]), 2, ["x0", "x1"]
        X, y = [[1, 0], [2, 0], [3, 0]], np.array([1, 2, 4])
        for weights, want in ((None, 1 - 3 / 14), ([1, 1, 0], 1), (np.array([[2], [0], [1]]), 1 - 1 / 6)):
            for labels in (y, y[:, None], list(y)):
                self.assertAlmostEqual(estimator.score(X, labels, sample_weight=weights), want)
        self.refuse_shapes(estimator, X, y)

    def refuse_shapes(self, estimator, X, y):
        for labels, weights in ((y[:2], None), (y[None, :], None), (y[0], None), (y, [1, 1]), (y, 1), (y, ["secret"] * 3)):
            with self.assertRaises(dptrain.DataError):
                estimator.score(X, labels, sample_weight=weights)

    def test_regression(self):
        DPRegressor(bounds=(0, 1), y_bounds=(10, 30), command=self.command).fit(self.X, [1, 2, 3], self.X, [4, 5, 6])
        with open(os.path.join(self.record, "config"), encoding="utf-8") as file:
            data = json.load(file)["data"]
        self.assertEqual([data["task"], data["clip"]["y"], data["scale"]["y"]], ["regression", [10, 30], [20, 10]])
        self.assertNotIn("classes", data)

    def test_failure(self):
        os.environ["ACT"] = "fail"
        with self.assertRaises(dptrain.CommandError) as caught:
            DPClassifier(bounds=(0, 1), classes=[0, 1], command=self.command).fit(self.X, [0, 1, 1])
        self.assertEqual((caught.exception.exit_code, str(caught.exception)), (4, "dptrain tune ended with exit code 4: no noise meets it"))
        self.assertEqual(os.listdir(self.tmp), [])

    # A program that is interrupted while dptrain runs ends dptrain, and leaves no file behind.
    def test_interruption(self):
        os.environ["ACT"] = "sleep"
        program = textwrap.dedent(f"""
            import sys
            sys.path.insert(0, {os.path.dirname(HERE)!r})
            from dptrain import DPClassifier
            DPClassifier(bounds=(0, 1), classes=[0, 1], command={self.command!r}).fit([[1, 2]], [0])
        """)
        signals = ((signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 143), (signal.SIGHUP, 129))

        def heed():  # under nohup, or in a script's background, some are ignored, and a program inherits that
            for number, _ in signals:
                signal.signal(number, signal.SIG_DFL)

        for number, code in signals:
            with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL, preexec_fn=heed) as process:
                deadline = time.monotonic() + 60
                while not os.path.exists(os.path.join(self.record, "record.json")) and time.monotonic() < deadline:
                    time.sleep(0.01)
                folder = self.recorded()["folder"]
                self.assertTrue(os.path.isdir(folder))
                process.send_signal(number)
                self.assertIn(process.wait(timeout=60), (code, 130))
            self.assertEqual(os.listdir(self.tmp), [])
            os.remove(os.path.join(self.record, "record.json"))

    def test_refused(self):
        good = {"bounds": (0, 1), "classes": [0, 1], "command": self.command}
        secret = [["secret", 1.0]]
        for change, X, y, public in [
            ({"bounds": None}, self.X, [0, 1, 1], None), ({"bounds": (1, 0)}, self.X, [0, 1, 1], None), ({"bounds": [(0, 1)] * 3}, self.X, [0, 1, 1], None),
            ({"bounds": (0, float("inf"))}, self.X, [0, 1, 1], None), ({"classes": None}, self.X, [0, 1, 1], None), ({"classes": [1]}, self.X, [0, 1, 1], None),
            ({"classes": [1, 1.0]}, self.X, [0, 1, 1], None), ({}, self.X, [0, 1], None), ({}, secret, [0], None), ({}, [[10**400, 1]], [0], None), ({}, [[1j, 1]], [0], None), ({}, [1, 2], [0, 1], None),
            ({}, np.zeros((0, 2)), [], None), ({}, self.X, [0, 1, 1], (np.zeros((2, 3)), [0, 1])), ({}, self.X, [0, 1, 1], (np.zeros((2, 2)), None)),
        ]:
            with self.assertRaises(ValueError) as caught:
                DPClassifier(**{**good, **change}).fit(X, y, *(public or ()))
            self.assertNotIn("secret", str(caught.exception))
            self.assertEqual(os.listdir(self.tmp), [])
        with self.assertRaises(ValueError):
            DPRegressor(bounds=(0, 1), command=self.command).fit(self.X, [1, 2, 3])
        for unfitted in (DPClassifier(**good).predict, DPClassifier(**good).predict_proba, DPRegressor().predict):
            with self.assertRaises(ValueError):
                unfitted(self.X)
        with self.assertRaises(FileNotFoundError):
            DPClassifier(**{**good, "command": "/nowhere/dptrain"}).fit(self.X, [0, 1, 1])
        self.assertFalse(os.path.exists(os.path.join(self.record, "record.json")))

    def test_parameters(self):
        estimator = DPRegressor(2.0, model="mlp:3", y_bounds=(0, 1))
        self.assertEqual(repr(estimator), "DPRegressor(epsilon=2.0, y_bounds=(0, 1), model='mlp:3')")
        again = type(estimator)(**estimator.get_params())
        self.assertEqual(again.get_params(), estimator.get_params())
        self.assertEqual(again.set_params(epsilon=3.0).epsilon, 3.0)
        with self.assertRaises(ValueError):
            again.set_params(epsilom=3)


@unittest.skipUnless(DPTRAIN, "DPTRAIN isn't set")
class TestWithDptrain(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        environment = mock.patch.dict(os.environ, DPTRAIN_STORE=os.path.join(self.folder, "store"))
        environment.start()
        self.addCleanup(environment.stop)
        tmp = os.path.join(self.folder, "tmp")
        os.mkdir(tmp)
        self.addCleanup(setattr, tempfile, "tempdir", tempfile.tempdir)
        tempfile.tempdir = tmp
        self.addCleanup(lambda: self.assertEqual(os.listdir(tmp), []))
        draw = np.random.default_rng(1)
        self.X = draw.uniform(-2, 2, (1200, 3))
        self.z = self.X @ [1, -1, 0.5]
        self.options = {"bounds": (-2, 2), "insecure_seed": 1, "settings": {"privacy.accounting": "paper", "privacy.epochs": 10}, "out": os.path.join(self.folder, "run")}

    # The rows are separable: three of four must be right, and R² above one half.
    def test_classifier(self):
        y = np.where(self.z > 0, "up", "down")
        estimator = DPClassifier(8.0, 1e-3, **self.options).fit(self.X[:1000], y[:1000], self.X[1000:], y[1000:])
        self.assertEqual(estimator.classes_.tolist(), ["down", "up"])
        self.assertGreater(estimator.score(self.X[1000:], y[1000:]), 0.75)
        self.assertLessEqual(estimator.epsilon_, 8)
        np.savez(os.path.join(self.folder, "new.npz"), **{f"x{j}": self.X[:5, j] for j in range(3)})
        out = subprocess.run([DPTRAIN, "predict", estimator.run_, os.path.join(self.folder, "new.npz"), "--json"], check=True, stdout=subprocess.PIPE).stdout
        self.assertEqual([row["class"] for row in json.loads(out)], estimator.predict(self.X[:5]).tolist())
        np.testing.assert_allclose([row["probabilities"]["up"] for row in json.loads(out)], estimator.predict_proba(self.X[:5])[:, 1], atol=2e-6)

    def test_regressor(self):
        estimator = DPRegressor(8.0, 1e-3, y_bounds=(-5, 5), **self.options).fit(self.X[:1000], self.z[:1000], self.X[1000:], self.z[1000:])
        self.assertGreater(estimator.score(self.X[1000:], self.z[1000:]), 0.5)

    def test_holdout(self):
        if b"--holdout" not in subprocess.run([DPTRAIN, "tune", "--help"], check=True, stdout=subprocess.PIPE).stdout:
            self.skipTest("this dptrain has no --holdout")
        for holdout in (None, 0.1):  # by the rule, and by a search
            options = {**self.options, "settings": self.options["settings"] if holdout else None, "out": os.path.join(self.folder, str(holdout))}
            estimator = DPClassifier(8.0, 1e-3, classes=[0, 1], holdout=holdout, **options).fit(self.X, (self.z > 0).astype(int))
            self.assertGreater(estimator.score(self.X, (self.z > 0).astype(int)), 0.6)
            self.assertEqual("held_out" in estimator.result_, holdout is not None)

    def test_error(self):
        with self.assertRaises(dptrain.CommandError) as caught:
            DPClassifier(1e-9, 1e-3, classes=[0, 1], **self.options).fit(self.X, (self.z > 0).astype(int), self.X, (self.z > 0).astype(int))
        self.assertNotEqual(caught.exception.exit_code, 0)


if __name__ == "__main__":
    unittest.main()
