"""Estimate quantiles from moments: by the density of maximum entropy with the moments of the rows.

Idea      Scale to [-1, 1]; the density is exp(Σ λj Tj), Tj the Chebyshev polynomials, whose
          moments make the Newton steps for λ well-conditioned. Integrals are sums over a fixed grid.
Degrades  One, two or three rows, and two distinct values, are answered exactly. Moments that
          rounding has spoilt, or that no density can meet (few distinct values), are dropped from
          the highest down to none, which is the uniform density between min and max.
From      Gan, Ding, Tai, Sharan, Bailis. Moment-Based Quantile Sketches for Efficient High
          Cardinality Aggregation Queries. PVLDB 11(11), 2018. doi:10.14778/3236187.3236212
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from sash.algebra.compiler import jitable, kernel
from sash.errors import InvalidAggregate
from sash.keywords import checked

__all__ = ["check_share", "estimate", "quantile_of"]

_CELLS = 256  # of the grid: in between the density is taken as flat
_SPOILT = 1e-4  # a moment that is less certain than this misleads more than it tells
_MET = 1e-9  # moments are met to this
_NEARLY_MET = 1e-6  # or to this, where the density is so steep that no step helps any more


def check_share(parameter: str, value: Any) -> None:
    """Raise an error if q is not between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidAggregate.parameter("moment_sketch", parameter, value, "a number from 0 to 1")


@checked
def quantile_of(sketch: npt.ArrayLike, q: float) -> float:
    """Estimate the q-quantile from a moment sketch, by the density of maximum entropy with these moments.

    >>> import numpy as np
    >>> x = np.linspace(0, 10, 1001)
    >>> sketch = [x.size, x.min(), x.max(), *(np.sum(x**j) for j in range(1, 11))]
    >>> round(quantile_of(sketch, 0.9), 1)
    9.0
    """
    check_share("q", q)
    array = np.ascontiguousarray(sketch, np.float64)
    if array.ndim != 1 or len(array) < 4:
        raise InvalidAggregate.parameter("moment_sketch", "sketch", sketch, "the array [n, min, max, power sums …]")
    return float(_estimate(array, float(q))) if array[0] > 0 else math.nan


@kernel
def _estimate(sketch: Any, q: float) -> float:
    return estimate(sketch[0], sketch[1], sketch[2], sketch[3:].copy(), q)


@jitable
def estimate(n: float, low: float, high: float, sums: Any, q: float) -> float:
    if not low <= high or math.isinf(low) or math.isinf(high):
        return math.nan
    if low == high or q == 0.0:
        return low
    if q == 1.0:
        return high
    centre, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    if n <= 3:
        middle: float = min(max(sums[0] - low - high, low), high)
        place = q * (n - 1.0)
        if n == 2:
            middle = high
        return low + place * (middle - low) if place <= 1.0 else middle + (place - 1.0) * (high - middle)
    moments = _scaled_moments(n, centre, half, sums)
    if len(moments) > 2 and 1.0 - moments[2] <= 1e-12:  # in Chebyshev terms: E[s²] = 1, all rows are at the ends
        below = float(round(n * (1.0 - moments[1]) / 2.0))
        place = q * (n - 1.0)
        share = min(max(place - (below - 1.0), 0.0), 1.0)
        return low + share * (high - low)
    edges, masses = np.empty(_CELLS + 1), np.empty(_CELLS)
    for cell in range(_CELLS + 1):
        edges[cell] = -math.cos(math.pi / _CELLS * cell)
    for cell in range(_CELLS):
        masses[cell] = 0.5 * (edges[cell + 1] - edges[cell])
    used = len(moments)
    if used > 1 and not _most_entropy(moments, used, edges, masses):
        # The highest moments cannot be met: as many of the lower ones as can.
        used = 2
        while used < len(moments) and _most_entropy(moments, used, edges, masses):
            used += 1
    wanted = 0.0
    for cell in range(_CELLS):
        wanted += q * masses[cell]
    passed = 0.0
    cell = 0
    while cell < _CELLS - 1 and passed + masses[cell] < wanted:
        passed += masses[cell]
        cell += 1
    share = min((wanted - passed) / masses[cell], 1.0) if masses[cell] > 0.0 else 0.0
    value: float = centre + half * (edges[cell] + share * (edges[cell + 1] - edges[cell]))
    return min(max(value, low), high)


