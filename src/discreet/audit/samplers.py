"""Audits of code that randomises records: a lower bound on its epsilon, a test against the matrix it should draw from.

A sampler is a callable: a list of input letters in, an equally long list of outputs out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, chdtr, chdtrc

from discreet.audit.empirical import LowerBound, describe, lower_bound
from discreet.channel import Channel
from discreet.exceptions import ChannelError, ParameterError
from discreet.joint import Joint

Sampler = Callable[[list[Hashable]], Sequence[Any]]
Indices = NDArray[np.intp]
REJECTED = 1e-6
"""A correct sampler is rejected once in a million tests."""
SMALLEST_EXPECTED = 5.0


@dataclass(frozen=True)
class Fit:
    """p-values of three tests of a sampler against its matrix, and of all together.

    `frequencies`: outputs of every letter as often as the matrix says, neither further off nor nearer than chance.
    `neighbours`: two draws in a row agree as often as independent ones. `repeats`: so do two runs on the same records.
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
    """What the draws prove (`bound`), the comparison behind it in words, and the test against a matrix, if any."""

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
    """Test a sampler against the matrix it should draw from."""
    position = {y: i for i, y in enumerate(channel.outputs)}
    tests: dict[str, list[float]] = {"frequencies": [], "neighbours": [], "repeats": []}
    statistic, degrees = 0.0, 0
    for z, letter in enumerate(channel.inputs):
        runs = [_codes(_outputs(sampler, [letter] * draws), position) for _ in range(2)]
        column = channel.matrix[:, z]
        if any((run < 0).any() or (column[run] == 0).any() for run in runs):
            return Fit({"frequencies": 0.0, "neighbours": 1.0, "repeats": 1.0})
        for run in runs:
            distance, free = _distance(np.bincount(run, minlength=len(column)), column * draws)
            statistic, degrees = statistic + distance, degrees + free
            tests["frequencies"].append(float(chdtrc(free, distance)) if free else 1.0)
            pairs = run[: draws // 2 * 2].reshape(-1, 2)
            tests["neighbours"].append(_agreement(pairs[:, 0], pairs[:, 1], column))
        tests["repeats"].append(_agreement(runs[0], runs[1], column))
    combined = {name: min(1.0, len(values) * min(values)) for name, values in tests.items()}
    if degrees:
        overall = 2 * min(float(chdtr(degrees, statistic)), float(chdtrc(degrees, statistic)))
        combined["frequencies"] = min(1.0, 2 * min(combined["frequencies"], overall))
    return Fit(combined)


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


def _distance(counts: NDArray[np.intp], expected: NDArray[np.float64]) -> tuple[float, int]:
    """Pearson's χ² and its degrees of freedom; cells that are too rare are counted together."""
    rare = expected < SMALLEST_EXPECTED
    observed = np.append(counts[~rare], counts[rare].sum()).astype(float)
    wanted = np.append(expected[~rare], expected[rare].sum())
    used = wanted >= SMALLEST_EXPECTED if (~rare).any() else wanted > 0
    observed, wanted = observed[used], wanted[used]
    wanted = wanted * observed.sum() / wanted.sum()
    return float(((observed - wanted) ** 2 / wanted).sum()), len(wanted) - 1


def _agreement(first: Indices, second: Indices, column: NDArray[np.float64]) -> float:
    """Two-sided binomial p-value of how often two draws agree; independent ones do with probability Σ_y Q[y, z]²."""
    rate, trials, hits = min(1.0, float((column**2).sum())), len(first), int((first == second).sum())
    if rate >= 1.0 - 1e-12 or trials == 0:
        return 1.0
    below = float(bdtr(hits, trials, rate))
    above = float(bdtrc(hits - 1, trials, rate)) if hits else 1.0
    return min(1.0, 2 * min(below, above))
