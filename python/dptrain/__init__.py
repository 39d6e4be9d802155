"""Use models that dptrain trained with differential privacy, and train them from NumPy arrays.

`load` opens the folder that a run releases, and predicts with NumPy alone. `DPClassifier` and `DPRegressor` train in
scikit-learn's manner, by the command dptrain.
"""

from ._command import CommandError, find_command
from ._errors import DataError, ModelError
from ._estimators import DPClassifier, DPRegressor
from ._model import Model, load

__all__ = ["CommandError", "DPClassifier", "DPRegressor", "DataError", "Model", "ModelError", "find_command", "load"]
__version__ = "0.1.0"
