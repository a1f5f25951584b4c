"""Are two attributes independent? A test on the release that takes the channel's noise into account.

A chi-square test on released cells as if they were clean is wrong: the channel adds variance, and correlates cells.
With θ̂ the unbiased estimate of the cross-table and g(θ) = θ_ij − θ_i· θ_·j, which vanishes under independence,

    X² = g(θ̂)ᵀ (J Σ Jᵀ)⁺ g(θ̂),   J = ∂g/∂θ at the product of the margins,  Σ = Cov θ̂ under independence,

is asymptotically chi-square with (rows − 1)(columns − 1) degrees of freedom. Where the normal approximation of a cell
fails, the law of X² is simulated under the fitted independent distribution instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from discreet.arrays import Floats
from discreet.estimate.fitting import on_simplex
from discreet.estimate.functionals import Analysis, Functionals
from discreet.estimate.many_letters import SparseFunctionals
from discreet.estimate.result import Estimate
from discreet.exceptions import ParameterError

DRAWS = 1_999
SEED = 0
"""p-values come in steps of 1/2000, and are the same whenever the same release is tested."""


@dataclass(frozen=True)
class Independence:
    """The test's outcome. A small p-value speaks against independence.

    Attributes:
        statistic: of the test.
        degrees: of freedom.
        p_value: how often independent attributes give a statistic at least as large.
        simulated: whether it was found by simulation.
    Example:
        >>> from discreet.estimate import Independence
        >>> Independence(statistic=12.1, degrees=1, p_value=0.0005, simulated=False).p_value < 0.05
        True
    """

    statistic: float
    degrees: int
    p_value: float
    simulated: bool


def independence(estimate: Estimate, first: str, second: str) -> Independence:
    """Test whether two attributes of one estimate, released together, are independent.

    Arguments:
        estimate: of a release with both attributes.
        first: the name of one.
        second: the name of the other.
    Returns:
        An `Independence`: `p_value`, `statistic`, `degrees`.
    Raises:
        AlphabetError: an attribute that the estimate does not have.
        ParameterError: an estimate that cannot be tested.
    Example:
        >>> import discreet as dc, numpy as np
        >>> from discreet.estimate import independence
        >>> joint = dc.Joint.from_counts(np.arange(1, 9).reshape(2, 2, 2))
        >>> protocol = dc.design(joint, dc.LIP(0.5)).protocol
        >>> counts = np.round(1000 * protocol.channel.matrix @ joint.prior).astype(int)
        >>> names = [one.name for one in joint.releases]
        >>> independence(dc.estimate(counts, protocol), *names).p_value > 0.01
        True
    """
    table = estimate.table([first, second])
    cells = table.functionals
    if isinstance(cells, SparseFunctionals) or not isinstance(estimate.analysis, Analysis):
        raise ParameterError(
            "a test of very many letters", where=f"{first}, {second}", remedy="Group the values of the two columns."
        )
    if not cells.determined.all():
        raise ParameterError(
            "the release does not determine this cross-table", where=f"{first}, {second}",
            remedy="Only attributes that were released together can be tested.",
        )  # fmt: skip
    sample = estimate.analysis.sample
    test = _IndependenceTest.of(cells, len(table.shown[0]))
    statistic = float(test.statistics(sample.shares[None])[0])
    if not cells.switched.any():
        return Independence(statistic, test.degrees, float(chdtrc(test.degrees, statistic)), simulated=False)
    rng = np.random.default_rng(SEED)
    draws = [
        rng.multinomial(size, test.outputs[sample.wave == wave] / test.outputs[sample.wave == wave].sum(), size=DRAWS)
        for wave, size in enumerate(sample.sizes)
    ]
    simulated = test.statistics(np.concatenate(draws, axis=1) / sample.n)
    exceeded = int((simulated >= statistic * (1 - 1e-9)).sum())
    return Independence(statistic, test.degrees, (exceeded + 1) / (DRAWS + 1), simulated=True)


@dataclass(frozen=True, eq=False)
class _IndependenceTest:
    """X² for many releases at once, all weighted by the covariance at the independent fit."""

    scores: Floats
    rows: int
    weights: Floats
    degrees: int
    outputs: Floats

    @classmethod
    def of(cls, cells: Functionals, rows: int) -> _IndependenceTest:
        """`outputs` are the probabilities of the outputs, wave by wave, if the two were independent."""
        sample, scores = cells.analysis.sample, cells.blind_scores
        raw = (scores @ sample.shares).reshape(rows, -1)
        left, right = on_simplex(raw.sum(axis=1)), on_simplex(raw.sum(axis=0))
        wanted = np.outer(left, right).reshape(-1)
        fitted = cells.analysis.smoothed
        share = cells.rows * fitted
        share = share / share.sum(axis=1, keepdims=True)
        outputs = sample.matrix @ (wanted @ share)
        covariance = sample.covariance(scores, outputs)
        slope = _slope(left, right)
        spread = slope @ covariance @ slope.T
        values, vectors = np.linalg.eigh((spread + spread.T) / 2)
        most = (len(left) - 1) * (len(right) - 1)
        kept = (values > 1e-9 * values.max()) & (np.arange(len(values)) >= len(values) - most)
        return cls(scores, rows, vectors[:, kept] / np.sqrt(values[kept]), int(kept.sum()), outputs)

    def statistics(self, shares: Floats) -> Floats:
        tables = (shares @ self.scores.T).reshape(len(shares), self.rows, -1)
        products = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
        gaps = (tables - products).reshape(len(shares), -1)
        return np.asarray(((gaps @ self.weights) ** 2).sum(axis=1))


def _slope(left: Floats, right: Floats) -> Floats:
    """∂(θ_ij − θ_i· θ_·j) / ∂θ_kl at θ_i· = left, θ_·j = right."""
    size = len(left) * len(right)
    rows = np.einsum("ik,j,l->ijkl", np.eye(len(left)), right, np.ones(len(right)))
    columns = np.einsum("jl,i,k->ijkl", np.eye(len(right)), left, np.ones(len(left)))
    return np.asarray(np.eye(size) - (rows + columns).reshape(size, size))
