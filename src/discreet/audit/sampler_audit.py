"""Audits of code that randomises records: a lower bound on its epsilon, a test against the matrix it should draw from.

A sampler is a callable: a list of input letters in, an equally long list of outputs out. The bound is right with the
stated confidence whatever the mechanism is.

If a mechanism is ε-LDP then P(Y ∈ E | g) ≤ e^ε P(Y ∈ E | h) for all inputs g, h and sets of outputs E. Clopper-Pearson
bounds p_low ≤ P(E | g) and P(E | h) ≤ p_high, each wrong with probability α/2m when m comparisons are tried, give
ε ≥ ln(p_low / p_high). A tenth of α goes to every pair of inputs with every single output, where all draws count and a
smaller α costs little. The rest goes to a few sets of outputs chosen on one half of the draws and bounded on the other:
choosing then costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, betaincinv, chdtrc

from discreet.arrays import Floats, Indices
from discreet.channel import Channel
from discreet.exceptions import ChannelError, ParameterError
from discreet.joint import Joint
from discreet.phrases import rounded_down

Counts = NDArray[np.int64]
Sampler = Callable[[list[Hashable]], Sequence[Any]]
REJECTED = 1e-6
"""A correct sampler is rejected at most once in a million tests."""
SMALLEST_EXPECTED = 5.0
"""Cells expected less often are counted together: one by one they would show nothing."""
ROUNDING = 1e-6
"""Of an expected number: what is about as near is as near."""
CHOSEN = 8
"""Sets that the first half may choose; each takes its part of α."""
SPREADS = 3.0
"""Standard deviations by which a promising set must stand out."""
SINGLE_SHARE = 0.1
"""The part of α for single outputs, where a smaller one costs little."""


@dataclass(frozen=True)
class Fit:
    """p-values of three tests of a sampler against its matrix, and of all together.

    `frequencies`: outputs of every letter as often as the matrix says, neither further off nor nearer than chance.
    `neighbours`: two draws in a row agree as often as independent ones. `repeats`: so do two runs on the same records.

    Attributes:
        tests: by the name of a test, its p-value; `p_value` is that of all together, `rejected` says it is too small.
    Example:
        >>> from discreet.audit import Fit
        >>> found = Fit({"frequencies": 0.4, "neighbours": 0.6, "repeats": 1e-9})
        >>> found.rejected
        True
    """

    tests: Mapping[str, float]

    @property
    def p_value(self) -> float:
        return min(1.0, len(self.tests) * min(self.tests.values()))

    @property
    def rejected(self) -> bool:
        return self.p_value < REJECTED


@dataclass(frozen=True)
class SamplerAudit:
    """What the draws prove (`bound`), the comparison behind it in words, and the test against a matrix, if any.

    Attributes:
        bound: the `LowerBound`; its level is `epsilon` here as well.
        words: which inputs and outputs it comes from.
        fit: the test against a matrix, a `Fit`, or None.
    Example:
        >>> import random
        >>> from discreet.audit import audit_sampler
        >>> response = lambda records: [one if random.random() < 0.75 else 1 - one for one in records]
        >>> found = audit_sampler(response, [0, 1], draws=20_000)  # its level is ln 3 = 1.099
        >>> 0.9 < found.epsilon < 1.12, found.fit is None
        (True, True)
    """

    bound: LowerBound
    words: str
    fit: Fit | None

    @property
    def epsilon(self) -> float:
        """The mechanism's level is at least this, with the stated confidence."""
        return self.bound.epsilon


