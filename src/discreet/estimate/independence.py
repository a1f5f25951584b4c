"""Are two attributes independent? A test on the release that takes the channel's noise into account.

A chi-square test on released cells as if they were clean is wrong: the channel adds variance, and correlates cells.
With θ̂ the unbiased estimate of the cross-table, r × c, the statistic is its distance from the nearest product,

    X² = min over a, b, each adding up to one, of (θ̂ − abᵀ)ᵀ Σ⁻ (θ̂ − abᵀ),   Σ = Cov θ̂ if the two are independent,

where Σ has all that standard errors have: replaced values, and rows of one person. a and b may be negative, as θ̂ may:
the products that add up to one are a surface without a boundary. Where the noise is small beside the margins it is
flat, and X² is chi-square with (r − 1)(c − 1) degrees of freedom. Where the noise is as large as the margins, a gap
θ_ij − θ_i· θ_·j is a product of two noises, and its linear approximation means nothing; X² is still a distance. With
one margin held at the truth the products are flat, so that X² is never above a chi-square with min(r(c − 1), (r − 1)c)
degrees; and the surface, bent both ways, mostly comes nearer than its tangent, which makes p-values too large.

Where the normal approximation of a cell fails, the law of X² is simulated under the fitted independent distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, chdtri, chndtrinc

from discreet.arrays import Floats
from discreet.estimate.fitting import on_simplex
from discreet.estimate.functionals import Analysis, Functionals
from discreet.estimate.many_letters import SparseFunctionals
from discreet.estimate.result import Estimate
from discreet.exceptions import ParameterError

DRAWS = 1_999
SEED = 0
"""p-values come in steps of 1/2000, and are the same whenever the same release is tested."""
LEVEL, POWER = 0.05, 0.5
"""A test at this level that finds the strongest dependence less often than this cannot tell."""
HIDDEN = (
    "The release cannot tell: its noise is as large as the margins, and columns that decide each other would be found "
    "in less than half of all releases."
)
ONE_LETTER = "A column of one letter is independent of every other."


@dataclass(frozen=True)
class Independence:
    """The test's outcome. A small p-value speaks against independence.

    Attributes:
        statistic: of the test.
        degrees: of freedom.
        p_value: how often independent attributes give a statistic at least as large.
        simulated: whether it was found by simulation.
        reason: why the p-value is 1 whatever was released, where the release cannot tell; empty elsewhere.
    Example:
        >>> from discreet.estimate import Independence
        >>> Independence(statistic=12.1, degrees=1, p_value=0.0005, simulated=False).p_value < 0.05
        True
    """

    statistic: float
    degrees: int
    p_value: float
    simulated: bool
    reason: str = ""


def independence(estimate: Estimate, first: str, second: str) -> Independence:
    """Test whether two attributes of one estimate, released together, are independent.

    Where noise would hide even columns that decide each other, the p-value is 1 and `reason` says so.

    Arguments:
        estimate: of a release with both attributes.
        first: the name of one.
        second: the name of the other.
    Returns:
        An `Independence`: `p_value`, `statistic`, `degrees`, `reason`.
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
    sizes = [len(attribute) for attribute in table.shown]
    degrees = (sizes[0] - 1) * (sizes[1] - 1)
    if not degrees:
        return Independence(0.0, 0, 1.0, simulated=False, reason=ONE_LETTER)
    fit = _NullFit.of(cells, sizes[0])
    products, statistic = fit.products, fit.statistic
    if products.strongest() < chndtrinc(chdtri(degrees, LEVEL), degrees, 1 - POWER):
        return Independence(statistic, degrees, 1.0, simulated=False, reason=HIDDEN)
    if not cells.switched.any():
        return Independence(statistic, degrees, float(chdtrc(degrees, statistic)), simulated=False)
    least = statistic * (1 - SAME)
    exceeded = int((products.distances(_simulated(cells, fit.null), least) >= least).sum())
    return Independence(statistic, degrees, (exceeded + 1) / (DRAWS + 1), simulated=True)


