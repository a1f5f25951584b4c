"""Goldens of designs: protocol files made from fixed channels, searches, plans, audits and the names people use."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from golden_cases import ADULT, COUNTS, FORMS, NOTIONS, attempt, combinations, joint_of, mixed, sha, staircase

import discreet as dc

SEARCHES = ("auto", "columns", "vertices", "pairs", "nr", "product", "product-safe", "polyopt", "polyopt-paper",
            "coupling", "simple")  # fmt: skip
CLOSED = ("grr", "oue", "cr", "robust-cr", "ir", "srr")
EPSILON, GENEROUS = 0.8, 6.0
LONG = ("RLDP Renyi 0.5", "RLDP Renyi 2", "RLDP ChiSquare")
LONGER = ("OrdinaryLDP", "RLDP Everything")
"""Searches that take long are for the smallest joints."""


def saved(protocol: dc.Protocol) -> dict[str, Any]:
    """A protocol by its bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "protocol.json"
        protocol.save(path)
        again = dc.Protocol.load(path)
        return {
            "digest": protocol.digest,
            "file": sha(path.read_bytes()),
            "again": again.digest,
            "epsilon": repr(protocol.epsilon),
            "marginal": (protocol.marginal / 2.0**protocol.bits).tolist(),
            "shown": repr(protocol),
        }


def protocols() -> dict[str, Any]:
    """Files of protocols from fixed channels, for every notion, form and set: byte for byte."""
    kept: dict[str, Any] = {}
    for name, form, notion in combinations():
        joint = joint_of(name, form)
        for title, channel in (("mixed", mixed(joint, 0.3)), ("staircase", staircase(joint))):
            kept[f"{name}, {form}, {notion}, {title}"] = attempt(
                lambda j=joint, c=channel, n=notion: saved(dc.Protocol.make(c, j, NOTIONS[n](GENEROUS)))
            )
        tight = attempt(lambda j=joint, n=notion: saved(dc.Protocol.make(mixed(j, 0.9), j, NOTIONS[n](0.2))))
        kept[f"{name}, {form}, {notion}, too strong"] = tight
    known = dc.Joint(np.array([[0.125, 0.25, 0.125], [0.25, 0.0625, 0.1875]]))
    for notion in NOTIONS:
        kept[f"known distribution, {notion}"] = attempt(
            lambda n=notion: saved(dc.Protocol.make(mixed(known, 0.3), known, NOTIONS[n](GENEROUS), source="public"))
        )
    return kept


def files() -> dict[str, Any]:
    """Whole protocol files, which later versions must still read and write back."""
    kept = {}
    with tempfile.TemporaryDirectory() as folder:
        for form, notion in (("funnel", "SRLIP"), ("include_secret", "RLDP ChiSquare"), ("sees_secret", "LIP")):
            joint = joint_of("2×(2×3)", form)
            dc.Protocol.make(mixed(joint, 0.3), joint, NOTIONS[notion](GENEROUS)).save(Path(folder) / "p.json")
            kept[f"{form}, {notion}"] = (Path(folder) / "p.json").read_text()
    return kept


def closed_forms() -> dict[str, Any]:
    """The closed forms of the papers by name: their files byte for byte."""
    kept = {}
    for name, forms, notions in (("2×3", FORMS, list(NOTIONS)), ("2×(2×3)", FORMS[:1], ["LIP", "SRLIP"])):
        for form in forms:
            joint = joint_of(name, form)
            for notion in notions:
                for method in CLOSED:
                    kept[f"{name}, {form}, {notion}, {method}"] = attempt(
                        lambda j=joint, n=notion, m=method: _closed(j, NOTIONS[n](1.5), m)
                    )
    return kept


def _closed(joint: dc.Joint, notion: Any, method: str) -> dict[str, Any]:
    found = dc.design(joint, notion, method=method)
    return {"digest": found.protocol.digest, "utility": found.utility, "status": found.status}


def plans() -> dict[str, Any]:
    """What `auto` takes and why, also for sizes that are too large to design here."""
    kept = {}
    for name, form, notion in combinations():
        chosen = dc.plan(joint_of(name, form), NOTIONS[notion](EPSILON))
        kept[f"{name}, {form}, {notion}"] = [chosen.method, chosen.why]
    for shape in ((2, 17), (51, 2), (2, 9), (2, 150, 150)):
        for included in (False, True):
            joint = dc.Joint.from_counts(np.ones(shape, dtype=int), include_secret=included)
            for notion in NOTIONS:
                for utility in ("MutualInformation", "CorrectGuess"):
                    chosen = dc.plan(joint, NOTIONS[notion](EPSILON), getattr(dc, utility))
                    kept[f"{shape}, {included}, {notion}, {utility}"] = [chosen.method, chosen.why]
    return kept


def designs() -> dict[str, Any]:
    """Searched designs: value and bound, number of outputs, method and status."""
    kept: dict[str, Any] = {}
    for notion in NOTIONS:
        for name in ("2×2",) if notion in LONG else ("2×2", "2×3") if notion in LONGER else COUNTS:
            for form in FORMS:
                kept[f"{name}, {form}, {notion}"] = _asked(name, form, notion)
    for name in ADULT:
        for notion in ("LDP", "LIP", "SRLIP"):
            kept[f"{name}, funnel, {notion}"] = _asked(name, "funnel", notion)
    for utility in ("ChiSquareInformation", "CorrectGuess"):
        kept[f"2×3, LIP, {utility}"] = _asked("2×3", "funnel", "LIP", utility=getattr(dc, utility))
    return kept


