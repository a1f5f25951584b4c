"""What k rows tell together, each drawn by itself (theory 7.3): rows of one person, or of a household that shares S.

If the rows are independent given the secret, so are their outputs, and P(y_1 … y_k | s) = Π P(y_i | s):

    LDP, ordinary LDP, robust LDP    k times the level of one row, attained by one output k times
    LIP, perfect privacy             the largest |ln Π t_s(y_i) / Σ p_s' Π t_s'(y_i)| with t_s(y) = P(y|s)/P(y)
    PML, Shift and what else asks    that of the channel from S to all outputs
    about P(y|s) only
    robust LIP, SRLIP                at most k times what any two secrets can differ by in one row (robust LIP: over its
                                     own set, which has limits for masses as well)

A chance falls most at one output k times: by Hölder Σ p Π r_i ≤ max_i Σ p r_i^k. It rises most where Σ p exp(m·ln r) is
smallest over numbers m of outputs that add up to k, a convex function of m: all m are tried where they are few, and
otherwise a tangent bounds it from below.

Without independence the rows of a person may have any law together that gives each of them its own: then k times the
level of ordinary LDP bounds what they tell, and nothing does where that is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations_with_replacement, islice

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.exceptions import InfeasibleError, ParameterError
from discreet.joint import Joint
from discreet.notions.alip import ALIP
from discreet.notions.funnel import Funnel
from discreet.notions.guess import Guess
from discreet.notions.ldp import LDP
from discreet.notions.lip import LIP
from discreet.notions.maximal_leakage import MaximalLeakage
from discreet.notions.notion import Notion, check_fits, words_of
from discreet.notions.ordinary_ldp import OrdinaryLDP
from discreet.notions.perfect import Perfect
from discreet.notions.pml import PML
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.notions.shift import Shift
from discreet.notions.srlip import SRLIP

ABOUT_S = (ALIP, Funnel, Guess, MaximalLeakage, PML, Shift)
"""These ask about P(s) and P(y|s) only: the level of k rows is that of the channel from S to all their outputs."""
KNOWN = (*ABOUT_S, LDP, LIP, OrdinaryLDP, Perfect, RLDP, RLIP, SRLIP)
"""Of these it is known what several rows tell together."""
ROUNDING = 1e-9
"""Levels are rounded up to a multiple of this."""
MOST_SUMS = 4_000_000
"""Numbers held at a time while all combinations of outputs are tried."""
MOST_COMBINATIONS = 60_000_000
"""Times rows: what is looked at one by one, seconds."""
STEPS = 400
MOST_TRIALS, CLOSE = 12, 2e-3
"""Of mechanisms, each designed at another level of a row, until that is known to so much of itself."""
SAME = 1e-13
"""Outputs that tell the same within rounding are one."""


def rows_level(notion: Notion, channel: Channel, joint: Joint, rows: int) -> float:
    """The level of so many rows that are independent given the secret they share, rounded up."""
    check_fits(channel, joint)
    leading = notion.promises[0]
    if isinstance(leading, (LDP, OrdinaryLDP, RLDP)):
        level = rows * leading.level(channel, joint).epsilon
    elif isinstance(leading, (LIP, Perfect)):
        level = informed_level(channel, joint, rows)
    elif isinstance(leading, RLIP):
        level = rows * leading.apart(channel, joint)
    elif isinstance(leading, SRLIP):
        level = 2 * rows * leading.level(channel, joint).epsilon
    elif isinstance(leading, ABOUT_S):
        level = leading.level(*_secret_channel(channel, joint, rows)).epsilon
    else:
        raise ParameterError(
            f"what several rows tell together is not known for {words_of(notion).name}",
            where="rows",
            remedy="Release one row of each person, or tie their rows (--rows one, --rows tied).",
        )
    return math.ceil(level / ROUNDING) * ROUNDING if math.isfinite(level) else math.inf


def _combinations(channel: Channel, rows: int) -> int:
    return math.comb(len(channel.outputs) + rows - 1, rows)


def _secret_channel(channel: Channel, joint: Joint, rows: int) -> tuple[Channel, Joint]:
    """The channel from S to the outputs of all rows, in any order, and the joint of one that reads S itself. Where
    these outputs are too many it is S itself, of which any number of rows tells no more."""
    prior = joint.secret_prior[joint.seen]
    if _combinations(channel, rows) * len(prior) > MOST_SUMS:
        return Channel(np.eye(len(prior))), Joint(np.diag(prior / prior.sum()))
    likelihoods = channel.rows @ joint.letter_given_secret.T
    found = []
    for chosen in combinations_with_replacement(range(len(likelihoods)), rows):
        orders = math.factorial(rows) // math.prod(math.factorial(chosen.count(y)) for y in set(chosen))
        found.append(orders * np.prod(likelihoods[list(chosen)], axis=0))
    return Channel(np.array(found)), Joint(np.diag(prior / prior.sum()))


def unassumed_level(channel: Channel, joint: Joint, rows: int) -> float:
    """The same whatever the rows of a person have to do with each other; infinite where there is no bound."""
    return rows * OrdinaryLDP(1.0).level(channel, joint).epsilon


def largest_row_level(tried: Callable[[float], float], target: float, rows: int) -> float:
    """The largest level found for one row whose mechanism, `tried`, has at most the target with so many rows together.

    What rows tell together is nearly a multiple of what one tells, so the next level to try follows from the last; it
    is cut off between what is known to hold and what is known not to.
    """
    low, high, level = 0.0, math.inf, target / rows
    for _ in range(MOST_TRIALS):
        together = tried(level)
        low, high = (max(low, level), high) if together <= target else (low, min(high, level))
        if high - low <= CLOSE * low or low >= target:
            break
        guess = level * target / together * (1 - CLOSE / 4) if 0 < together < math.inf else level / 2
        level = min(target, guess if low < guess < high else (low + min(high, target)) / 2)
        if low > 0 and abs(level - low) <= CLOSE * low / 4:
            break
    if not low:
        raise InfeasibleError(
            f"no level of a row was found that holds {rows} of them at {target:g}",
            where="rows",
            remedy="Release one row of each person (--rows one), or allow more time.",
        )
    return low


def informed_level(channel: Channel, joint: Joint, rows: int) -> float:
    """max |ln P(s | y_1 … y_k) / P(s)| over secrets and outputs of k rows."""
    prior = joint.secret_prior[joint.seen]
    likelihoods = channel.rows @ joint.letter_given_secret.T
    occurs = likelihoods @ prior > 0
    likelihoods = likelihoods[occurs]
    if (likelihoods <= 0).any():
        return math.inf
    told = np.log(likelihoods) - np.log(likelihoods @ prior)[:, None]
    told = told[np.unique(np.round(told / SAME), axis=0, return_index=True)[1]] if len(told) > 1 else told
    falls = max(float(_log_mean(rows * (told - told[:, [s]]), prior).max()) for s in range(len(prior)))
    return max(falls, _rise(told, prior, rows), 0.0)


def _log_mean(logs: Floats, prior: Floats) -> Floats:
    """ln Σ p e^x over the last axis."""
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(logs - top) @ prior))


def _rise(told: Floats, prior: Floats, rows: int) -> float:
    """The largest −ln Σ p_s' Π t_s'(y_i)/t_s(y_i)."""
    if rows * math.comb(len(told) + rows - 1, rows) <= MOST_COMBINATIONS:
        return _tried(told, prior, rows)
    return max(_bounded(told - told[:, [s]], prior, rows) for s in range(len(prior)))


def _tried(told: Floats, prior: Floats, rows: int) -> float:
    """Over all combinations, a block of them at a time."""
    worst, size = 0.0, max(1, MOST_SUMS // (told.shape[1] * rows))
    every = combinations_with_replacement(range(len(told)), rows)
    while chosen := list(islice(every, size)):
        sums = told[np.array(chosen)].sum(axis=1)
        worst = max(worst, float((sums.max(axis=1) - _log_mean(sums, prior)).max()))
    return worst


def _bounded(logs: Floats, prior: Floats, rows: int) -> float:
    """At least −ln min Σ p e^(m·logs): a convex function lies above its tangents, and those are least at a corner."""
    return _tangent(logs, prior, rows)[0]


def tangent_weights(logs: Floats, prior: Floats, rows: int) -> Floats:
    """The weights of the secrets at the point whose tangent gives the best bound."""
    return _tangent(logs, prior, rows)[1]


def _tangent(logs: Floats, prior: Floats, rows: int) -> tuple[float, Floats]:
    share, best, found = np.full(len(logs), 1 / len(logs)), math.inf, prior
    for step in range(STEPS):
        point = rows * share @ logs
        value = float(_log_mean(point, prior))
        weights = prior * np.exp(point - value)
        slopes = rows * (logs @ weights)
        bound = -(value + float(slopes.min() - share @ slopes))
        best, found = (bound, weights) if bound < best else (best, found)
        share = share * np.exp(-(slopes - slopes.min()) / (1 + math.sqrt(step)) / max(np.ptp(slopes), 1e-12))
        share = share / share.sum()
    return best, found