@dataclass(frozen=True, eq=False)
class _NullFit:
    """Frequencies of the letters if the two attributes were independent, and the distance that is left."""

    null: Floats
    products: _Products
    statistic: float

    @classmethod
    def of(cls, cells: Functionals, rows: int) -> _NullFit:
        """The margins of the most likely table first; then those of the nearest product, with their covariance."""
        analysis = cells.analysis
        share = cells.rows * analysis.smoothed
        held = share.sum(axis=1).reshape(rows, -1)
        share = share / share.sum(axis=1, keepdims=True)
        observed, start = cells.blind_scores @ analysis.sample.shares, (cells.rows @ analysis.start).reshape(held.shape)
        left, right = held.sum(axis=1), held.sum(axis=0)
        for _ in range(PASSES):
            null = np.outer(left, right).reshape(-1) @ share
            products = _Products.of(cells.blind_covariance(null), np.outer(left, right))
            statistic, *nearest = products.nearest(observed)
            left, right = (
                (analysis.sample.n * on_simplex(side) + start.sum(axis=axis)) / (analysis.sample.n + 1)
                for side, axis in zip(nearest, (1, 0), strict=True)
            )
        return cls(null, products, statistic)


def _simulated(cells: Functionals, null: Floats) -> Floats:
    """Estimates of releases under the null, a row each: outputs drawn anew, and normal what comes on top of them."""
    rng, analysis = np.random.default_rng(SEED), cells.analysis
    sample, outputs = analysis.sample, analysis.sample.matrix @ null
    draws = []
    for wave, (size, share) in enumerate(zip(analysis.draws.sizes, sample.sizes / sample.n, strict=True)):
        mine, records = outputs[sample.wave == wave], int(size)
        draws.append(rng.multinomial(records, mine / mine.sum(), size=DRAWS) * (share / records))
    tables = np.concatenate(draws, axis=1) @ cells.blind_scores.T
    spread, directions = np.linalg.eigh(analysis.beside_outputs(cells.rows, null))
    return np.asarray(tables + (rng.normal(size=tables.shape) * np.sqrt(np.maximum(spread, 0))) @ directions.T)


# ---- the distance of tables from the nearest product -----------------------------------------------------------------

PASSES = 3
"""Covariance, nearest product, its covariance: a fourth pass changes p-values by less than 0.0001."""
STARTS = 16
"""Where noise is large there may be several nearest products; the search begins at the margins of as many tables that
the noise could have made of this one."""
STEPS = 200
"""Far more than a search takes that settles."""
SETTLED = 1e-10
"""The part of a distance by which a last step may still shorten it."""
SAME = 1e-6
"""Distances that differ by less are one."""
ROUNDING = 1e-11
"""The part of the noise that is added everywhere: above what rounding makes of a covariance of thousands of cells."""
BLOCK = 4_000_000
"""Entries of the slopes that are held at once: 32 MB."""


