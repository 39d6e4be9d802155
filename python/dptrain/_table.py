"""Makes samples of rows by the schema in model.json: docs/model-format.md has the rules."""

import math
from decimal import Decimal
from typing import Any, Dict, List, Mapping, Sequence, Set, Tuple

import numpy as np

from ._errors import DataError, ModelError
from ._types import Array

MISSING = frozenset(["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"])

# The blanks that cells lose: Unicode's White_Space. Python's own strip drops U+001C to U+001F as well.
_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"


def encode(columns: Sequence[Mapping[str, Any]], X: Any) -> Array:
    """Returns the samples [rows, values] in single precision that X makes.

    X is a DataFrame, a structured array, a mapping of arrays by name, a list of dicts, or rows with the cells in the order
    of the columns, as a list or an array. The rows of a single column of arrays may be an array themselves.
    """
    names = [str(c["name"]) for c in columns]
    if isinstance(X, np.ndarray) and X.dtype.names is None:
        X = _of_array(columns, names, X)
    cells = _by_column(names, X)
    parts: List[Array] = []
    rows = None
    for column in columns:
        values = cells[column["name"]]
        if rows is None:
            rows = len(values)
        if len(values) != rows:
            raise DataError(f"column {column['name']}: {len(values)} rows, and others have {rows}")
        if "text" in column:
            raise ModelError(f"column {column['name']} has texts; give their tokens, as an array of integers")
        parts.append(_categories(column, values) if column.get("categories") else _numbers(column, values))
    return np.concatenate(parts, axis=1)


def _of_array(columns: Sequence[Mapping[str, Any]], names: Sequence[str], X: Array) -> Dict[str, Any]:
    shape = list(columns[0].get("shape") or []) if len(columns) == 1 else []
    if shape and X.ndim > 1 and math.prod(X.shape[1:]) == math.prod(shape):
        return {names[0]: X.reshape([len(X)] + shape)}
    if X.ndim != 2 or X.shape[1] != len(names):
        raise DataError(
            f"an array of shape {list(X.shape)}; want rows of {len(names)} cells in this order: {', '.join(names)}; "
            "samples that are clipped and scaled already are taken with encoded=True"
        )
    return {name: X[:, j] for j, name in enumerate(names)}


def _by_column(names: Sequence[str], X: Any) -> Dict[str, Any]:
    """Returns the cells of each column."""
    available: Mapping[str, Any]  # the frame's own names by their texts
    fields = getattr(getattr(X, "dtype", None), "names", None)
    if fields is not None:
        available = {name: name for name in fields}
    elif hasattr(X, "columns"):
        available = {str(name): name for name in getattr(X, "column_names", X.columns)}  # the first is pyarrow's
    elif isinstance(X, Mapping):
        available = {str(name): name for name in X}
    else:
        return _of_rows(names, X)
    return {name: _cells(X, name, available) for name in names}


def _cells(X: Any, name: str, available: Mapping[str, Any]) -> Any:
    """Returns a column's cells; x[3] may be value 3 of each row of an array x."""
    array, _, index = name[:-1].rpartition("[")
    if name not in available and name.endswith("]") and array in available and index.isdigit():
        values = np.asarray(X[available[array]])
        if values.ndim == 2 and int(index) < values.shape[1]:
            return values[:, int(index)]
    _require([name], available)
    return _array(X[available[name]])


def _of_rows(names: Sequence[str], X: Any) -> Dict[str, Any]:
    rows = list(X)
    out: Dict[str, List[Any]] = {name: [] for name in names}
    for i, row in enumerate(rows):
        if isinstance(row, Mapping):
            if i == 0:
                _require(names, list(row))
            for name in names:
                out[name].append(row.get(name))
            continue
        if isinstance(row, (str, bytes)) or not hasattr(row, "__len__"):
            raise DataError(f"row {i + 1}: want a dict, or a list of {len(names)} cells")
        if len(row) != len(names):
            raise DataError(f"row {i + 1}: {len(row)} cells, want {len(names)} in this order: {', '.join(names)}")
        for name, cell in zip(names, row):
            out[name].append(cell)
    return dict(out)


def _require(names: Sequence[str], available: Any) -> None:
    for name in names:
        if name not in available:
            raise DataError(f"no column {name!r}")


def _array(values: Any) -> Any:
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(object), None)
    return values if isinstance(values, np.ndarray) else list(values)


