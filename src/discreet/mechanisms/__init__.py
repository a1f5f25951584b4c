"""Closed-form mechanisms of the papers: one parameter each, and the strongest member that a notion permits.

The problem: a family Q^α of mechanisms and a notion; find the largest α whose exact level is at most ε.
The theorem: levels grow with α from 0, so a root of level(α) = ε is the strongest member (`calibration`).
The entrance: `CLOSED_FORMS`, by name. For any number of letters (unary encoding lists outputs for 16 at most).
They prove their own level and nothing about mechanisms outside the family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discreet.attribute import Form
from discreet.joint import Joint
from discreet.mechanisms.calibration import ROBUST_ONLY, Calibrated, Family, calibrate
from discreet.mechanisms.conditional_reporting import calibrated_robust_cr, cr
from discreet.mechanisms.independent_reporting import calibrated_ir
from discreet.mechanisms.randomised_response import calibrated_grr, calibrated_srr, keep_or_draw
from discreet.mechanisms.unary_encoding import LISTED_LETTERS, oue
from discreet.notions.notion import Notion
from discreet.notions.rldp import RLDP

ANY = tuple(Form)
FORM_REFUSED = {
    (Form.RELEASES_SECRET,): "this mechanism releases X = (S, U)",
    (Form.RELEASES_SECRET, Form.CURATOR): "Conditional Reporting reads the secret",
}


@dataclass(frozen=True)
class ClosedForm:
    """A family by name, its calibration, the forms it works on, those in which it is for robust LDP only, its size."""

    name: str
    title: str
    calibrated: Callable[[Joint, Notion], Calibrated]
    forms: tuple[Form, ...] = ANY
    robust: tuple[Form, ...] = ()
    size: str = "any number of letters"

    def refuses(self, joint: Joint, notion: Notion) -> str | None:
        """Why not, in words; None if it suits."""
        if joint.form in self.robust and not isinstance(notion, RLDP):
            return ROBUST_ONLY
        return None if joint.form in self.forms else FORM_REFUSED[self.forms]


def _family(family: Family) -> Callable[[Joint, Notion], Calibrated]:
    return lambda joint, notion: calibrate(family, joint, notion)


def _cr(joint: Joint, notion: Notion) -> Calibrated:
    """As in funnel-2 for a curator, as in robust-1 where the secret is part of the data."""
    return (calibrated_robust_cr if joint.include_secret else _family(cr))(joint, notion)


CLOSED_FORMS: dict[str, ClosedForm] = {
    form.name: form
    for form in (
        ClosedForm("grr", "generalised randomised response", calibrated_grr),
        ClosedForm("keep-or-draw", "the value itself or a draw from all of them", _family(keep_or_draw)),
        ClosedForm("oue", "optimised unary encoding", _family(oue), size=f"{LISTED_LETTERS} letters"),
        ClosedForm(
            "cr",
            "conditional reporting",
            _cr,
            forms=(Form.RELEASES_SECRET, Form.CURATOR),
            robust=(Form.RELEASES_SECRET,),
        ),
        ClosedForm(
            "robust-cr", "robust conditional reporting", calibrated_robust_cr, forms=(Form.RELEASES_SECRET,), robust=ANY
        ),
        ClosedForm("ir", "independent reporting", calibrated_ir, robust=ANY),
        ClosedForm("srr", "secret randomised response", calibrated_srr, forms=(Form.RELEASES_SECRET,)),
    )
}