def methods() -> dict[str, Any]:
    """Every search by name, on two small joints; those that do not suit say so."""
    kept: dict[str, Any] = {}
    for name, form, notion in (
        ("2×3", "funnel", "LIP"),
        ("2×3", "funnel", "LDP"),
        ("2×3", "include_secret", "LDP"),
        ("2×2", "include_secret", "RLDP ChiSquare"),
        ("2×2", "sees_secret", "RLDP Renyi 2"),
        ("2×(2×3)", "funnel", "SRLIP"),
    ):
        for method in SEARCHES:
            if method in ("auto", "columns", "vertices") and notion in LONG:
                continue  # the first two are among the designs; a ball has no end of vertices
            kept[f"{name}, {form}, {notion}, {method}"] = _asked(name, form, notion, method=method)
    return kept


def _asked(name: str, form: str, notion: str, **options: Any) -> Any:
    joint = joint_of(name, "include_secret" if form == "include_secret" else "funnel")
    asked = NOTIONS[notion](EPSILON)
    return attempt(lambda: _found(dc.design(joint, asked, sees_secret=form == "sees_secret", **options)))


def _found(found: dc.Design) -> dict[str, Any]:
    sparser = found.sparser(0.1)
    return {
        "utility": found.utility,
        "upper_bound": found.upper_bound,
        "outputs": len(found.protocol.outputs),
        "method": found.method,
        "status": found.status,
        "optimal": found.is_optimal(),
        "sparser": [len(sparser.protocol.outputs), sparser.status],
    }


def audits() -> dict[str, Any]:
    """Levels, worst cases in words and posteriors of matrices from elsewhere and of protocols."""
    kept: dict[str, Any] = {}
    sets = {"default": None, "everything": dc.Everything(), "Renyi": dc.Renyi(3.0, 0.05), "chi": dc.ChiSquare(0.99)}
    for name in (*COUNTS, *ADULT):
        for form in FORMS:
            joint = joint_of(name, form)
            matrices = {"mixed": mixed(joint, 0.3), "staircase": staircase(joint), "identity": mixed(joint, 1.0)}
            for title, channel in matrices.items():
                chosen = sets if title == "mixed" else {"default": None}
                for label, uncertainty in chosen.items():
                    kept[f"{name}, {form}, {title}, {label}"] = _audited(dc.audit(channel, joint, uncertainty))
    joint = joint_of("2×3", "include_secret")
    protocol = dc.Protocol.make(mixed(joint, 0.3), joint, dc.RLDP(GENEROUS, dc.Renyi(2.0, 0.02)))
    kept["protocol"] = _audited(dc.audit(protocol))
    kept["protocol elsewhere"] = _audited(dc.audit(protocol, dc.Joint.from_counts([[9, 9, 9], [9, 1, 1]],
                                                                                 include_secret=True)))  # fmt: skip
    kept["plain matrix"] = _audited(dc.audit([[0.9, 0.2, 0.1], [0.1, 0.8, 0.9]], joint_of("2×3")))
    return kept


def _audited(found: Any) -> dict[str, Any]:
    return {
        "levels": {name: level.epsilon for name, level in found.levels.items()},
        "named": [found.ldp, found.lip, found.srlip, found.ordinary, found.rldp],
        "witnesses": dict(found.witnesses),
        "information": [found.mutual_information, found.leakage],
        "posterior": found.posterior.tolist(),
        "proven": found.proven,
    }


def arithmetic() -> dict[str, Any]:
    """The last bits of products, powers and logarithms, which differ from one processor to another."""
    cells = np.arange(1, 1 + 37 * 41).reshape(37, 41) / 1009.0
    products = [(cells[:r] @ cells[:k].T).tolist() for r, k in ((2, 3), (3, 6), (6, 12), (37, 37))]
    vectors = [float(row[:k] @ row[::-1][:k]) for row in cells for k in (4, 6, 12, 41)]
    return {"last bits": sha([products, vectors, np.exp(cells).tolist(), np.log(cells).tolist()])}


def surface() -> dict[str, Any]:
    """Names that people use: parameters with their defaults, and the public attributes of every class."""
    joint = joint_of("2×3")
    found = dc.design(joint, dc.LIP(EPSILON), method="grr")
    estimate = dc.estimate(np.array([10, 20, 30]), found.protocol)
    objects: dict[str, Any] = {
        **{name: getattr(dc, name) for name in dc.__all__},
        "plan's result": type(dc.plan(joint, dc.LIP(EPSILON))),
        "audit's result": type(dc.audit(found.protocol)),
        "estimate's result": type(estimate),
        "a quantity": type(estimate.combination([1, 0, 0])),
        "Protocol.make": dc.Protocol.make,
        "Joint.from_counts": dc.Joint.from_counts,
        "Joint.from_table": dc.Joint.from_table,
        "Design.sparser": dc.Design.sparser,
    }
    return {name: {"parameters": _parameters(one), "attributes": _attributes(one)} for name, one in objects.items()}


def _parameters(one: Any) -> dict[str, str]:
    if not callable(one):
        return {}
    given = inspect.signature(one).parameters.values()
    return {p.name: f"{p.kind.name}, {'required' if p.default is p.empty else _default(p.default)}" for p in given}


def _default(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float | bool | tuple | None) else type(value).__name__


def _attributes(one: Any) -> list[str]:
    if not inspect.isclass(one) or issubclass(one, Exception):
        return [base.__name__ for base in getattr(one, "__mro__", ())[1:-3]]
    own = {name for name in dir(one) if not name.startswith("_")}
    return sorted(own | {name for name in inspect.get_annotations(one) if not name.startswith("_")})


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    part.__name__: part
    for part in (protocols, files, closed_forms, plans, designs, methods, audits, arithmetic, surface)
}
