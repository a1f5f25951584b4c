"""Every way to make a mechanism, by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions import SRLIP
from discreet.notions.level import Notion
from discreet.notions.rldp import RLDP
from discreet.solvers import binary, columns, disclosed, nonrobust, product, vertices
from discreet.solvers.closed import CLOSED
from discreet.solvers.method import Found, Limits, Method, named, solved, splitting
from discreet.solvers.problem import Splitting
from discreet.solvers.robust import methods as robust
from discreet.utilities import MutualInformation, Utility

DISCLOSED_LETTERS, DISCLOSED_SECONDS = 60, 60.0


def _vertices(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    """The reference: all extreme rows and one linear program. It ends when it ends, so the limits do not apply."""
    return solved(
        lambda problem, **_: vertices.solve(problem), joint, Splitting.from_joint(joint, notion, utility), limits
    )


def _nonrobust(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    if utility is not MutualInformation:
        raise ParameterError("the closed form is for mutual information", where="nr", remedy='Use method="columns".')
    found = nonrobust.solve(joint, notion, gap=limits.gap, time_limit=limits.time_limit, progress=limits.progress)
    return Found(named(joint, found.channel), found.upper_bound, found.status)


def _product(search: Callable[..., product.Found]) -> Method:
    """SRLIP attribute by attribute."""

    def method(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
        if not isinstance(notion, SRLIP) or joint.reads_secret:
            raise ParameterError("products are for SRLIP on X", where="product", remedy="Use dc.SRLIP(epsilon).")
        found = search(joint, notion.epsilon, gap=limits.gap, time_limit=limits.time_limit, progress=limits.progress)
        return Found(found.product.channel(joint), math.inf, found.status)

    return method


def _columns(joint: Joint, notion: Notion, utility: Utility, limits: Limits) -> Found:
    """Column generation; for robust LDP with cuts, for SRLIP on many letters with a bound from fewer conditions."""
    if isinstance(notion, RLDP) and not notion.cone(joint).complete:
        return robust.optimum(joint, notion, utility, limits)
    known = math.inf
    if isinstance(notion, SRLIP) and utility is MutualInformation and len(joint.letters) > DISCLOSED_LETTERS:
        known = disclosed.bound(
            joint, notion, time_limit=limits.time_limit / 2 if limits.time_limit else DISCLOSED_SECONDS
        )
    return splitting(partial(columns.solve, known_bound=known))(joint, notion, utility, limits)


METHODS: dict[str, Method] = {
    "vertices": _vertices,
    "columns": _columns,
    "pairs": splitting(binary.solve),
    "nr": _nonrobust,
    "polyopt": robust.polyopt(same_secret=False),
    "polyopt-paper": robust.polyopt(same_secret=True),
    "product": _product(product.audited_product),
    "product-safe": _product(product.safe_product),
    "coupling": robust.coupled,
    "simple": robust.simple,
    **CLOSED,
}
