"""A lower bound on epsilon from samples, right with the stated confidence whatever the mechanism is.

If a mechanism is ε-LDP then P(Y ∈ E | g) ≤ e^ε P(Y ∈ E | h) for all inputs g, h and sets of outputs E. Clopper-Pearson
bounds p_low ≤ P(E | g) and P(E | h) ≤ p_high, each wrong with probability α/2m when m comparisons are tried, give
ε ≥ ln(p_low / p_high). A tenth of α goes to every pair of inputs with every single output, where all draws count and a
smaller α costs little. The rest goes to a few sets of outputs chosen on one half of the draws and bounded on the other:
choosing then costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from discreet.audit.words import rounded_down
from discreet.exceptions import ParameterError

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
CHOSEN = 8
SPREADS = 3.0
SINGLE_SHARE = 0.1


@dataclass(frozen=True)
class LowerBound:
    """ε ≥ `epsilon` with this confidence: seen in `outputs`, which are likelier after input `first` than `second`.

    Inputs and outputs are positions in the count matrix.
    """

    epsilon: float
    confidence: float
    first: int
    second: int
    outputs: tuple[int, ...]
    comparisons: int


def lower_bound(first_half: Counts, second_half: Counts, confidence: float = 0.99) -> LowerBound:
    """From counts[input, output] of two independent halves of the draws."""
    if not 0 < confidence < 1:
        raise ParameterError("confidence outside (0, 1)", where="confidence", remedy="Try 0.99.")
    if first_half.shape != second_half.shape or first_half.ndim != 2 or len(first_half) < 2:
        raise ParameterError("not two matrices of counts", remedy="Give counts[input, output] for at least two inputs.")
    if min(first_half.sum(axis=1).min(), second_half.sum(axis=1).min()) <= 0:
        raise ParameterError("an input without draws", remedy="Draw from every input in both halves.")
    alpha = 1 - confidence
    single = _every_output(first_half + second_half, SINGLE_SHARE * alpha, confidence)
    chosen = _chosen_sets(first_half, second_half, (1 - SINGLE_SHARE) * alpha, confidence)
    return max(single, chosen, key=lambda bound: bound.epsilon)


def clopper_pearson_low(successes: Counts | Floats, draws: Counts | Floats, alpha: float) -> Floats:
    """The smallest probability that α does not rule out."""
    low = betaincinv(np.maximum(successes, 1), draws - successes + 1, alpha)
    return np.asarray(np.where(successes == 0, 0.0, low))


def clopper_pearson_high(successes: Counts | Floats, draws: Counts | Floats, alpha: float) -> Floats:
    """The largest probability that α does not rule out."""
    high = betaincinv(successes + 1, np.maximum(draws - successes, 1), 1 - alpha)
    return np.asarray(np.where(successes == draws, 1.0, high))


def _every_output(counts: Counts, alpha: float, confidence: float) -> LowerBound:
    """All ordered pairs of inputs with all outputs. Only 2·inputs·outputs probabilities are bounded, each once."""
    inputs, outputs = counts.shape
    draws = counts.sum(axis=1, keepdims=True)
    each = alpha / (2 * inputs * outputs)
    low, high = clopper_pearson_low(counts, draws, each), clopper_pearson_high(counts, draws, each)
    g, h = low.argmax(axis=0), high.argmin(axis=0)
    y = np.arange(outputs)
    with np.errstate(divide="ignore"):
        bounds = np.where(g == h, 0.0, np.log(low[g, y]) - np.log(high[h, y]))
    best = int(bounds.argmax())
    return LowerBound(
        max(0.0, float(bounds[best])), confidence, int(g[best]), int(h[best]), (best,), inputs * (inputs - 1) * outputs
    )


def _chosen_sets(first_half: Counts, second_half: Counts, alpha: float, confidence: float) -> LowerBound:
    """Sets of outputs with a large likelihood ratio on the first half, bounded on the second."""
    candidates = _candidates(first_half)
    draws = second_half.sum(axis=1)
    each = alpha / (2 * max(1, len(candidates)))
    best = LowerBound(0.0, confidence, 0, 1, (), len(candidates))
    for g, h, outputs in candidates:
        hits = second_half[:, outputs].sum(axis=1)
        low, high = clopper_pearson_low(hits[g], draws[g], each), clopper_pearson_high(hits[h], draws[h], each)
        epsilon = float(np.log(low / high)) if low > 0 else 0.0
        if epsilon > best.epsilon:
            best = LowerBound(epsilon, confidence, g, h, tuple(int(y) for y in outputs), len(candidates))
    return best


def _candidates(counts: Counts) -> list[tuple[int, int, NDArray[np.intp]]]:
    """The most promising pairs and sets {y : n_g(y)/n_h(y) ≥ threshold}, judged by a normal approximation.

    For every pair the outputs are put in falling order of likelihood ratio, and the best prefix of two or more is kept;
    single outputs are judged already.
    """
    draws = counts.sum(axis=1)
    shares = (counts + 0.5) / (draws[:, None] + 0.5 * counts.shape[1])
    found: list[tuple[float, int, int, NDArray[np.intp]]] = []
    for g in range(len(counts)):
        order = np.argsort(shares / shares[g], axis=1, kind="stable")
        p, q = np.cumsum(shares[g][order], axis=1), np.cumsum(np.take_along_axis(shares, order, axis=1), axis=1)
        predicted = np.log(p / q) - SPREADS * (_spread(p, draws[g]) + _spread(q, draws[:, None]))
        predicted[g], predicted[:, 0] = -np.inf, -np.inf
        size = predicted.argmax(axis=1)
        value = predicted[np.arange(len(size)), size]
        for h in np.argsort(-value)[:CHOSEN]:
            if h != g:
                found.append((float(value[h]), g, int(h), order[h, : size[h] + 1]))
    found.sort(key=lambda item: -item[0])
    return [(g, h, outputs) for _, g, h, outputs in found[:CHOSEN]]


def _spread(p: Floats, draws: Counts) -> Floats:
    """The standard deviation of ln p̂."""
    return np.asarray(np.sqrt(np.maximum(1 - p, 0) / (p * draws)))


def describe(bound: LowerBound, inputs: Sequence[object], outputs: Sequence[object]) -> str:
    """The comparison behind the bound, in words."""
    if bound.epsilon <= 0:
        return "no output was seen clearly more often after one input than after another"
    named = ", ".join(str(outputs[y]) for y in bound.outputs[:3]) + (", …" if len(bound.outputs) > 3 else "")
    factor = rounded_down(math.exp(bound.epsilon), above=1.0, digits=3)
    return (
        f"{named}: at least {factor} times as likely after {inputs[bound.first]} as after {inputs[bound.second]}, "
        f"with {rounded_down(bound.confidence)} confidence"
    )
