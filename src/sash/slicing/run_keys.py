"""Numbers as unsigned keys in the same order: NaN is the largest and equal to itself, and -0.0 is 0.0."""

from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.slicing.slices import Array

__all__ = ["decoded", "encoded"]


@kernel
def _number_keys(bits: Any, negative: Any, infinity: Any, nan: Any, keys: Any) -> None:
    for k in range(len(bits)):
        magnitude = bits[k] & ~negative
        key = ~bits[k] if bits[k] & negative else bits[k] | negative
        key = negative if magnitude == 0 else key
        keys[k] = nan if magnitude > infinity else key


def encoded(data: Array, key: np.dtype[Any]) -> Array:
    """Return unsigned keys in the order of the numbers.

    >>> keys = encoded(np.array([-1.0, np.nan, -0.0, 0.0]), np.dtype(np.uint64))
    >>> bool(keys[0] < keys[2] < keys[1]), bool(keys[2] == keys[3]), decoded(keys, np.dtype(np.float64))
    (True, True, array([-1., nan,  0.,  0.]))
    """
    top = key.type(1 << (8 * key.itemsize - 1))
    if data.dtype.kind == "f":
        infinity, nan = np.array([np.inf, np.nan], data.dtype).view(key)
        keys = np.empty(len(data), key)
        _number_keys(data.view(key), top, infinity, nan | top, keys)
        return keys
    if data.dtype.kind == "i":
        return np.asarray(data.astype(f"i{key.itemsize}").view(key) ^ top)
    return data.astype(key)


def decoded(keys: Array, dtype: np.dtype[Any]) -> Array:
    """Return the numbers of keys."""
    top = keys.dtype.type(1 << (8 * keys.itemsize - 1))
    if dtype.kind == "f":
        return np.where(keys & top, keys ^ top, ~keys).view(dtype)
    if dtype.kind == "i":
        return np.asarray((keys ^ top).view(f"i{keys.itemsize}").astype(dtype))
    return keys.astype(dtype)
