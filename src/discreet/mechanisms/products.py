"""Conditions on the mechanism of one attribute, under which a product of such mechanisms may be private (`product`).

Both are cones of rows over the letters of one attribute. They grow with the budget ε_j, so a condition is built once
for an attribute and then asked for its cone at any budget.

Products: every attribute of X = (X¹, …, X^m) gets a mechanism of its own, drawn independently (funnel-2, section
VI).

*The papers' condition* (funnel-2, Theorem 4): Q^j satisfies ε_j-LIP under P( · | x_J) for every J without j. The
theorem says that the product is then Σ_j ε_j-SRLIP. It is not (theory 3.1): the proof takes the attributes to be
independent given s and x_J. Such a product is worth its audited level, `Product.level`.

*The safe condition*: P(Y^j = y | s, x_{−j}) ≤ e^{ε_j} P(Y^j = y | s', x'_{−j}) for all s ≠ s' and all x_{−j}, x'_{−j}
that have positive probability with them. **Then P(y | s, x_J) ≤ e^λ P(y | s', x_J) for every J, with λ = Σ_{j ∉ J}
ε_j.**

Proof. Fix x_J, y, and s with P(s, x_J) > 0. The factors of j ∈ J do not depend on s. Number the other attributes 1,
…, r and put W_k(s) = E[ Π_{i ≤ k} Q^i(y_i | X^i) | s, x_J ], so P(y | s, x_J) = const · W_r(s). If W_{k−1}(s) > 0,
the ratio W_k(s)/W_{k−1}(s) is the mean of Q^k(y_k | X^k) under the law of the unknown attributes tilted by Π_{i<k}
Q^i(y_i | x_i). The tilt does not contain x_k, so given the other attributes X^k still has the law P(x_k | s, x_{−k}):
the mean is a mixture of g_k(s, x_{−k}) = P(Y^k = y_k | s, x_{−k}) over x_{−k} of positive probability with s, and
lies between their minimum a_k(s) and their maximum b_k(s). So W_r(s) ≤ Π_k b_k(s), W_r(s') ≥ Π_k a_k(s'), and b_k(s)
≤ e^{ε_k} a_k(s'). If W_k(s') = 0 for some k, the first such k has a_k(s') = 0, hence b_k(s) = 0 and P(y | s, x_J) = 0
as well. ∎

From there to SRLIP: let π be at most every P(s | x_J). P(y | x_J) = Σ_s P(s | x_J) P(y | s, x_J) lies between (π +
(1−π) e^−λ) and (π + (1−π) e^λ) times P(y | s, x_J), so the level is at most ln(π + (1−π) e^λ) ≤ λ (the other side is
nearer to 1, because (1−π)² ≥ (e^ε − π)(e^−ε − π)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, permutations

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.information import entropy
from discreet.joint import Joint
from discreet.notions.lip import information_rows
from discreet.notions.notion import Cone, log_ratio

LISTED = 1_000
CUTS_AT_ONCE = 20
MARGIN = 1e-12
"""All conditions are listed up to so many; beyond, so many at a time are found as they are broken, by more than
rounding, which is MARGIN of the largest entry."""

Condition = Callable[[Joint, int], Callable[[float], Cone]]


def attribute_prior(joint: Joint, j: int) -> Floats:
    """p(x_j)"""
    others = tuple(axis for axis in range(joint.probabilities.ndim) if axis != j + 1)
    return np.asarray(joint.probabilities.sum(axis=others))


def paper_condition(joint: Joint, j: int) -> Callable[[float], Cone]:
    """ε_j-LIP with respect to P(S, X^j | x_J) for every J without j and every x_J: funnel-2, eqs. (25) and (26)."""
    others = [i for i in range(len(joint.shape)) if i != j]
    subsets = chain.from_iterable(combinations(others, size) for size in range(len(others) + 1))
    laws, averages = [], []
    for known in subsets:
        cells = _cells(joint, j, known)
        masses, together = cells.sum(axis=2, keepdims=True), cells.sum(axis=0, keepdims=True)
        seen = masses[:, :, 0] > 0
        laws.append(cells[seen] / masses[seen])
        average = np.divide(together, masses.sum(axis=0), out=np.zeros_like(together), where=masses.sum(axis=0) > 0)
        averages.append(np.broadcast_to(average, cells.shape)[seen])
    law, average = np.vstack(laws), np.vstack(averages)

    def cone(epsilon: float) -> Cone:
        rows = _needed(information_rows(law, average, epsilon))
        if len(rows) <= LISTED:
            return Cone(rows)
        return Cone(_needed(information_rows(laws[0], averages[0], epsilon)), lambda v: _worst(rows, v))

    return cone


def safe_condition(joint: Joint, j: int) -> Callable[[float], Cone]:
    """P(Y^j = y | s, x_{−j}) ≤ e^{ε_j} P(Y^j = y | s', x'_{−j}) for s ≠ s' wherever both have positive probability."""
    laws = laws_by_secret(joint, j)
    few = [_corners(law) for law in laws]
    many = sum(len(a) * len(b) for a, b in permutations(laws, 2)) > LISTED

    def cone(epsilon: float) -> Cone:
        listed = few if many else laws
        nothing = np.zeros((0, joint.shape[j]))
        rows = _needed(np.vstack([nothing, *(_comparisons(a, b, epsilon) for a, b in permutations(listed, 2))]))
        return Cone(rows, (lambda v: _violated(laws, v, epsilon)) if many and joint.shape[j] > 2 else None)

    return cone