def is_missing(cell: Any) -> bool:
    """Reports whether a cell has no value: None, NaN, pandas's NA and NaT, or a text such as NA."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(cell, (str, np.str_)):
        return cell.strip(_BLANKS) in MISSING
    return isinstance(cell, (float, np.floating)) and math.isnan(cell)


def _empty(cell: Any) -> bool:
    """Reports whether a missing cell has no text either: NaN is what other packages make of an empty one."""
    return is_missing(cell) and not (isinstance(cell, (str, np.str_)) and cell.strip(_BLANKS))


def _numbers(column: Mapping[str, Any], values: Any) -> Array:
    name, shape, missing = column["name"], list(column.get("shape") or []), column.get("missing")
    words, numbers = _words((missing or {}).get("words") or [])
    x = values
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fiub":
        x = _parsed(column, x, shape, words)
    x = np.asarray(x, np.float64)
    if list(x.shape[1:]) != shape:
        raise DataError(f"column {name}: rows of shape {list(x.shape[1:])}, want {shape}")
    x = x.reshape(len(x), int(np.prod(shape, dtype=int)))
    nothing = np.isnan(x) | np.isin(x, numbers)
    if missing is None and nothing.any():
        raise DataError(f"row {1 + int(np.argwhere(nothing)[0][0])}, column {name}: no value; fill it in, or leave the row out")
    if np.isinf(x).any():
        raise DataError(f"row {1 + int(np.argwhere(np.isinf(x))[0][0])}, column {name}: not a finite number")
    if missing is not None:
        x = np.where(nothing, float(missing["fill"]), x)
    if column.get("clip"):
        x = np.minimum(np.maximum(x, column["clip"]["low"]), column["clip"]["high"])
    if column.get("scale"):
        x = (x - column["scale"]["shift"]) / column["scale"]["divisor"]
    with np.errstate(over="ignore"):
        out = x.astype(np.float32)
    if not np.isfinite(out).all():
        raise DataError(f"row {1 + int(np.argwhere(~np.isfinite(out))[0][0])}, column {name}: too large for single precision")
    if missing is not None and missing.get("indicator"):
        return np.concatenate([out, nothing.any(axis=1, keepdims=True)], axis=1, dtype=np.float32)
    return out


def _words(words: Sequence[str]) -> Tuple[Set[str], List[float]]:
    """Returns the texts that stand for missing numbers, and those of them that are numbers themselves, such as -999."""
    numbers = []
    for word in words:
        try:
            numbers.append(_number("", 0, word))
        except DataError:
            pass
    return set(words), numbers


def _parsed(column: Mapping[str, Any], values: Any, shape: List[int], words: Set[str]) -> Array:
    """Returns cells of any kind as numbers; NaN is a missing one."""
    name, written = column["name"], column.get("written")
    if shape:
        try:
            return np.asarray([np.asarray(row, np.float64) for row in values]).reshape([len(values)] + shape)
        except (TypeError, ValueError, OverflowError):
            raise DataError(f"column {name}: not numbers in rows of shape {shape}") from None
    out = np.empty(len(values))
    for i, cell in enumerate(values):
        text = isinstance(cell, (str, np.str_))
        gap = is_missing(cell) or text and cell.strip(_BLANKS) in words
        if written and text and not gap:
            raise ModelError(f"column {name}: its texts are written as {written!r}: parse them into numbers")
        out[i] = math.nan if gap else _number(name, i, cell)
    return out


def _number(name: str, i: int, cell: Any) -> float:
    if isinstance(cell, (str, np.str_)):
        text = cell.strip(_BLANKS)
        if not text.strip("0123456789.+-eE"):
            try:
                return float(text)
            except ValueError:
                pass
    elif isinstance(cell, (int, float, np.number, np.bool_, Decimal)) and not isinstance(cell, np.complexfloating):
        try:
            return float(cell)
        except OverflowError:  # a whole number beyond double precision
            raise DataError(f"row {i + 1}, column {name}: not a finite number") from None
        except ValueError:  # a signaling NaN
            pass
    raise DataError(f"row {i + 1}, column {name}: not a number")


def _categories(column: Mapping[str, Any], values: Any) -> Array:
    name, index = column["name"], _with_booleans({c: k for k, c in enumerate(column["categories"])})
    out = np.zeros((len(values), len(column["categories"])), np.float32)
    for i, cell in enumerate(values):
        if isinstance(cell, (np.ndarray, list, tuple)):
            raise DataError(f"row {i + 1}, column {name}: several values, want one category")
        at = next((index[text] for text in _texts(cell) if text in index), None)
        if at is None and is_missing(cell):
            at = index.get("")
        if at is None and not _empty(cell):
            at = index.get("*")
        if at is None:
            raise DataError(f"row {i + 1}, column {name}: none of its categories")
        out[i, at] = 1
    return out


def _with_booleans(index: Dict[str, int]) -> Dict[str, int]:
    """Adds to categories that are booleans the names that other programs write for them."""
    out = dict(index)
    codes = len(set(index) - {"", "*"})
    for names in (["true", "True", "TRUE", "1"], ["false", "False", "FALSE", "0"]):
        for i, given in enumerate(names):
            for name in names:
                if given in out and name not in out and (i < 3 or codes == 2):
                    out[name] = out[given]
    return out


def _texts(cell: Any) -> List[str]:
    """Returns the texts that a cell may be listed as: of True, a file has True or 1."""
    if isinstance(cell, (str, np.str_)):
        return [cell.strip(_BLANKS)]
    if isinstance(cell, (bool, np.bool_)):
        return [str(bool(cell)), str(int(cell))]
    if isinstance(cell, (int, np.integer)):
        return [str(int(cell))]
    if is_missing(cell):
        return []
    if isinstance(cell, (float, np.floating)):
        return [decimal(float(cell))]
    return [str(cell)]


def decimal(v: float) -> str:
    """Returns the text that dptrain compares a number by: its shortest digits, by the rules of Go."""
    if v == math.trunc(v) and abs(v) < 2**53:
        return str(int(v))
    sign, digits, exponent = Decimal(repr(v)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    point = len(digits) + int(exponent)  # digits before the point
    if point - 1 < -4 or point - 1 >= 6:
        mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
        return "-" * sign + mantissa + "e" + "%+03d" % (point - 1)
    if point <= 0:
        return "-" * sign + "0." + "0" * -point + text
    text = text.ljust(point, "0")
    return "-" * sign + text[:point] + ("." + text[point:] if text[point:] else "")
