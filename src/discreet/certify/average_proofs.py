"""Averages over the outputs, in integers: information about the secret, maximal leakage, correct guesses (theory 8.4).

With whole numbers m_sy proportional to P(s, y), N_s and M_y their sums over y and over s, N the sum of all:

    I(S;Y) = ln N + (Σ m_sy ln m_sy − Σ_s N_s ln N_s − Σ_y M_y ln M_y) / N

Logarithms of whole numbers are bounded by integers over 2^128, the positive ones from above and the others from below,
so what comes out is never less than the truth. e to the maximal leakage is Σ_y max_s m_sy / N_s, every quotient rounded
up, against e^ε rounded down. Guesses are a fraction, Σ_y max_s m_sy / N, and compared as one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.arrays import Weights
from discreet.certify.exact_arithmetic import (
    ExactIntegers,
    ceil_div,
    exact_prior,
    exp_lower,
    ln_bounds,
    secret_weights,
)
from discreet.certify.proof import PROVERS, STEP, ProofAttempt
from discreet.certify.ratio_proofs import check_pairs
from discreet.exceptions import ProofError
from discreet.joint import Joint
from discreet.notions.funnel import Funnel
from discreet.notions.guess import Guess
from discreet.notions.maximal_leakage import MaximalLeakage
from discreet.notions.notion import Notion, Witness

WIDTH = 128
"""Logarithms and quotients are off by less than 2^−120, far below the step in which levels are stated."""
MOST_LOGARITHMS = 1 << 18
"""Secrets times outputs, at most: about ten seconds."""
MENDED = 1 + 1e-6
LEAST_MIXING = 2.0**-45
"""Rounding is mended by a little more of the constant mechanism than it takes, and by no less than rounding itself."""


@dataclass(frozen=True, eq=False)
class SecretMasses:
    """m_sy > 0 only where P(s, y) is, for the secrets that occur, and the sums N_s and M_y."""

    each: ExactIntegers
    by_secret: ExactIntegers
    by_output: ExactIntegers
    whole: int

    @classmethod
    def of(cls, weights: Weights, joint: Joint) -> SecretMasses:
        check_pairs(weights, joint)
        prior = exact_prior(joint)
        seen = np.flatnonzero(prior.reshape(len(prior), -1).sum(axis=1) > 0)
        each = secret_weights(weights, joint, prior)[seen]
        return cls(each, each.sum(axis=1), each.sum(axis=0), int(each.sum()))


Bound = Callable[[SecretMasses], Fraction]


def information_above(masses: SecretMasses) -> Fraction:
    """No less than I(S;Y), in nats."""
    if masses.each.size > MOST_LOGARITHMS:
        raise ProofError(
            f"{masses.each.shape[0]:,} secrets and {masses.each.shape[1]:,} outputs are too many for exact logarithms",
            where="Funnel",
            remedy="Merge rare secrets or outputs.",
        )
    total = masses.whole * ln_bounds(masses.whole, WIDTH)[1]
    total += sum(int(m) * ln_bounds(int(m), WIDTH)[1] for m in masses.each.flat if m)
    for sums in (masses.by_secret, masses.by_output):
        total -= sum(int(m) * ln_bounds(int(m), WIDTH)[0] for m in sums if m)
    return max(Fraction(0), Fraction(total, masses.whole << WIDTH))


def largest_likelihoods_above(masses: SecretMasses) -> Fraction:
    """No less than Σ_y max_s P(y|s), which is e to the maximal leakage."""
    quotients = np.frompyfunc(lambda m, n: ceil_div(m << WIDTH, n), 2, 1)(masses.each, masses.by_secret[:, None])
    return Fraction(int(quotients.max(axis=0).sum()), 1 << WIDTH)


def correct_guesses(masses: SecretMasses) -> Fraction:
    """Σ_y max_s P(s, y), exactly."""
    return Fraction(int(masses.each.max(axis=0).sum()), masses.whole)


@dataclass(frozen=True)
class AverageProver:
    """The proof of an average: `bound` is no less than what the channel has, `limit` no more than what it may have.

    `silent` is what a mechanism that tells nothing has. Mixing with it moves the average there at least in proportion.
    """

    bound: Bound
    limit: Callable[[Fraction], Fraction]
    silent: Callable[[SecretMasses], Fraction]
    near: Callable[[float], float]

    def check(self, weights: Weights, bits: int, joint: Joint, notion: Notion, epsilon: Fraction) -> ProofAttempt:
        masses = SecretMasses.of(weights, joint)
        found, limit = self.bound(masses), self.limit(epsilon)
        outputs = masses.each.shape[1]
        if found <= limit:
            return ProofAttempt(np.ones(outputs, bool), np.zeros(outputs), _likeliest(masses, joint))
        nothing = self.silent(masses)
        mixing = float((found - limit) / (found - nothing)) * MENDED + LEAST_MIXING if nothing < limit else 1.0
        short = np.full(outputs, float(found - limit))
        return ProofAttempt(np.zeros(outputs, bool), short, _likeliest(masses, joint), mixing)

    def level(self, weights: Weights, bits: int, joint: Joint, notion: Notion) -> float:
        return self.level_of(SecretMasses.of(weights, joint))

    def level_of(self, masses: SecretMasses) -> float:
        found = self.bound(masses)
        steps = max(0, math.floor(self.near(float(found)) * STEP) - 1)
        while self.limit(Fraction(steps / STEP)) < found:
            steps += 1
        return steps / STEP


def _likeliest(masses: SecretMasses, joint: Joint) -> Callable[[int], Witness]:
    """For every output the secret whose chance it raises most."""
    seen = np.flatnonzero(joint.secret_prior > 0)

    def witness(y: int) -> Witness:
        ratios = [Fraction(int(m), int(n)) for m, n in zip(masses.each[:, y], masses.by_secret, strict=True)]
        return Witness(y, joint.secret_letters[int(seen[max(range(len(ratios)), key=ratios.__getitem__)])])

    return witness


PROVERS.update(
    {
        Funnel: AverageProver(information_above, lambda nats: nats, lambda _: Fraction(0), lambda nats: nats),
        MaximalLeakage: AverageProver(
            largest_likelihoods_above,
            lambda epsilon: Fraction(exp_lower(epsilon, WIDTH), 1 << WIDTH),
            lambda _: Fraction(1),
            math.log,
        ),
        Guess: AverageProver(
            correct_guesses,
            lambda share: share,
            lambda masses: Fraction(int(masses.by_secret.max()), masses.whole),
            lambda share: share,
        ),
    }
)