def laws_by_secret(joint: Joint, j: int) -> list[Floats]:
    """P(x_j | s, x_{−j}) for every x_{−j} of positive probability, a list over the seen secrets; each law once."""
    cells = _cells(joint, j, tuple(range(len(joint.shape))))
    masses = cells.sum(axis=2)
    return [np.unique(cells[s][masses[s] > 0] / masses[s][masses[s] > 0, None], axis=0) for s in joint.seen]


def _cells(joint: Joint, j: int, known: tuple[int, ...]) -> Floats:
    """P(s, x_J, x_j) as an array [s, x_J, x_j]."""
    summed = tuple(1 + i for i in range(len(joint.shape)) if i != j and i not in known)
    cells = np.moveaxis(joint.probabilities.sum(axis=summed, keepdims=True), 1 + j, -1)
    return np.asarray(cells.reshape(len(cells), -1, joint.shape[j]))


def _corners(laws: Floats) -> Floats:
    """The laws that give some letter the most or the least; for two letters that is all of their hull."""
    return np.asarray(laws[np.unique([laws.argmin(axis=0), laws.argmax(axis=0)])])


def _comparisons(first: Floats, second: Floats, epsilon: float) -> Floats:
    """first·v ≤ e^ε second·v for every two of them."""
    return np.asarray((first[:, None] - np.exp(epsilon) * second[None, :]).reshape(-1, first.shape[1]))


def _violated(laws: list[Floats], v: Floats, epsilon: float) -> Floats:
    """Comparisons of the laws that give v the most and the least."""
    ranked = [law[np.argsort(law @ v)] for law in laws]
    pairs = [_comparisons(a[-CUTS_AT_ONCE:], b[:CUTS_AT_ONCE], epsilon) for a, b in permutations(ranked, 2)]
    return _worst(np.vstack(pairs), v)


def _needed(rows: Floats) -> Floats:
    """Rows that v ≥ 0 does not imply, each once; for two letters only the tightest from either side."""
    rows = rows[(rows > 0).any(axis=1)]
    if rows.shape[1] != 2 or not len(rows):
        return np.unique(rows, axis=0)
    facing = [rows[rows[:, x] > 0] for x in (0, 1)]
    return np.array([side[np.argmax(side[:, 1 - x] / side[:, x])] for x, side in enumerate(facing) if len(side)])


def _worst(rows: Floats, v: Floats) -> Floats:
    """The rows that v violates most, a few of them."""
    excess = rows @ v
    order = np.argsort(-excess)[:CUTS_AT_ONCE]
    return np.asarray(rows[order[excess[order] > MARGIN * np.abs(v).max()]])


# ---- products: every attribute of X = (X¹, …, X^m) gets a mechanism of its own, drawn independently ------------------


