"""The methods of robust-2, and those it lacked, on one joint X = (S, U) with a chi-square set."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.channel import Channel
from discreet.information import utility
from discreet.joint import Joint
from discreet.mechanisms.grr import grr
from discreet.mechanisms.srr import srr
from discreet.notions.cone import Cone
from discreet.notions.polytope import polyopt_rows
from discreet.notions.rldp import RLDP
from discreet.papers.formulas import distance_bound, ir_information
from discreet.papers.optimum import Optimum, optimum, optimum_in
from discreet.solvers import nonrobust
from discreet.solvers.robust import coupling
from discreet.uncertainty import ChiSquare, Exactly

POLYOPT_LETTERS = 12


@dataclass(frozen=True)
class Setting:
    """P̂, the level, and 1 − β."""

    joint: Joint
    epsilon: float
    confidence: float = 0.95

    @property
    def notion(self) -> RLDP:
        return RLDP(self.epsilon, ChiSquare(self.confidence))

    @property
    def small(self) -> bool:
        """Whether PolyOpt can be solved: the paper could do 10 letters, not 240."""
        return len(self.joint.letters) <= POLYOPT_LETTERS


def srr_nmi(at: Setting) -> float:
    return utility(at.joint, srr(at.joint, at.epsilon)) / at.joint.entropy


def grr_nmi(at: Setting) -> float:
    return utility(at.joint, grr(at.joint, at.epsilon)) / at.joint.entropy


def ir_nmi(at: Setting) -> float:
    """Theorem 5 with the d of (62)."""
    d = distance_bound(ChiSquare(at.confidence).ball(at.joint))
    return ir_information(at.joint, at.epsilon, d) / at.joint.entropy


def nr_channel(at: Setting) -> Channel:
    """The non-robust optimum, P̂ taken for the truth; closed form, so at any size."""
    return nonrobust.solve(at.joint, RLDP(at.epsilon, Exactly())).channel


def nr_nmi(at: Setting) -> float:
    return nonrobust.solve(at.joint, RLDP(at.epsilon, Exactly()), gap=1e-5, time_limit=30).value / at.joint.entropy


def coupling_nmi(at: Setting, seconds: float) -> float:
    """A robust mechanism at any size, from bands and a shared uniform draw; what it keeps, not the most possible."""
    return coupling.solve(at.joint, at.notion, time_limit=seconds).value / at.joint.entropy


def exact_nmi(at: Setting, seconds: float) -> float:
    """The robust optimum for F itself; not a number if it is not proven to within 0.02 H(X) in this time."""
    return optimum(at.joint, at.notion, gap=1e-3, time_limit=seconds).share(at.joint)


def polyopt(at: Setting, *, as_printed: bool = True, time_limit: float = 20.0) -> Optimum:
    """Theorem 3, with the rows for s = s' that the paper asks for or without them."""
    cone = Cone(polyopt_rows(at.joint, at.notion, same_secret=as_printed))
    return optimum_in(at.joint, cone, time_limit=time_limit)
