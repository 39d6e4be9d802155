"""scikit-learn takes the estimators for its own: in pipelines, cross-validation, searches and scorers."""

import os
import sys
import unittest
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

NONE = "no scikit-learn: python/environment installs it"


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
        self.regressor.model_, self.regressor.n_features_in_ = mock.Mock(predict=lambda columns: columns["x0"]), 2
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
