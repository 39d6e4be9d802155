"""Tests of dptrain.load and of predictions, on models written by hand and on those that dptrain released."""

import csv
import hashlib
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import dptrain
from dptrain import _table

FIXTURES = os.environ.get("DPTRAIN_FIXTURES")
EARLIER = os.environ.get("DPTRAIN_EARLIER")


def tensors(entries):
    """Returns a file of tensors. entries are (name, shape, values)."""
    header, data = {"__metadata__": {"a": "b"}}, b""
    for name, shape, values in entries:
        part = struct.pack("<%df" % len(values), *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def linear(columns, classes=("no", "yes"), **more):
    """Returns the description of a linear model of a table."""
    width = sum(len(c.get("categories", [1])) + bool(c.get("missing", {}).get("indicator")) for c in columns)
    description = {
        "version": 2, "dataset": "files", "model": "linear", "activation": {"scale": 2, "temperature": 2, "offset": 1},
        "sample_shape": [width], "outputs": len(classes) or 1, "task": "classification" if classes else "regression",
        "layers": [{"kind": "linear", "name": "fc1", "in": width, "out": len(classes) or 1}],
        "input": {"table": {"label": {"name": "y", **more.pop("label", {})}, "columns": columns, "shape": [width]}},
    }
    if classes:
        description["classes"] = list(classes)
    return {**description, **more}


class Series:
    def __init__(self, values):
        self.values = values

    def to_numpy(self):
        return np.array(self.values, dtype=object)


class Frame:
    """What a pandas or Polars frame has."""

    columns = ["other", "colour", "age"]

    def __getitem__(self, name):
        return Series({"colour": ["green", "x", math.nan], "age": [46, "10", 90.0]}[name])


class Written(unittest.TestCase):
    def write(self, description, file):
        folder = self.enterContext_(tempfile.TemporaryDirectory())
        with open(os.path.join(folder, "model.json"), "w", encoding="utf-8") as out:
            json.dump(description, out)
        with open(os.path.join(folder, "model.safetensors"), "wb") as out:
            out.write(file)
        return folder

    def enterContext_(self, context):  # unittest's own is of Python 3.11
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value


class TestByHand(Written):
    # Values computed by hand: ages 46 and 10, clipped to 20, become 0.5 and -0.8 by (x-41)/10 and (x-28)/10.
    def test_classes(self):
        columns = [
            {"name": "age", "clip": {"low": 20, "high": 80}, "scale": {"shift": 28, "divisor": 10}},
            {"name": "colour", "categories": ["green", "*", ""]},
        ]
        model = dptrain.load(self.write(linear(columns, temperature=2), tensors([
            ("fc1.weight", [2, 4], [1, 0, 0, 0, 0, 3, 5, 7]), ("fc1.bias", [2], [0.5, -1]),
        ])))
        self.assertEqual(model.columns, ["age", "colour"])
        want = np.array([[1.8, 1, 0, 0], [-0.8, 0, 1, 0], [5.2, 0, 0, 1]], np.float32)
        logits = np.array([[2.3, 2], [-0.3, 4], [5.7, 6]])
        as_frame = {"colour": np.array(["green", "red", None], object), "age": np.array([46.0, 10, 90])}
        structured = np.array([(46, "green"), (10, "red"), (90, " NA")], [("age", "i4"), ("colour", "U9")])
        for rows in (
            [{"age": 46, "colour": " green"}, {"age": "1e1", "colour": "red"}, {"age": 90.0, "colour": float("nan")}],
            [[46, "green"], (" 10 ", "Green"), [np.float32(90), "N/A"]], as_frame, structured, Frame(),
            np.array([[46, "green"], [10, "red"], [90, None]], object), want, want.astype(np.float64),
        ):
            encoded = isinstance(rows, np.ndarray) and rows.dtype.kind == "f"
            np.testing.assert_allclose(model.encode(rows, encoded), want, rtol=1e-6)
            np.testing.assert_allclose(model.outputs(rows, encoded), logits, rtol=1e-5, atol=1e-6)
            self.assertEqual(list(model.predict(rows, encoded)), ["no", "yes", "yes"])
            p = model.predict_proba(rows, encoded)
            for i, (a, b) in enumerate(logits):
                self.assertAlmostEqual(p[i, 1], 1 / (1 + math.exp((a - b) / 2)), places=5)
        self.assertEqual(model.predict_proba(np.zeros((0, 4)), encoded=True).shape, (0, 2))

    # An array has rows in the unit of the training file, as a list of rows has: taken for samples, they gave other classes.
    def test_arrays(self):
        columns = [{"name": "a", "scale": {"shift": 10, "divisor": 5}}, {"name": "b"}]
        model = dptrain.load(self.write(linear(columns), tensors([("fc1.weight", [2, 2], [0, 0, 1, 0]), ("fc1.bias", [2], [0, 0])])))
        rows = np.array([[5, 0], [15, 0]])
        for X in (rows, rows.astype(np.uint8), rows.tolist(), {"a": [5, 15], "b": [0, 0]}):
            self.assertEqual(model.predict(X).tolist(), ["no", "yes"])
        self.assertEqual(model.predict(rows, encoded=True).tolist(), ["yes", "yes"])
        images = linear([{"name": "x", "shape": [2, 3], "scale": {"shift": 0, "divisor": 255}}], sample_shape=[6])
        images["layers"][0]["in"] = 6
        model = dptrain.load(self.write(images, tensors([("fc1.weight", [2, 6], [0] * 12), ("fc1.bias", [2], [0, 0])])))
        pixels = np.array([[[0, 51, 102], [153, 204, 255]]], np.uint8)
        for X in (pixels, pixels.reshape(1, 6), {"x": pixels}):
            np.testing.assert_allclose(model.encode(X), [[0, 0.2, 0.4, 0.6, 0.8, 1]], rtol=1e-6)
        with self.assertRaisesRegex(dptrain.DataError, r"an array of shape \[1, 5\]"):
            model.encode(pixels.reshape(1, 6)[:, :5])

    # Classes are what a frame read from the same file has: '0' == 0 is False for every row.
    def test_kinds_of_classes(self):
        for names, want in [
            (["0", "1"], [0, 1]), (["10", "-2"], [10, -2]), (["True", "False"], [True, False]), (["false", "true"], [False, True]),
            (["01", "1"], ["01", "1"]), (["1.0", "2"], ["1.0", "2"]), (["no", "1"], ["no", "1"]), (["²", "1"], ["²", "1"]), (["--1", "1"], ["--1", "1"]),
        ]:
            model = dptrain.load(self.write(linear([{"name": "x"}], names), tensors([("fc1.weight", [2, 1], [-1, 1]), ("fc1.bias", [2], [0, 0])])))
            got = model.predict({"x": [-1, 1]})
            self.assertEqual(got.tolist(), want)
            self.assertTrue((got == np.array(want, got.dtype)).all())

    # Booleans are True and False in some files, true and false in others, and 1 and 0 in Parquet.
    def test_booleans(self):
        for categories, cells, want in [
            (["False", "True"], [True, "true", "1", 1, False], [1, 1, 1, 1, 0]), (["0", "1"], [True, "True", False], [1, 1, 0]),
            (["true", "*"], [True, "TRUE", "1", "x"], [0, 0, 0, 1]), (["1", "2", "3", "*"], ["1", "true"], [0, 3]),
            (["true", "1", "x"], ["1", True], [1, 0]),
        ]:
            got = _table.encode([{"name": "b", "categories": categories}], {"b": cells})
            self.assertEqual(got.argmax(axis=1).tolist(), want)
            self.assertEqual(got.shape[1], len(categories))

    # Names that aren't texts are found by their texts, as in a file.
    def test_names_of_numbers(self):
        class Whole(Frame):
            columns = [0, 1]

            def __getitem__(self, name):
                return Series([[1, 2], [3, 4]][name])

        for X in (Whole(), {0: [1, 2], 1: [3, 4]}):
            self.assertEqual(_table.encode([{"name": "1"}, {"name": "0"}], X).tolist(), [[3, 1], [4, 2]])

    def test_written(self):
        columns = [{"name": "x", "written": "1,5", "missing": {"fill": 4}}]
        np.testing.assert_allclose(_table.encode(columns, {"x": [1.5, 2, "NA"]}), [[1.5], [2], [4]])
        with self.assertRaisesRegex(dptrain.ModelError, "column x: its texts are written as '1,5': parse them into numbers"):
            _table.encode(columns, {"x": [1.5, "1.234"]})

    def test_values_of_arrays(self):
        columns = [{"name": "x[2]", "scale": {"shift": 1, "divisor": 2}}, {"name": "x[0]"}]
        np.testing.assert_allclose(_table.encode(columns, {"x": [[1, 2, 3], [4, 5, 6]]}), [[1, 1], [2.5, 4]])
        np.testing.assert_allclose(_table.encode(columns, {"x[0]": [1], "x[2]": [3]}), [[1, 1]])
        with self.assertRaisesRegex(dptrain.DataError, "no column"):
            _table.encode(columns, {"x": [[1, 2], [4, 5]]})

    def test_missing(self):
        columns = [
            {"name": "a", "missing": {"fill": 40, "indicator": True}, "clip": {"low": 0, "high": 30}, "scale": {"shift": 10, "divisor": 5}},
            {"name": "b", "missing": {"fill": -1, "words": ["unknown", "-9.9e2"]}},
            {"name": "c", "categories": ["?", "", "x"]},
        ]
        model = dptrain.load(self.write(linear(columns), tensors([("fc1.weight", [2, 6], [0] * 12), ("fc1.bias", [2], [0, 0])])))
        got = model.encode([["", "NaN", "?"], [None, 2, "NA"], [25, np.nan, "x"]])
        self.assertEqual(got.tolist(), [[4, 1, -1, 1, 0, 0], [4, 1, 2, 0, 1, 0], [3, 0, -1, 0, 0, 1]])
        got = model.encode({"a": np.array([1, 2, 3]), "b": [" unknown", "-990.0", -990], "c": ["x"] * 3})
        self.assertEqual(got[:, 2].tolist(), [-1, -1, -1])
        others = dptrain.load(self.write(linear([{"name": "c", "categories": ["a", "*"]}]), tensors([("fc1.weight", [2, 2], [0] * 4), ("fc1.bias", [2], [0, 0])])))
        self.assertEqual(others.encode([["NA"], ["b"], ["a"]])[:, 1].tolist(), [1, 1, 0])
        for nothing in ("", " ", None, math.nan):
            with self.assertRaises(dptrain.DataError):
                others.encode([[nothing]])
        for cell in ["", " ", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", None, math.nan, np.float32("nan")]:
            self.assertTrue(_table.is_missing(cell), cell)
        for cell in ["na", "none", "-", 0, False, "0", "NaN."]:
            self.assertFalse(_table.is_missing(cell), cell)

    def test_numbers(self):
        description = linear([{"name": "x", "scale": {"shift": 10, "divisor": 5}}], (), label={"scale": {"shift": 100, "divisor": 10}, "clip": {"low": 90, "high": 140}})
        model = dptrain.load(self.write(description, tensors([("fc1.weight", [1, 1], [2]), ("fc1.bias", [1], [1])])))
        self.assertEqual(model.predict([{"x": 10}, {"x": 20}, {"x": -90}]).tolist(), [110, 140, 90])
        with self.assertRaises(dptrain.ModelError):
            model.predict_proba([{"x": 1}])

    # The texts are those of Go's strconv.FormatFloat(v, 'g', -1, 64), or FormatInt for whole numbers.
    def test_decimal(self):
        for v, want in [
            (0.5, "0.5"), (3.0, "3"), (-7.0, "-7"), (1234567.5, "1.2345675e+06"), (123456.5, "123456.5"), (1e-5, "1e-05"), (0.0001, "0.0001"),
            (1.5e-7, "1.5e-07"), (-0.00012, "-0.00012"), (1e17, "1e+17"), (2.0**53, "9.007199254740992e+15"), (2e300, "2e+300"),
        ]:
            self.assertEqual(_table.decimal(v), want)

    def test_refused_rows(self):
        columns = [{"name": "n"}, {"name": "c", "categories": ["a", "1"]}]
        model = dptrain.load(self.write(linear(columns), tensors([("fc1.weight", [2, 3], [0] * 6), ("fc1.bias", [2], [0, 0])])))
        self.assertEqual(model.encode([[True, 1], [2, 1.0], [3, np.int8(1)]])[:, 2].tolist(), [1, 1, 1])
        for rows, want in [
            ([["secret", "a"]], "row 1, column n: not a number"), ([[1, "a"], [1, "secret"]], "row 2, column c: none of its categories"),
            ([["", "a"]], "row 1, column n: no value"), ([[math.inf, "a"]], "row 1, column n: not a finite"), ([[1, None]], "row 1, column c"),
            ([["1_0", "a"]], "not a number"), ([["nan ", "a"]], "no value"), ([["0x10", "a"]], "not a number"), ([["1e999", "a"]], "not a finite"),
            ([[1e39, "a"]], "too large"), ([[1]], "row 1: 1 cells"), ([{"n": 1}], "no column 'c'"), (["secret"], "want a dict"),
            (np.zeros((2, 3)), "shape [2, 3]; want rows of 2 cells in this order: n, c; samples that are clipped and scaled already are taken with encoded=True"),
            (np.array(["secret"]), "array of shape"), ({"n": [1], "c": ["a", "a"]}, "column c: 2 rows"),
            ([[[1, 2], "a"]], "not a number"), ([[1, ["a"]]], "several values"),
        ]:
            with self.assertRaises(dptrain.DataError) as caught:
                model.encode(rows)
            self.assertIn(want, str(caught.exception))
            self.assertNotIn("secret", str(caught.exception))

    def test_refused_models(self):
        good = tensors([("fc1.weight", [2, 1], [1, 2]), ("fc1.bias", [2], [0, 0])])
        description = linear([{"name": "n"}])
        size = struct.unpack("<Q", good[:8])[0]
        for changed, file in [
            ({"version": 4}, good), ({"version": None}, good), ({"layers": [{"kind": "attention"}]}, good), ({"layers": [{"kind": "linear", "name": "fc1"}]}, good),
            ({"layers": [{"kind": "linear", "name": "fc1", "in": 2, "out": 1}]}, good), ({"layers": [3]}, good),
            ({}, b""), ({}, good[:40]), ({}, good + b"1"), ({}, good[:-1]), ({}, struct.pack("<Q", 2**63) + good[8:]),
            ({}, good[:8] + b"\xff" * size + good[8 + size :]), ({}, struct.pack("<Q", 2) + b"[]"),
            ({}, tensors([("fc1.weight", [1, 2], [1, 2]), ("fc1.bias", [2], [0, 0])])), ({}, tensors([("fc1.weight", [2, 1], [1, 2])])),
            ({}, tensors([("fc1.weight", [-2, -1], [1, 2]), ("fc1.bias", [2], [0, 0])])),
            ({}, good.replace(b'"F32"', b'"F64"', 1)), ({}, good.replace(b"fc1.weight", b"fc1.bias\\u0020", 1)[:-1]),
        ]:
            with self.assertRaises(dptrain.ModelError):
                dptrain.load(self.write({**description, **changed}, file))
        checksum = hashlib.sha256(good).hexdigest()
        dptrain.load(self.write({**description, "parameters_sha256": checksum}, good))
        with self.assertRaisesRegex(dptrain.ModelError, "SHA-256 differ"):
            dptrain.load(self.write({**description, "parameters_sha256": checksum}, good[:-1] + b"1"))
        with self.assertRaises(dptrain.ModelError):
            dptrain.load("/nowhere")


class TestDamaged(Written):
    def test_descriptions(self):
        good = linear([{"name": "x"}])
        weights = tensors([("fc1.weight", [2, 1], [1, 2]), ("fc1.bias", [2], [0, 0])])
        self.assertEqual(list(dptrain.load(self.write(good, weights)).predict({"x": [1]})), ["yes"])
        pool = {"kind": "max_pool2d", "kernel": 2, "stride": 0}
        for change in (
            {"temperature": 0}, {"temperature": -1}, {"temperature": math.nan}, {"temperature": "x"}, {"classes": ["a"]}, {"classes": ["a", "b", "c"]},
            {"classes": "ab"}, {"outputs": 3}, {"outputs": -1}, {"task": "other"}, {"task": "regression"}, {"classes": ["yes", "yes"]},
            {"activation": {"scale": math.nan, "temperature": 2, "offset": 1}}, {"input": {"table": {"label": {"name": "y"}, "columns": [], "shape": [1]}}},
            {"input": {"table": {"label": {"name": "y", "classes": ["yes", "no"]}, "columns": [{"name": "x"}], "shape": [1]}}},
            {"input": {"table": {"label": {"name": "y", "task": "regression"}, "columns": [{"name": "x"}], "shape": [1]}}}, {"sample_shape": [2]}, {"sample_shape": [0]}, {"sample_shape": [-1]},
            {"sample_shape": [2**40, 2**40]}, {"sample_shape": "1"}, {"input": 1}, {"layers": good["layers"] * 2}, {"layers": [pool] + good["layers"]},
        ):
            with self.subTest(change), self.assertRaises(dptrain.ModelError):
                dptrain.load(self.write({**good, **change}, weights))
        for column in (
            {}, {"name": 3}, {"name": "x", "categories": ["a", "a"]}, {"name": "x", "missing": {"fill": None}}, {"name": "x", "missing": {}},
            {"name": "x", "scale": {"shift": 0, "divisor": 0}}, {"name": "x", "clip": {"low": 2, "high": 1}}, "x",
        ):
            table = {"label": {"name": "y"}, "columns": [column], "shape": [1]}
            with self.subTest(column), self.assertRaises(dptrain.ModelError):
                dptrain.load(self.write({**good, "input": {"table": table}}, weights))
        for value in (math.nan, math.inf):
            with self.assertRaises(dptrain.ModelError):
                dptrain.load(self.write(good, tensors([("fc1.weight", [2, 1], [1, value]), ("fc1.bias", [2], [0, 0])])))
        twice = {**good, "input": {"table": {"label": {"name": "y"}, "columns": [{"name": "x"}] * 2, "shape": [1]}}}
        with self.assertRaises(dptrain.ModelError):  # it predicted two rows for one
            dptrain.load(self.write(twice, weights)).predict({"x": [1]})

    def test_numbers(self):
        model = dptrain.load(self.write(linear([{"name": "x"}]), tensors([("fc1.weight", [2, 1], [1, 2]), ("fc1.bias", [2], [0, 0])])))
        for X in ([[10**400]], [[np.complex128(1)]], np.array([[math.nan]]), np.array([[1e300]])):
            with self.subTest(X), self.assertRaises(dptrain.DataError):
                model.predict(X)


@unittest.skipUnless(FIXTURES, "DPTRAIN_FIXTURES isn't set")
class TestAgainstDptrain(unittest.TestCase):
    """What this package predicts is what dptrain predicts, within single precision."""

    def each(self, name):
        folders = sorted(f for f in os.listdir(FIXTURES) if os.path.isfile(os.path.join(FIXTURES, f, name)))
        self.assertTrue(folders)
        for folder in folders:
            with open(os.path.join(FIXTURES, folder, name), encoding="utf-8") as file, self.subTest(folder):
                yield os.path.join(FIXTURES, folder), dptrain.load(os.path.join(FIXTURES, folder)), json.load(file)

    def test_tables(self):
        for folder, model, predicted in self.each("predicted.json"):
            with open(os.path.join(folder, "rows.csv"), encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), len(predicted))
            got = model.predict(rows)
            if model.task == "regression":
                np.testing.assert_allclose(got, [p["value"] for p in predicted], rtol=1e-6)
                continue
            self.assertEqual([str(c) for c in got], [p["class"] for p in predicted])
            p = model.predict_proba(rows)
            for i, want in enumerate(predicted):
                np.testing.assert_allclose(p[i], [want["probabilities"][str(c)] for c in model.classes], atol=2e-6)
            as_columns = {name: [r[name] for r in rows] for name in model.columns}
            np.testing.assert_array_equal(model.encode(rows), model.encode(as_columns))
            np.testing.assert_array_equal(model.encode(rows), model.encode(model.encode(rows), encoded=True))

    # Categories go in as texts and classes come out as texts: any cell that predict takes gives what it predicts.
    @unittest.skipUnless(onnxruntime and os.environ.get("DPTRAIN"), "no ONNX Runtime, or DPTRAIN isn't set")
    def test_exported_strings(self):
        labels = 0
        for folder, model, predicted in self.each("predicted.json"):
            with open(os.path.join(folder, "rows.csv"), encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            with tempfile.TemporaryDirectory() as temporary:
                path = os.path.join(temporary, "model.onnx")
                subprocess.run([os.environ["DPTRAIN"], "export", folder, path, "--strings", "--quiet"], check=True, stdout=subprocess.DEVNULL)
                session = onnxruntime.InferenceSession(path)
            texts, inputs = {i.name for i in session.get_inputs() if i.type == "tensor(string)"}, {}
            for column in model.description["input"]["table"]["columns"]:
                name = column["name"]
                self.assertEqual(name in texts, bool(column.get("categories")))
                cells = [row[name].strip() for row in rows]
                inputs[name] = np.array(cells, object) if name in texts else np.array([math.nan if _table.is_missing(c) or c == "unknown" else float(c) for c in cells])
            outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
            if model.task == "regression":
                np.testing.assert_allclose(outputs["value"], [p["value"] for p in predicted], rtol=1e-5)
                continue
            labels += 1
            self.assertEqual(outputs["label"].tolist(), [p["class"] for p in predicted])
            np.testing.assert_allclose(outputs["probabilities"], [[p["probabilities"][str(c)] for c in model.classes] for p in predicted], atol=1e-5)
            for name in texts:
                categories = next(c["categories"] for c in model.description["input"]["table"]["columns"] if c["name"] == name)
                odd = {**inputs, name: np.array(["no category", *inputs[name][1:]], object)}
                if "*" in categories:
                    session.run(None, odd)
                else:
                    with self.assertRaises(Exception):
                        session.run(None, odd)
        self.assertGreater(labels, 0)

    def test_samples(self):
        for _, model, computed in self.each("computed.json"):
            kind = np.float32
            if model.description.get("vocabulary"):
                kind = np.int64
            elif model.description.get("image") and not model.description.get("features_of"):
                kind = np.uint8
            n = len(computed["probabilities"])
            x = np.array(computed["inputs"]).astype(kind).reshape([n] + model.description["sample_shape"])
            np.testing.assert_allclose(model.outputs(x), np.reshape(computed["outputs"], (n, -1)), rtol=2e-5, atol=2e-5)
            np.testing.assert_allclose(model.predict_proba(x), computed["probabilities"], atol=2e-5)
            np.testing.assert_array_equal(model.predict(x), model.classes[np.argmax(computed["probabilities"], axis=1)])
            if kind == np.int64:
                short = [[token for token in text if token] for text in x]
                np.testing.assert_array_equal(model.outputs(short), model.outputs(x))
                for wrong in ([[40]], [[-1]], [[0, 0]], [[1.5]], [[1] * 8], ["abc"]):
                    with self.assertRaises(dptrain.DataError):
                        model.encode(wrong)


@unittest.skipUnless(EARLIER, "DPTRAIN_EARLIER isn't set")
class TestEarlier(unittest.TestCase):
    # The outputs are those of cmd/internal/release/testdata/outputs.py, which reads the file by itself.
    def test_version_1(self):
        model = dptrain.load(os.path.join(EARLIER, "released-1"))
        x = np.array([[((7 * i + 13 * j) % 11 - 5) / 5 for j in range(784)] for i in range(2)])
        want = [
            [-1.969204, 2.383818, 0.604855, 1.413483, 0.872782, 0.741395, -0.273396, 2.041567, 0.542665, -0.979522],
            [1.506094, -1.088033, 0.500215, -1.140947, -0.46928, -1.143806, -0.202717, -1.118862, 0.420051, -1.273644],
        ]
        np.testing.assert_allclose(model.outputs(x), want, atol=1e-5)
        self.assertEqual(model.predict(x).tolist(), [1, 0])


if __name__ == "__main__":
    unittest.main()
