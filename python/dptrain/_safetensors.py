"""Reads tensors in the format safetensors: https://github.com/huggingface/safetensors#format."""

import hashlib
import json
import os
import struct
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ._errors import ModelError
from ._types import Array

_TYPES: Dict[str, "np.dtype[Any]"] = {"F32": np.dtype("<f4"), "I64": np.dtype("<i8")}


def read(path: str, sha256: Optional[str] = None) -> Dict[str, Array]:
    """Returns the tensors of a file by their names. It accepts only files whose tensors cover the data exactly once.

    sha256 is the file's checksum in hexadecimal, if it is known: another file is refused.
    """
    with open(path, "rb") as file:
        start = file.read(8)
        if len(start) < 8:
            raise ModelError(f"{path}: {len(start)} bytes can't hold the length of a header")
        (size,) = struct.unpack("<Q", start)
        if size > os.fstat(file.fileno()).st_size - 8:
            raise ModelError(f"{path}: a header of {size} bytes is longer than the file")
        text, data = file.read(size), file.read()
    if sha256 and hashlib.sha256(start + text + data).hexdigest() != sha256:
        raise ModelError(f"{path}: it isn't the file that model.json was released with: their SHA-256 differ; restore both")
    try:
        header = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as err:  # bytes that aren't UTF-8 too
        raise ModelError(f"{path}: header: {err}") from None
    if not isinstance(header, dict):
        raise ModelError(f"{path}: the header is no JSON object")
    header.pop("__metadata__", None)
    return _tensors(path, header, data)


def _tensors(path: str, header: Dict[str, Any], data: bytes) -> Dict[str, Array]:
    tensors: Dict[str, Array] = {}
    end = 0
    for name, entry in sorted(header.items(), key=_offsets):
        try:
            dtype, shape = _TYPES[entry["dtype"]], [_count(d) for d in entry["shape"]]
            begin, stop = (_count(o) for o in entry["data_offsets"])
        except (KeyError, TypeError, ValueError):
            raise ModelError(f"{path}: tensor {name!r}: its entry in the header can't be read") from None
        length = dtype.itemsize
        for d in shape:
            length *= d
        if begin != end or stop != begin + length or stop > len(data):
            raise ModelError(f"{path}: tensor {name!r}: its offsets don't fit its shape {shape}")
        tensors[name] = np.frombuffer(data[begin:stop], dtype).reshape(shape)
        end = stop
    if end != len(data):
        raise ModelError(f"{path}: {len(data) - end} bytes belong to no tensor")
    return tensors


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError
    return value


def _offsets(item: Tuple[str, Any]) -> List[int]:
    offsets = item[1].get("data_offsets") if isinstance(item[1], dict) else None
    ok = isinstance(offsets, list) and all(isinstance(o, int) for o in offsets)
    return list(offsets) if ok and offsets is not None else []


def _once(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a name stands twice")
    return out