@jitable
def _scaled_moments(n: float, centre: float, half: float, sums: Any) -> Any:
    """Return the means of T0 … Tm of the values scaled to [-1, 1], as many as are accurate enough after rounding."""
    k = len(sums)
    raw, scaled, doubt = np.ones(k + 1), np.ones(k + 1), np.zeros(k + 1)
    polynomials = np.zeros((k + 1, k + 1))  # coefficients of Tj by powers
    polynomials[0, 0] = 1.0
    moments = np.ones(k + 1)
    away = -centre / half
    scale = 1.0
    for j in range(1, k + 1):
        scale *= half
        if not (1e-290 < scale < 1e290 and abs(sums[j - 1]) < 1e290):
            return moments[:j]
        raw[j] = sums[j - 1] / n / scale
        choose, power, total, size = 1.0, 1.0, 0.0, 0.0
        for i in range(j, -1, -1):  # Σ C(j, i) · raw[i] · away^(j - i)
            term = choose * raw[i] * power
            total += term
            size += abs(term)
            choose = choose * i / (j - i + 1)
            power *= away
        scaled[j], doubt[j] = total, 4e-16 * math.sqrt(n) * size
        for i in range(j + 1):
            older = polynomials[j - 2, i] if j > 1 else 0.0
            shifted = polynomials[j - 1, i - 1] if i > 0 else 0.0
            polynomials[j, i] = (2.0 if j > 1 else 1.0) * shifted - older
        moment, certain = 0.0, 0.0
        for i in range(j + 1):
            moment += polynomials[j, i] * scaled[i]
            certain += abs(polynomials[j, i]) * doubt[i]
        if not (certain < _SPOILT and abs(moment) <= 1.0 + certain):
            return moments[:j]
        moments[j] = min(max(moment, -1.0), 1.0)
    return moments


@jitable
def _most_entropy(moments: Any, size: int, edges: Any, masses: Any) -> bool:
    """Return whether a density has the first moments; if so, set `masses` to its mass in each cell."""
    waves = np.empty((2 * size - 1, _CELLS))  # Tj(cos θ) = cos jθ
    for j in range(2 * size - 1):
        for cell in range(_CELLS):
            waves[j, cell] = math.cos(j * math.pi * (1.0 - (cell + 0.5) / _CELLS))
    weights, tried, found = np.zeros(size), np.zeros(size), np.empty(_CELLS)
    weights[0] = math.log(0.5)
    means, slope, hessian = np.empty(2 * size - 1), np.empty(size), np.empty((size, size))
    potential = _set_masses(found, moments, weights, waves, edges)
    miss = 1.0
    for _ in range(60):
        for j in range(2 * size - 1):
            means[j] = _dot(waves[j], found)
        miss = 0.0
        for j in range(size):
            slope[j] = means[j] - moments[j]
            miss = max(miss, abs(slope[j]))
        if miss < _MET:
            break
        for i in range(size):  # Ti · Tj = (Ti+j + T|i-j|) / 2
            for j in range(size):
                hessian[i, j] = 0.5 * (means[i + j] + means[abs(i - j)])
        step = _solve(hessian, slope)
        descent = _dot(slope, step)
        length = 1.0
        while length > 1e-8:
            for j in range(size):
                tried[j] = weights[j] - length * step[j]
            lowered = _set_masses(found, moments, tried, waves, edges)
            if lowered <= potential - 1e-4 * length * descent:
                break
            length *= 0.5
        if length <= 1e-8:
            _set_masses(found, moments, weights, waves, edges)
            break
        potential = lowered
        for j in range(size):
            weights[j] = tried[j]
    if miss < _NEARLY_MET:
        for j in range(len(masses)):
            masses[j] = found[j]
        return True
    return False


@jitable
def _set_masses(masses: Any, moments: Any, weights: Any, waves: Any, edges: Any) -> float:
    """Set the masses of exp(Σ λj Tj) and return the potential, which is least where its moments are met."""
    total = 0.0
    for cell in range(len(masses)):
        exponent = 0.0
        for j in range(len(weights)):
            exponent += weights[j] * waves[j, cell]
        masses[cell] = math.exp(min(exponent, 300.0)) * (edges[cell + 1] - edges[cell])
        total += masses[cell]
    for j in range(len(weights)):
        total -= weights[j] * moments[j]
    return total


@jitable
def _dot(a: Any, b: Any) -> float:
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@jitable
def _solve(matrix: Any, right: Any) -> Any:
    """Solve matrix · x = right by Cholesky; a pivot that is zero by rounding is replaced by a small number."""
    size = len(right)
    root = np.zeros((size, size))
    for i in range(size):
        for j in range(i + 1):
            rest = matrix[i, j]
            for k in range(j):
                rest -= root[i, k] * root[j, k]
            if i == j:
                root[i, i] = math.sqrt(max(rest, 1e-14 * matrix[0, 0]))
            else:
                root[i, j] = rest / root[j, j]
    x = right.copy()
    for i in range(size):
        for k in range(i):
            x[i] -= root[i, k] * x[k]
        x[i] /= root[i, i]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            x[i] -= root[k, i] * x[k]
        x[i] /= root[i, i]
    return x