AUDITED_ENTRIES = 50_000_000
"""Likelihoods that an audit multiplies out, some seconds of them; a product with more has its factors' bound alone."""


@dataclass(frozen=True, eq=False)
class Product:
    """One channel an attribute. Everything is computed from the factors; only `channel` writes the large matrix out."""

    factors: tuple[Channel, ...]

    def channel(self, joint: Joint) -> Channel:
        """Q[y, x] = Π_j Q^j[y_j, x_j] on the letters of the joint, both in C order."""
        matrix: Floats = np.ones((1, 1))
        for factor in self.factors:
            matrix = np.asarray(np.kron(matrix, factor.matrix), dtype=float)
        return Channel(matrix, joint.letters)

    def mutual_information(self, joint: Joint) -> float:
        """I(X;Y) = H(Y) − Σ_j H(Y^j | X^j): given X the outputs are independent."""
        outputs = joint.probabilities.sum(axis=0)
        lost = 0.0
        for j, factor in enumerate(self.factors):
            lost += float(attribute_prior(joint, j) @ [entropy(column) for column in factor.matrix.T])
            outputs = _contracted(outputs, j, factor)
        return entropy(outputs) - lost

    def level(self, joint: Joint) -> float:
        """The exact SRLIP level. Factors of known attributes cancel: Π_j (a_j + b_j) numbers for each s are enough."""
        sizes = np.array([sum(factor.matrix.shape) for factor in self.factors], dtype=float)
        if len(joint.seen) * float(np.prod(sizes)) > AUDITED_ENTRIES:
            raise ParameterError(
                "a product too large to audit", where="SRLIP level", remedy="Use the safe product: it needs no audit."
            )
        cells = joint.probabilities[joint.seen]
        return max(_moves(cells, cells, 0, self.factors))

    def safe_level(self, joint: Joint) -> float:
        """A proven bound on the SRLIP level, attribute by attribute: the theorem above, with its a_k and b_k."""
        worst = np.zeros((len(joint.seen), len(joint.seen)))
        for j, factor in enumerate(self.factors):
            likelihoods = [factor.matrix @ laws.T for laws in laws_by_secret(joint, j)]
            most, least = [g.max(axis=1) for g in likelihoods], [g.min(axis=1) for g in likelihoods]
            for s, other in permutations(range(len(joint.seen)), 2):
                worst[s, other] += log_ratio(most[s], least[other]).max()
        rarest = _rarest_secret(joint)
        return float(np.log(rarest + (1 - rarest) * np.exp(worst.max())))


def _rarest_secret(joint: Joint) -> float:
    """π ≤ P(s | x_J) for every seen s, every J but all of X and every x_J: the smallest with one attribute unknown.

    Every other P(s | x_J) is an average of these.
    """
    smallest = 1.0
    for j in range(len(joint.shape)):
        cells = joint.probabilities[joint.seen].sum(axis=j + 1)
        masses = cells.sum(axis=0)
        smallest = min(smallest, float((cells[:, masses > 0] / masses[masses > 0]).min()))
    return smallest


def _contracted(cells: Floats, axis: int, factor: Channel) -> Floats:
    """Σ_x Q[y, x] cells[…, x, …]: the attribute on this axis replaced by its output."""
    return np.moveaxis(np.tensordot(factor.matrix, cells, axes=(1, axis)), 0, axis)


def _moves(cells: Floats, masses: Floats, j: int, factors: tuple[Channel, ...]) -> Iterator[float]:
    """The largest |ln P(y | s, x_J) / P(y | x_J)| for every J: attribute j is either known, or seen through its output.

    `cells` is P(s, x_J, y_i …) so far, `masses` is P(s, x_J).
    """
    if j == len(factors):
        with np.errstate(divide="ignore", invalid="ignore"):
            moves = np.abs(log_ratio(cells / masses, cells.sum(axis=0) / masses.sum(axis=0)))
        yield float(np.where(masses > 0, moves, 0.0).max())
        return
    yield from _moves(cells, masses, j + 1, factors)
    through = _contracted(cells, j + 1, factors[j])
    yield from _moves(through, masses.sum(axis=j + 1, keepdims=True), j + 1, factors)