def audit_sampler(
    sampler: Sampler,
    inputs: Sequence[Hashable] | Joint,
    *,
    channel: Channel | None = None,
    draws: int = 100_000,
    confidence: float = 0.99,
    seed: int | None = None,
) -> SamplerAudit:
    """A lower bound on the level, and with a `channel` a test against it.

    With letters as `inputs` the level is that of ordinary LDP. With a joint it is that of LDP with respect to S: the
    records of each secret are drawn from P(z | s), and `seed` fixes that drawing, not the sampler's.

    Arguments:
        sampler: turns a list of input letters into a list of outputs of the same length.
        inputs: the letters to try, or a joint.
        channel: the matrix that it should draw from.
        draws: how many for each input.
        confidence: of the bound.
        seed: of the records that are drawn from a joint.
    Returns:
        A `SamplerAudit`.
    Raises:
        ParameterError: fewer than two draws, or a confidence that is not between 0 and 1.
        ChannelError: a sampler that returns more or fewer outputs than it was given records.
    Example:
        >>> from discreet.audit import audit_sampler
        >>> leaky = lambda records: [one for one in records]
        >>> audit_sampler(leaky, ["a", "b"], draws=1000).epsilon > 4
        True
    """
    if draws < 2:
        raise ParameterError("fewer than two draws", where="draws", remedy="Try 100_000.")
    groups = inputs.secret_letters if isinstance(inputs, Joint) else tuple(inputs)
    generator = np.random.default_rng(seed)
    names = [groups[s] for s in inputs.seen] if isinstance(inputs, Joint) else list(groups)
    halves = [[_outputs(sampler, _records(inputs, g, draws // 2, generator)) for g in range(len(names))] for _ in "12"]
    outputs = sorted({y for half in halves for drawn in half for y in drawn}, key=repr)
    position = {y: i for i, y in enumerate(outputs)}
    counts = [np.array([_counted(drawn, position) for drawn in half]) for half in halves]
    bound = lower_bound(counts[0], counts[1], confidence)
    return SamplerAudit(
        bound, describe(bound, names, outputs), None if channel is None else fit(sampler, channel, draws=draws)
    )


def fit(sampler: Sampler, channel: Channel, *, draws: int = 100_000) -> Fit:
    """Test a sampler against the matrix it should draw from.

    Arguments:
        sampler: turns a list of input letters into a list of outputs of the same length.
        channel: the matrix that it should draw from.
        draws: how many for each letter.
    Returns:
        A `Fit`.
    Raises:
        ParameterError: fewer than two draws.
        ChannelError: a sampler that returns more or fewer outputs than it was given records.
    Example:
        >>> import discreet as dc
        >>> from discreet.audit import fit
        >>> stuck = lambda records: [0 for _ in records]
        >>> fit(stuck, dc.Channel([[0.7, 0.3], [0.3, 0.7]]), draws=1000).rejected
        True
    """
    position = {y: i for i, y in enumerate(channel.outputs)}
    tests: dict[str, list[float]] = {"frequencies": [], "neighbours": [], "repeats": []}
    steps: list[tuple[Floats, Floats]] = []
    for z, letter in enumerate(channel.inputs):
        runs = [_codes(_outputs(sampler, [letter] * draws), position) for _ in range(2)]
        column = channel.matrix[:, z]
        if any((run < 0).any() or (column[run] == 0).any() for run in runs):
            return Fit({"frequencies": 0.0, "neighbours": 1.0, "repeats": 1.0})
        for run in runs:
            steps.append(_steps(np.bincount(run, minlength=len(column)), column))
            pairs = run[: draws // 2 * 2].reshape(-1, 2)
            tests["neighbours"].append(_agreement(pairs[:, 0], pairs[:, 1], column))
        tests["repeats"].append(_agreement(runs[0], runs[1], column))
    tests["frequencies"] = _frequencies(steps)
    return Fit({name: min(1.0, len(values) * min(values)) for name, values in tests.items()})


def _records(
    inputs: Sequence[Hashable] | Joint, group: int, draws: int, generator: np.random.Generator
) -> list[Hashable]:
    if not isinstance(inputs, Joint):
        return [inputs[group]] * draws
    chosen = generator.choice(len(inputs.letters), size=draws, p=inputs.letter_given_secret[group])
    return [inputs.letters[z] for z in chosen]


def _outputs(sampler: Sampler, records: list[Hashable]) -> list[Hashable]:
    drawn = sampler(records)
    outputs = drawn.tolist() if isinstance(drawn, np.ndarray) else list(drawn)
    if len(outputs) != len(records):
        raise ChannelError(
            f"{len(records)} records in, {len(outputs)} out", where="sampler", remedy="One output for every record."
        )
    return outputs


def _counted(drawn: list[Hashable], position: Mapping[Hashable, int]) -> NDArray[np.int64]:
    return np.bincount(_codes(drawn, position), minlength=len(position)).astype(np.int64)


def _codes(drawn: list[Hashable], position: Mapping[Hashable, int]) -> Indices:
    return np.fromiter((position.get(y, -1) for y in drawn), dtype=np.intp, count=len(drawn))


def _steps(counts: NDArray[np.intp], column: Floats) -> tuple[Floats, Floats]:
    """Exact p-values of how far counts are from what is expected, and of how near: of one output after the other.

    The number of an output given those of the outputs before it is binomial, so whatever those are, each of its two
    p-values is at most u with probability at most u. Outputs that are too rare are counted together.
    """
    draws, rare = int(counts.sum()), column * counts.sum() < SMALLEST_EXPECTED
    observed, shares = (np.append(cells[~rare], cells[rare].sum()) for cells in (counts, column))
    left = (draws - np.cumsum(observed) + observed)[:-1]
    rates = np.clip(shares[:-1] / np.cumsum(shares[::-1])[:0:-1], 0.0, 1.0)
    used = (left > 0) & (rates < 1)
    n, k, p = left[used], observed[:-1][used], rates[used]
    far = np.minimum(1.0, 2 * np.minimum(_at_most(k, n, p), _at_least(k, n, p)))
    reach = np.abs(k - n * p) + ROUNDING
    least, most = np.ceil(n * p - reach), np.floor(n * p + reach)
    return far, np.clip(_at_most(most, n, p) - _at_most(least - 1, n, p), 0.0, 1.0)


def _frequencies(steps: Sequence[tuple[Floats, Floats]]) -> list[float]:
    """Three p-values of all steps: of the furthest, of how far they are, and of how near."""
    far, near = (np.concatenate(values) for values in zip(*steps, strict=True))
    return [float(far.min(initial=1.0)) * max(1, len(far)), _together(far), _together(near)]


def _at_most(k: Floats, n: Counts, p: Floats) -> Floats:
    """P(N ≤ k) of a binomial N."""
    return np.asarray(np.where(k < 0, 0.0, np.where(k >= n, 1.0, bdtr(np.clip(k, 0, n - 1), n, p))))


def _at_least(k: Floats, n: Counts, p: Floats) -> Floats:
    """P(N ≥ k)."""
    return np.asarray(np.where(k <= 0, 1.0, np.where(k > n, 0.0, bdtrc(np.clip(k - 1, 0, n - 1), n, p))))


def _together(each: Floats) -> float:
    """Fisher's p-value of all: −2 Σ ln u is at most as large as a χ² with two degrees of freedom for each."""
    with np.errstate(divide="ignore"):
        return float(chdtrc(2 * len(each), -2 * np.log(each).sum())) if len(each) else 1.0


def _agreement(first: Indices, second: Indices, column: NDArray[np.float64]) -> float:
    """Two-sided binomial p-value of how often two draws agree; independent ones do with probability Σ_y Q[y, z]²."""
    rate, trials, hits = min(1.0, float((column**2).sum())), len(first), int((first == second).sum())
    if rate >= 1.0 - 1e-12 or trials == 0:
        return 1.0
    below = float(bdtr(hits, trials, rate))
    above = float(bdtrc(hits - 1, trials, rate)) if hits else 1.0
    return min(1.0, 2 * min(below, above))


# ---- the lower bound -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LowerBound:
    """ε ≥ `epsilon` with this confidence: seen in `outputs`, which are likelier after input `first` than `second`.

    Attributes:
        epsilon: the bound, in nats; 0 where the draws prove nothing.
        confidence: of the bound, with all comparisons counted.
        first: the position of an input in the count matrix.
        second: that of another.
        outputs: positions of the outputs.
        comparisons: how many were made.
    Example:
        >>> import numpy as np
        >>> from discreet.audit import lower_bound
        >>> half = np.array([[700, 300], [300, 700]])
        >>> bound = lower_bound(half, half)
        >>> bound.first, bound.second, 0 < bound.epsilon < 0.8473
        (0, 1, True)
    """

    epsilon: float
    confidence: float
    first: int
    second: int
    outputs: tuple[int, ...]
    comparisons: int


def lower_bound(first_half: Counts, second_half: Counts, confidence: float = 0.99) -> LowerBound:
    """From counts[input, output] of two independent halves of the draws.

    Arguments:
        first_half: counts[input, output] that choose what is compared.
        second_half: counts[input, output] of other draws, which are compared.
        confidence: of the bound.
    Returns:
        A `LowerBound`.
    Raises:
        ParameterError: a confidence that is not between 0 and 1, or counts that do not fit together.
    Example:
        >>> import numpy as np
        >>> from discreet.audit import lower_bound
        >>> lower_bound(np.array([[10, 0], [0, 10]]), np.array([[10, 0], [0, 10]])).epsilon > 0
        True
    """
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
