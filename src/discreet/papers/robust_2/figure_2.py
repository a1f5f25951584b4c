"""Figure 2: four pairs of attributes of the Adult data (section 8.1)."""

from __future__ import annotations

from functools import cache

import numpy as np

from discreet.datasets import adult
from discreet.joint import Joint
from discreet.papers.experiment import Measured, Panel, Reproduction, Series, Workload
from discreet.papers.robust_2.robust_methods import Curves, RobustCase, curves, rising, role

PAIRS = (("sex", "race"), ("race", "sex"), ("occupation", "education"), ("native-country", "relationship"))
EPSILONS = (0.075, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
ALL = ("NR", "IR", "SRR", "GRR", "coupling")
SMALL = ("PolyOpt", "PolyOpt, s ≠ s'", "exact")


def four_pairs(effort: Workload) -> Reproduction:
    """NMI of every method. NR and a robust mechanism for the large pairs were out of reach for the paper."""
    epsilons = effort.grid(EPSILONS)
    found = effort.map(_methods, [(s, u, float(e), effort.seconds(16)) for s, u in PAIRS for e in epsilons])
    panels: list[Panel] = []
    values: dict[str, Measured] = {}
    for i, (s, u) in enumerate(PAIRS):
        part = found[i * len(epsilons) : (i + 1) * len(epsilons)]
        found_here = rising({name: [one[name][0] for one in part] for name in part[0]})
        nmi = {name: np.array(curve) for name, curve in found_here.items()}
        c, k = _joint(s, u).table.shape
        small = "PolyOpt" in nmi
        marks = tuple(Series(name, epsilons, curve, role=role(name, small=small)) for name, curve in nmi.items())
        panels.append(Panel(f"({'abcd'[i]}) S = {s} ({c}), U = {u} ({k})", "ε", "I(X;Y) / H(X)", marks))
        for name, curve in nmi.items():
            values |= {f"{name} {s}, {u} ε={e:g}": Measured(v) for e, v in zip(epsilons, curve, strict=True)}
        values |= {f"values of {s}": Measured(c), f"values of {u}": Measured(k)}
        best = np.max([nmi[name] for name in ("IR", "SRR", "PolyOpt") if name in nmi], axis=0)
        values[f"GRR worst, {s}, {u}, share of ε"] = Measured(float((nmi["GRR"] <= best + 1e-9).mean()))
        values[f"NR above the rest, {s}, {u}, share of ε"] = Measured(float((nmi["NR"] >= best - 1e-6).mean()))
        values[f"IR above SRR, {s}, {u}, share of ε"] = Measured(float((nmi["IR"] >= nmi["SRR"] - 1e-9).mean()))
        if small:
            closed = np.maximum(nmi["IR"], nmi["SRR"])
            values[f"PolyOpt above IR and SRR, {s}, {u}, share of ε"] = Measured((nmi["PolyOpt"] >= closed).mean())
            values[f"IR above SRR at the lowest ε, {s}, {u}"] = Measured(float(nmi["IR"][0] >= nmi["SRR"][0]))
            values[f"SRR above IR at the highest ε, {s}, {u}"] = Measured(float(nmi["SRR"][-1] >= nmi["IR"][-1]))
    values |= _sizes()
    words = (
        "GRR is worst and NR best throughout, PolyOpt far above IR and SRR in (a) and (b), IR above SRR in (c) and "
        "(d). New: NR for (c) and (d); a robust mechanism for them (coupling), far above IR; and where it could be "
        "proven in time, the robust optimum for F itself (exact), which PolyOpt's polytope stays below."
    )
    return Reproduction(values, tuple(panels), words)


def _sizes() -> dict[str, Measured]:
    """What the paper says about the size of PolyOpt's polyhedron: a² conditions (43) and a conditions v ≥ 0."""
    letters = len(_joint("occupation", "education").letters)
    conditions = letters**2 + letters
    return {
        "records": Measured(len(adult())),
        "inequalities of PolyOpt, occupation, education": Measured(conditions),
        "GiB of a matrix with a row and a column for each": Measured(8 * conditions**2 / 2**30),
    }


@cache
def _joint(secret: str, other: str) -> Joint:
    return Joint.from_table(adult(), secret=secret, release=other, include_secret=True)


def _methods(todo: tuple[str, str, float, float]) -> Curves:
    secret, other, epsilon, seconds = todo
    at = RobustCase(_joint(secret, other), epsilon)
    return curves([at], (*ALL, *SMALL) if at.small else ALL, seconds)