@dataclass(frozen=True, eq=False)
class _Products:
    """Products abᵀ of numbers that add up to one; tables as they are seen by `whitened`, k × r × c, where Σ is 1."""

    whitened: Floats
    independent: Floats
    spread: Floats

    @classmethod
    def of(cls, covariance: Floats, independent: Floats) -> _Products:
        """Tables add up to one, so Σ1 = 0, and (Σ + ssᵀ)⁻¹ is an inverse of Σ for every s with 1ᵀs ≠ 0 (Rao).

        Errors far below the others are lost in rounding: a little more noise makes distances smaller, never larger."""
        deviations = np.sqrt(np.diag(covariance))
        correlation = covariance / np.outer(deviations, deviations) + 1
        root = np.linalg.cholesky((correlation + correlation.T) / 2 + ROUNDING * np.eye(len(correlation)))
        whitened = np.linalg.inv(root) / deviations
        return cls(whitened.reshape(-1, *independent.shape), independent, deviations[:, None] * root)

    def strongest(self) -> float:
        """The largest distance of two columns that decide each other, of two values each, from their own margins."""
        found = 0.0
        for i in range(1, self.whitened.shape[1]):
            for k in range(i):
                change = self.whitened[:, i] - self.whitened[:, k]
                gram = change.T @ change
                own = np.diag(gram)
                found = max(found, float((own[:, None] + own - 2 * gram).max()) / 16)
        return found

    def nearest(self, table: Floats) -> tuple[float, Floats, Floats]:
        """The squared distance of one table, and the two sides of the product that is nearest."""
        noise = np.random.default_rng(SEED).normal(size=(STARTS, len(table))) @ self.spread.T
        noise[0] = 0
        moved = table + noise - noise.mean(axis=1, keepdims=True)
        cells = moved.reshape(-1, *self.independent.shape)
        left = np.concatenate([cells.sum(axis=2), self.independent.sum(axis=1)[None]])
        right = np.concatenate([cells.sum(axis=1), self.independent.sum(axis=0)[None]])
        found = self._descent(np.tile(table, (len(left), 1)), left, right, 0.0)
        best = int(found.argmin())
        return float(found[best]), left[best], right[best]

    def distances(self, tables: Floats, enough: float = 0.0) -> Floats:
        """The squared distances of tables, a row each; of those below `enough` only that they are."""
        rows, columns = self.independent.shape
        block = max(1, BLOCK // (rows * columns * (rows + columns)))
        parts = [self._nearest(tables[at : at + block], enough) for at in range(0, len(tables), block)]
        return np.concatenate(parts)

    def _nearest(self, tables: Floats, enough: float) -> Floats:
        cells = tables.reshape(-1, *self.independent.shape)
        found = self._descent(tables, cells.sum(axis=2), cells.sum(axis=1), enough)
        far = found >= enough
        if not far.any():
            return found
        left, right = (np.tile(self.independent.sum(axis=axis), (int(far.sum()), 1)) for axis in (1, 0))
        found[far] = np.minimum(found[far], self._descent(tables[far], left, right, enough))
        return found

    def _descent(self, tables: Floats, left: Floats, right: Floats, enough: float) -> Floats:
        """From the product of `left` and `right` down, by the method of Levenberg and Marquardt; a row each.

        Both are moved to the sides of the product that was reached."""
        whole = self.whitened.reshape(len(self.whitened), -1)
        free_left, free_right = (_changes(size) for size in self.whitened.shape[1:])
        wanted = tables @ whole.T
        gaps = wanted - _product(left, right) @ whole.T
        found, damping = (gaps**2).sum(axis=1), np.full(len(tables), 1e-3)
        where = np.flatnonzero(found >= enough)
        for _ in range(STEPS):
            if not len(where):
                break
            a, b, gap = left[where], right[where], gaps[where]
            slope = np.concatenate(
                [
                    np.tensordot(b, self.whitened, (1, 2)) @ free_left,
                    np.tensordot(a, self.whitened, (1, 1)) @ free_right,
                ],
                axis=2,
            )
            normal = slope.transpose(0, 2, 1) @ slope
            own = np.arange(normal.shape[1])
            normal[:, own, own] *= 1 + damping[where, None]
            step = np.linalg.solve(normal, slope.transpose(0, 2, 1) @ gap[:, :, None])[:, :, 0]
            size = free_left.shape[1]
            a, b = a + step[:, :size] @ free_left.T, b + step[:, size:] @ free_right.T
            gap = wanted[where] - _product(a, b) @ whole.T
            reached = (gap**2).sum(axis=1)
            gain = found[where] - reached
            better = gain > 0
            moved = where[better]
            left[moved], right[moved], gaps[moved] = a[better], b[better], gap[better]
            found[moved] = reached[better]
            damping[where] = np.maximum(damping[where] * np.where(better, 0.2, 5.0), 1e-9)
            done = (np.abs(gain) <= SETTLED * (1 + found[where])) | (found[where] < enough) | (damping[where] > 1e9)
            where = where[~done]
        return np.asarray(found)


def _product(left: Floats, right: Floats) -> Floats:
    return np.asarray((left[:, :, None] * right[:, None, :]).reshape(len(left), -1))


def _changes(size: int) -> Floats:
    """An orthonormal basis of the vectors that add up to zero (Helmert)."""
    lower = np.eye(size, size - 1) - np.tri(size, size - 1, -1) / np.arange(size - 1, 0, -1)
    return np.asarray(lower / np.linalg.norm(lower, axis=0))
