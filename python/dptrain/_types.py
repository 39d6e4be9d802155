"""The type of arrays in signatures."""

from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]
