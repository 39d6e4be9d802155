"""The errors of this package."""


class ModelError(ValueError):
    """A folder has no released model that this package can read."""


class DataError(ValueError):
    """Rows don't fit a model, or can't be trained on. The text names row and column, and cites no value: rows may be private."""
