"""PolyOpt's polytope (robust-2, Definition 3): each projection F_{U|s} inside {R : R_u ≥ L_{u|s}}.

Its corners put everything above the lower bounds on one letter, so the condition on a row v is

    max over u of a_s(u)·v_s  ≤  e^ε min over u' of a_s'(u')·v_s',      a_s(u) = L_s + (1 − Σ L_s) e_u,

which is (43). The papers also ask it for s = s', although RLDP compares different secrets only; leaving those rows out
never loses. What lies in this cone satisfies RLDP, but not the other way round.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.joint import Joint
from discreet.notions.notion import Cone, ordered_pairs
from discreet.notions.rldp import RLDP, VIOLATED, pair_rows
from discreet.uncertainty.renyi_ball import lower_bounds
from discreet.uncertainty.sets import ball_around


def polyopt_rows(joint: Joint, notion: RLDP, same_secret: bool = False) -> Floats:
    """All (c·k)² conditions (43), or those with s ≠ s' only."""
    corners, price = _corners(joint, notion), float(np.exp(notion.epsilon))
    first, second = _pairs(len(corners), same_secret)
    k = corners.shape[1]
    pair, u, w = (index.ravel() for index in np.indices((len(first), k, k)))
    s, t = first[pair], second[pair]
    return pair_rows(joint, s, t, corners[s, u], corners[t, w], price)


def polyopt_cone(joint: Joint, notion: RLDP, same_secret: bool = False) -> Cone:
    """The same cone with its rows found as they are needed: one per pair of secrets instead of k²."""
    corners, price = _corners(joint, notion), float(np.exp(notion.epsilon))
    first, second = _pairs(len(corners), same_secret)

    def separate(v: Floats) -> Floats:
        values = np.einsum("suw,sw->su", corners, joint.expand(v))
        top, bottom = values.argmax(axis=1), values.argmin(axis=1)
        high, low = values.max(axis=1)[first], price * values.min(axis=1)[second]
        broken = high - low > VIOLATED * (high + low)
        s, t = first[broken], second[broken]
        return pair_rows(joint, s, t, corners[s, top[s]], corners[t, bottom[t]], price)

    return Cone(np.zeros((0, len(joint.letters))), separate)


def _pairs(c: int, same_secret: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Ordered pairs of secrets, with or without each secret and itself."""
    if not same_secret:
        return ordered_pairs(c)
    first, second = np.indices((c, c))
    return first.ravel(), second.ravel()


def _corners(joint: Joint, notion: RLDP) -> Floats:
    """a_s(u)[w], the corners of the box around F_{U|s}."""
    bounds = lower_bounds(ball_around(notion.uncertainty, joint))
    rest = 1 - bounds.sum(axis=1)
    return np.asarray(bounds[:, None, :] + rest[:, None, None] * np.eye(bounds.shape[1]))
