"""scikit-learn takes the estimators for its own: in pipelines, cross-validation, searches and scorers."""

import os
import sys
import unittest
import warnings
from unittest import mock

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]

from dptrain import DPClassifier, DPRegressor
from test_estimators import DPTRAIN, StandIn

try:
    import sklearn
except ImportError:
    sklearn = None
else:
    from sklearn.base import clone, is_classifier, is_regressor
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.exceptions import NotFittedError
    from sklearn.metrics import accuracy_score, f1_score, get_scorer, make_scorer, r2_score
    from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer
    from sklearn.utils.estimator_checks import check_estimator

NONE = "no scikit-learn: python/environment installs it"


class Checked(DPClassifier):
    """Reads the classes off y, which scikit-learn's checks expect and nobody should."""

    def fit(self, X, y, X_public=None, y_public=None):
        self.classes = None if y is None else np.unique(np.asarray(y))
        try:
            return super().fit(X, y, X_public, y_public)
        finally:
            self.classes = None


@unittest.skipUnless(sklearn, NONE)
class TestScikitLearn(StandIn):
    def setUp(self):
        super().setUp()
        draw = np.random.default_rng(0)
        self.X = draw.uniform(-1, 3, (40, 2))
        self.y = np.where(self.X[:, 0] > self.X[:, 1], "b", "a")  # as the stand-in's model says
        self.weights = draw.uniform(0, 1, 40)
        self.classifier = DPClassifier(bounds=(-1, 3), classes=["a", "b"], command=self.command)
        self.regressor = DPRegressor(bounds=(-1, 3), y_bounds=(-1, 3), command=self.command)

    def test_kinds(self):
        self.assertTrue(is_classifier(self.classifier) and not is_regressor(self.classifier))
        self.assertTrue(is_regressor(self.regressor) and not is_classifier(self.regressor))
        if not hasattr(sklearn.utils, "get_tags"):
            return  # before 1.6
        tags = sklearn.utils.get_tags(self.classifier)
        self.assertTrue(tags.estimator_type == "classifier" and tags.classifier_tags and not tags.regressor_tags)
        self.assertTrue(tags.target_tags.required and tags.requires_fit)
        tags = sklearn.utils.get_tags(self.regressor)
        self.assertTrue(tags.estimator_type == "regressor" and tags.regressor_tags and not tags.classifier_tags)

    def test_clone(self):
        self.classifier.set_params(epsilon=3.0, settings={"privacy.epochs": 2}).fit(self.X, self.y)
        again = clone(self.classifier)
        self.assertEqual(again.get_params(), self.classifier.get_params())
        for unfitted in (again.predict, again.predict_proba, clone(self.regressor).predict):
            with self.assertRaises(NotFittedError):
                unfitted(self.X)

    def test_pipeline(self):
        pipeline = make_pipeline(FunctionTransformer(np.negative), FunctionTransformer(np.negative), self.classifier)
        self.assertIn("DPClassifier", pipeline._repr_html_())  # a notebook's view
        pipeline.fit(self.X, self.y)
        self.assertEqual(pipeline.classes_.tolist(), ["a", "b"])
        self.assertEqual(pipeline.predict(self.X).tolist(), self.y.tolist())
        self.assertEqual(pipeline.predict_proba(self.X).shape, (40, 2))
        self.assertEqual(pipeline.score(self.X, self.y), 1)

    def test_scores(self):
        wrong = np.where(self.X[:, 0] > 1, "a", "b")
        self.classifier.fit(self.X, self.y)
        self.regressor.fit(self.X, self.X[:, 0])
        self.regressor.model_ = mock.Mock(predict=lambda columns: columns["x0"])
        for estimator, y, metric in ((self.classifier, wrong, accuracy_score), (self.regressor, self.X[:, 0] + self.weights, r2_score)):
            for weights in (None, self.weights):
                want = metric(y, estimator.predict(self.X), sample_weight=weights)
                self.assertAlmostEqual(estimator.score(self.X, y, sample_weight=weights), want)
                self.assertAlmostEqual(make_pipeline(estimator).score(self.X, y[:, None], sample_weight=weights), want)
                self.assertAlmostEqual(make_scorer(metric)(estimator, self.X, y, sample_weight=weights), want)

    def test_scorers(self):
        self.classifier.set_params(classes=["b", "a"]).fit(self.X, self.y)
        for scorer in (get_scorer("roc_auc"), get_scorer("accuracy"), make_scorer(f1_score, pos_label="a")):
            self.assertEqual(scorer(self.classifier, self.X, self.y), 1)
        self.assertGreater(get_scorer("neg_log_loss")(self.classifier, self.X, self.y), np.log(0.5))

    def test_cross_validation(self):
        for scoring in (None, "roc_auc"):
            self.assertEqual(cross_val_score(self.classifier, self.X, self.y, cv=2, scoring=scoring, error_score="raise").tolist(), [1, 1])
        numbers = (self.y == "b").astype(int)
        probabilities = cross_val_predict(self.classifier.set_params(classes=[0, 1]), self.X, numbers, cv=2, method="predict_proba")
        self.assertEqual(probabilities.argmax(axis=1).tolist(), numbers.tolist())

    def test_search(self):
        wanted = {0.5, 2.0}
        search = GridSearchCV(self.classifier, {"epsilon": sorted(wanted)}, cv=2, error_score="raise").fit(self.X, self.y)
        self.assertIn(search.best_params_["epsilon"], wanted)
        arguments = self.recorded()["arguments"]  # of the last fit, with the best
        self.assertEqual(arguments[arguments.index("--epsilon") + 1], str(search.best_params_["epsilon"]))
        self.assertEqual(search.score(self.X, self.y), 1)

    def test_calibration(self):
        calibrated = CalibratedClassifierCV(self.classifier, cv=2).fit(self.X, self.y)
        self.assertEqual(calibrated.predict(self.X).tolist(), self.y.tolist())

    # With so large an epsilon and a seed, noise is no excuse. The checks train dozens of models.
    @unittest.skipUnless(DPTRAIN and os.environ.get("DPTRAIN_LONG"), "DPTRAIN_LONG isn't set")
    def test_check_estimator(self):
        settings = {"privacy.epochs": 40, "training.learning_rate": 0.1, "privacy.sampling_rate": 0.5}
        options = {"epsilon": 1e4, "delta": 1e-3, "bounds": (-5, 5), "tune": False, "insecure_seed": 1, "settings": settings, "command": DPTRAIN}
        failing = {"check_dtype_object": "a DataError names the column, and is a ValueError, no TypeError"}
        for estimator in (Checked(**options), DPRegressor(y_bounds=(-5, 5), **options)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                results = check_estimator(estimator, expected_failed_checks=failing, on_skip=None, on_fail=None)
            failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
            self.assertEqual(failed, {})
            self.assertEqual({r["check_name"] for r in results if r["status"] == "xfail"}, set(failing))

    # A pipeline transforms X_public too if it is told to.
    def test_routing(self):
        with sklearn.config_context(enable_metadata_routing=True):
            estimator = self.classifier.set_fit_request(X_public=True, y_public=True)
            self.assertEqual(clone(estimator).get_metadata_routing().fit.requests, {"X_public": True, "y_public": True})
            pipeline = make_pipeline(FunctionTransformer(np.negative), estimator, transform_input=["X_public"])
            pipeline.fit(-self.X, self.y, X_public=-self.X[:9], y_public=self.y[:9])
            with np.load(os.path.join(self.record, "test")) as arrays:
                np.testing.assert_array_equal(arrays["x0"], self.X[:9, 0])
            with self.assertRaisesRegex(Exception, "X_public"):
                make_pipeline(DPClassifier(command=self.command)).fit(self.X, self.y, X_public=self.X, y_public=self.y)

    def test_notebook(self):
        self.assertIn("DPClassifier", self.classifier._repr_html_())

    # A plane parts the classes: of a pair with one row of each, three of four must be in order.
    @unittest.skipUnless(DPTRAIN, "DPTRAIN isn't set")
    def test_dptrain(self):
        X = np.random.default_rng(1).uniform(-20, 20, (1200, 3))
        y = np.where(X @ [1, -1, 0.5] > 0, "up", "down")
        options = {"bounds": (-2, 2), "classes": ["up", "down"], "insecure_seed": 1, "settings": {"privacy.epochs": 10}, "command": DPTRAIN}
        pipeline = make_pipeline(FunctionTransformer(lambda x: x / 10), DPClassifier(8.0, 1e-3, **options))
        self.assertGreater(cross_val_score(pipeline, X, y, cv=2, scoring="roc_auc", error_score="raise").min(), 0.75)


if __name__ == "__main__":
    unittest.main()
