"""Products: every attribute of X = (X¹, …, X^m) gets a mechanism of its own, drawn independently (funnel-2, section
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

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.information import entropy
from discreet.joint import Joint
from discreet.mechanisms.attribute import attribute_prior, laws_by_secret
from discreet.notions.cone import Floats
from discreet.notions.level import log_ratio

AUDITED_ENTRIES = 50_000_000


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
