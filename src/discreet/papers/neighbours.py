"""What the papers did not draw: what is kept against what is told on average, for every leakage the field uses.

funnel-1 and funnel-2 begin with the privacy funnel, the most I(X;Y) under I(S;Y) ≤ M, and turn to promises about single
outputs because nobody could solve it. Here are both in one picture, all of them optima: the notions about every output
(LDP, LIP, PML), those about an average (maximal leakage, the funnel), and an average under a ceiling. Beside each
stands what its worst record does to the chance of a secret.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.datasets import adult
from discreet.information import leakage, mutual_information
from discreet.joint import Joint
from discreet.notions import LDP, LIP, PML, Notion
from discreet.notions.funnel import Funnel
from discreet.notions.maximal_leakage import MaximalLeakage
from discreet.papers.experiment import Item, Measured, Panel, Reproduction, Series, Workload, optimum

SECRETS = ("sex", "race", "marital-status", "occupation")
EPSILONS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
GUESSED = (0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 0.7, 1.0)
SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 0.75)
CEILING = 1.0
METHODS = ("LDP", "LIP", "PML", "maximal leakage", "funnel", "funnel under LIP(1)")
GAP = 2e-5
"""Nats: a fifth of a unit of the last digit that is compared."""
COMPARED = 0.1
"""The share of I(S;X) at which methods are compared in words."""


def leakages(effort: Workload) -> Reproduction:
    """Four tables, six methods."""
    todo = [(secret, name, float(x)) for secret in SECRETS for name in METHODS for x in effort.grid(_grid(name))]
    found = dict(zip(todo, effort.map(_point, todo), strict=True))
    values, kept_panels, worst_panels = {}, [], []
    for secret in SECRETS:
        curves = {name: _curve(found, secret, name) for name in METHODS}
        kept_panels.append(_panel(secret, "I(X;Y)/H(X)", {name: (x, kept) for name, (x, kept, _) in curves.items()}))
        worst_panels.append(
            _panel(
                secret, "worst record: |ln P(s|y)/P(s)|", {name: (x, worst) for name, (x, _, worst) in curves.items()}
            )
        )
        for (of, name, x), (told, kept, worst) in found.items():
            if of == secret:
                values[f"kept, {name} {x:g}, {secret}"] = Measured(kept)
                values[f"told, {name} {x:g}, {secret}"] = Measured(told)
                values[f"worst, {name} {x:g}, {secret}"] = Measured(worst)
    return Reproduction(values, (*kept_panels, *worst_panels), _words(found))


def notion_at(name: str, x: float, joint: Joint) -> Notion:
    """The promise of a method at a point of its grid; averages as shares of I(S;X)."""
    if name == "LDP":
        return LDP(x)
    if name == "LIP":
        return LIP(x)
    if name == "PML":
        return PML(x)
    if name == "maximal leakage":
        return MaximalLeakage(x)
    return Funnel.share(x, joint, LIP(CEILING) if "under" in name else None)


def _grid(name: str) -> tuple[float, ...]:
    return EPSILONS if name in ("LDP", "LIP", "PML") else GUESSED if name == "maximal leakage" else SHARES


def _point(todo: tuple[str, str, float]) -> tuple[float, float, float]:
    """I(S;Y) as a share of I(S;X), I(X;Y) as one of H(X), and the worst record."""
    secret, name, x = todo
    joint = Joint.from_table(adult(), secret=secret, release="education")
    found = optimum(joint, notion_at(name, x, joint), gap=GAP)
    channel = Channel(found.matrix, joint.letters)
    told = leakage(joint, channel) / mutual_information(joint.table)
    return told, found.share(joint), LIP(1.0).level(channel, joint).epsilon


def _curve(
    found: dict[tuple[str, str, float], tuple[float, float, float]], secret: str, name: str
) -> tuple[Floats, Floats, Floats]:
    points = sorted(point for (of, method, _), point in found.items() if (of, method) == (secret, name))
    told, kept, worst = np.array(points).T
    return told, kept, np.where(np.isfinite(worst), worst, np.nan)


def _panel(secret: str, y: str, curves: dict[str, tuple[Floats, Floats]]) -> Panel:
    marks = tuple(
        Series(name, x, values, role="paper" if name in ("LDP", "LIP") else "new")
        for name, (x, values) in curves.items()
    )
    return Panel(f"{secret} → education", "I(S;Y)/I(S;X)", y, marks, log_x=True)


def _words(found: dict[tuple[str, str, float], tuple[float, float, float]]) -> str:
    said = []
    for secret in SECRETS:
        at = {name: _between(found, secret, name) for name in METHODS}
        listed = ", ".join(f"{name} {at[name]:.2f}" for name in METHODS if not math.isnan(at[name]))
        said.append(f"{secret}: {listed}")
    ruled = sum(math.isinf(worst) for (_, name, _), (_, _, worst) in found.items() if name == "funnel")
    every = sum(name == "funnel" for _, name, _ in found)
    return (
        f"Kept of H(X) where a tenth of I(S;X) is told on average (between the points computed). {'; '.join(said)}. "
        f"The funnel keeps most by definition; its worst record rules a secret out in {ruled} of {every} cases, where "
        f"LIP at the same average changes no chance by more than its ε. Under a ceiling of LIP({CEILING:g}) no record "
        "does more than that, and most of what the average allows is still kept."
    )


def _between(found: dict[tuple[str, str, float], tuple[float, float, float]], secret: str, name: str) -> float:
    told, kept, _ = _curve(found, secret, name)
    inside = told[0] <= COMPARED <= told[-1]
    return float(np.interp(math.log(COMPARED), np.log(np.maximum(told, 1e-300)), kept)) if inside else math.nan


ITEMS = (Item("neighbours/leakages", "Adult: what is kept against what is told, six promises", leakages),)
