"""The closed forms of the papers as methods, by name: what they find is private and says nothing about the others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from discreet.joint import Joint
from discreet.mechanisms.calibrate import Calibrated, Family, calibrate
from discreet.mechanisms.cr import cr
from discreet.mechanisms.grr import calibrated_grr
from discreet.mechanisms.ir import calibrated_ir
from discreet.mechanisms.oue import oue
from discreet.mechanisms.robust_cr import calibrated_robust_cr
from discreet.mechanisms.srr import calibrated_srr
from discreet.notions.level import Notion
from discreet.notions.rldp import RLDP
from discreet.solvers.method import Found, Limits, Method
from discreet.utilities import Utility

ROUNDING = 1e-9


def _closed_form(mechanism: Callable[[Joint, Notion], Calibrated]) -> Method:
    """A calibrated mechanism, which says nothing about the others; robust ones leave room for rounding in the proof."""

    def method(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
        if isinstance(notion, RLDP):
            notion = replace(notion, epsilon=notion.epsilon * (1 - ROUNDING))
        return Found(mechanism(joint, notion).channel, math.inf, "closed form")

    return method


def _family(family: Family) -> Method:
    return _closed_form(partial(calibrate, family))


def _cr(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    """Conditional Reporting as in funnel-2 for a curator, as in robust-1 where the secret is part of the data."""
    return (CLOSED["robust-cr"] if joint.include_secret else _family(cr))(joint, notion, utility, limits)


CLOSED: dict[str, Method] = {
    "grr": _closed_form(calibrated_grr),
    "oue": _family(oue),
    "cr": _cr,
    "robust-cr": _closed_form(calibrated_robust_cr),
    "ir": _closed_form(calibrated_ir),
    "srr": _closed_form(calibrated_srr),
}
