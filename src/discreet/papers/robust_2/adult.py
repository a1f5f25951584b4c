"""Figure 2: four pairs of attributes of the Adult data (section 8.1)."""

from __future__ import annotations

from functools import cache

import numpy as np

from discreet.datasets import adult
from discreet.joint import Joint
from discreet.papers.model import Effort, Measured, Outcome, Panel, Role, Series
from discreet.papers.robust_2.methods import Setting, coupling_nmi, exact_nmi, grr_nmi, ir_nmi, nr_nmi, polyopt, srr_nmi

PAIRS = (("sex", "race"), ("race", "sex"), ("occupation", "education"), ("native-country", "relationship"))
EPSILONS = (0.075, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
NEW = ("PolyOpt, s ≠ s'", "coupling", "exact")


def four_pairs(effort: Effort) -> Outcome:
    """NMI of every method. NR and a robust mechanism for the large pairs were out of reach for the paper."""
    epsilons = effort.grid(EPSILONS)
    found = effort.map(_methods, [(s, u, float(e), effort.seconds(20)) for s, u in PAIRS for e in epsilons])
    panels: list[Panel] = []
    values: dict[str, Measured] = {}
    for i, (s, u) in enumerate(PAIRS):
        part = found[i * len(epsilons) : (i + 1) * len(epsilons)]
        curves = {name: np.array([one[name] for one in part]) for name in part[0]}
        c, k = _joint(s, u).table.shape
        marks = tuple(Series(name, epsilons, curve, role=_role(name, c * k)) for name, curve in curves.items())
        panels.append(Panel(f"({'abcd'[i]}) S = {s} ({c}), U = {u} ({k})", "ε", "NMI", marks))
        for name, curve in curves.items():
            values |= {f"{name} {s}, {u} ε={e:g}": Measured(v) for e, v in zip(epsilons, curve, strict=True)}
        best = np.max([curves[name] for name in ("IR", "SRR", "PolyOpt") if name in curves], axis=0)
        values[f"GRR worst, {s}, {u}, share of ε"] = Measured(float((curves["GRR"] <= best + 1e-9).mean()))
        values[f"IR above SRR, {s}, {u}, share of ε"] = Measured(float((curves["IR"] >= curves["SRR"] - 1e-9).mean()))
        values[f"NR above the rest, {s}, {u}, share of ε"] = Measured(float((curves["NR"] >= best - 1e-6).mean()))
    words = (
        "GRR is worst and NR best throughout, PolyOpt far above IR and SRR in (a) and (b), IR above SRR in (c) and "
        "(d). New: NR for (c) and (d); a robust mechanism for them (coupling), far above IR; and where it could be "
        "proven in time, the robust optimum for F itself (exact), which PolyOpt's polytope stays below."
    )
    return Outcome(values, tuple(panels), words)


@cache
def _joint(secret: str, other: str) -> Joint:
    return Joint.from_table(adult(), secret=secret, release=other, include_secret=True)


def _methods(todo: tuple[str, str, float, float]) -> dict[str, float]:
    secret, other, epsilon, seconds = todo
    at = Setting(_joint(secret, other), epsilon)
    found = {"NR": nr_nmi(at), "IR": ir_nmi(at), "SRR": srr_nmi(at), "GRR": grr_nmi(at)}
    found["coupling"] = coupling_nmi(at, seconds)
    if at.small:
        found["exact"] = exact_nmi(at, 2 * seconds)
        found["PolyOpt"] = polyopt(at).value / at.joint.entropy
        found["PolyOpt, s ≠ s'"] = polyopt(at, as_printed=False).value / at.joint.entropy
    return found


def _role(name: str, letters: int) -> Role:
    if name == "NR" and letters < 20:
        return "reference"
    return "new" if name in NEW or name == "NR" else "paper"
