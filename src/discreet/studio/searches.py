"""Searches: what can be kept at every level, the smallest level for a need, and the rules themselves.

All three count the same joint, which is kept for the next question about the same state of the table. A stop keeps
what there is: the points of a curve, the smallest level known to suffice, the best rules found.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from discreet.exceptions import DiscreetError, DistributionError, InfeasibleError
from discreet.files.atomic_file import unpublished
from discreet.notions import NOTIONS
from discreet.notions.notion import Notion
from discreet.phrases import shown
from discreet.records.counting import count_strata, joint_of_file
from discreet.records.grouping import Grouping
from discreet.studio.project import Project
from discreet.study.purposes import Purpose, Served, as_share, measure_of, needed_epsilon, serve
from discreet.wording import guarantee

Tell = Callable[[str, Any], None]
CONFIDENCE: Final = 0.95
GRIDS: Final = {
    "values": [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0],
    "information": [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0],
    "statistics": [0.1, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0],
}
"""Levels of a curve: close where it bends; statistics are slow, and smooth."""
PRECISION: Final = 0.01
"""Of the smallest level for a need: a hundredth part of it."""
ROUND_LEVELS: Final = 10_000
"""Levels that are tried have four digits, so that what is shown is what was tried."""
POINT_SECONDS: Final = {"values": 4.0, "statistics": 8.0, "information": 2.0}
STOPPED: Final = "interrupted"
COUNTED: Final = ("table", "stamp", "secret", "release", "given", "group", "whose", "sees_secret")
"""What a joint depends on."""
_KEPT: dict[str, Any] = {}


def notion_at(command: str, epsilon: float) -> Notion:
    kind = next(kind for kind in NOTIONS.values() if kind.words.command == command)
    return kind.asked(epsilon, CONFIDENCE)


def joint_for(question: dict[str, Any], tell: Tell = lambda kind, told: None) -> Any:
    """The joint of the chosen columns, grouped; one for every stratum where columns are given. The last one is kept."""
    key = json.dumps({name: question.get(name) for name in COUNTED}, sort_keys=True) if "stamp" in question else ""
    if not key or key not in _KEPT:
        joint = _counted_joint(question, tell)
        _KEPT.clear()
        if not key:
            return joint
        _KEPT[key] = joint
    return _KEPT[key]


def _counted_joint(question: dict[str, Any], tell: Tell) -> Any:
    def progress(stage: str, records: int) -> None:
        tell("news", {"stage": "Counting", "records": records})

    group = Grouping(**question["group"])
    options: Any = {"group": group, "progress": progress, **question["whose"]}
    secret, release = question["secret"], question["release"]
    joint: Any
    if question["given"]:
        joint = count_strata(question["table"], secret, release, question["given"], **options)
    else:
        joint = joint_of_file(question["table"], secret, release, **options)
    return joint.curator() if question["sees_secret"] else joint


def _share(joint: Any, purpose: str, value: float) -> float:
    """As pages tell it: rows unchanged, worth, or information kept, each of 1."""
    return as_share(measure_of(Purpose(purpose)), joint, value)


def curve(question: dict[str, Any], tell: Tell, first: str) -> dict[str, Any]:
    """The trade-off for every purpose, the chosen one first, point by point; a stop keeps the points there are.

    What keeps a smaller promise keeps a larger one too, so no point is below the one before it.
    """
    joint = joint_for(question, tell)
    purposes = sorted(GRIDS, key=lambda name: (name != first, list(GRIDS).index(name)))
    points: dict[str, list[dict[str, Any]]] = {name: [] for name in purposes}
    unsuited: dict[str, str] = {}
    total, stopped = sum(len(GRIDS[name]) for name in purposes), False

    def add(purpose: str, epsilon: float) -> bool:
        """Whether the point is known in full; a stop gives the best for it, and then the curve ends."""
        found = _found(joint, question, epsilon, purpose, POINT_SECONDS[purpose]).design
        before = points[purpose][-1]["value"] if points[purpose] else 0.0
        value, bound = (_share(joint, purpose, one) for one in (found.utility, found.upper_bound))
        points[purpose].append({"purpose": purpose, "epsilon": epsilon, "value": max(before, value), "bound": bound})
        tell("part", points[purpose][-1])
        tell("news", {"stage": "Computing the curve", "done": sum(map(len, points.values())), "total": total})
        return STOPPED not in _status(found)

    try:
        for purpose in purposes:
            try:
                stopped = stopped or not all(add(purpose, epsilon) for epsilon in GRIDS[purpose])
            except DiscreetError as error:
                unsuited[purpose] = error.what
    except KeyboardInterrupt:  # wherever it comes, the points there are stay
        stopped = True
    done = sum(map(len, points.values()))
    return {"points": points, "unsuited": unsuited, "stopped": stopped, "done": done, "total": total, **_example(joint)}


def smallest(
    question: dict[str, Any], tell: Tell, known: list[list[float]], between: tuple[float, float]
) -> dict[str, Any]:
    """The smallest level found that gives the need, as `--need` finds it: by halving, to a hundredth part.

    `known` are levels of the curve with what is found there, so that the halving begins between two of them. A stop
    keeps the smallest that is known to suffice. Where even the largest level gives too little, that is the answer.
    """
    joint, purpose, need = joint_for(question, tell), question["purpose"], question["need"]
    tried = {level: {"value": value, "bound": value} for level, value in known}
    low = max((level for level, value in known if value < need), default=between[0])
    high = min((level for level, value in known if value >= need and level > low), default=between[1])
    steps, points = 2 + math.ceil(math.log2(max(2.0, math.log(high / low) / math.log1p(PRECISION)))), 0

    def share_at(level: float) -> float:
        nonlocal points
        level = math.ceil(level * ROUND_LEVELS - 1e-9) / ROUND_LEVELS
        told = {"stage": "Finding the smallest promise", "done": points, "total": steps, "limit": None}
        tell("news", {**told, "level": level})
        if level not in tried:
            found = _found(joint, question, level, purpose, POINT_SECONDS[purpose]).design
            value, bound = (_share(joint, purpose, one) for one in (found.utility, found.upper_bound))
            tried[level] = {"value": value, "bound": bound}
            tell("part", {"purpose": purpose, "epsilon": level, **tried[level]})
            if STOPPED in _status(found):
                raise KeyboardInterrupt
        points += 1
        return tried[level]["value"]

    stopped = False
    try:
        needed_epsilon(share_at, need, between=(low, high), precision=PRECISION)
    except InfeasibleError:
        pass
    except KeyboardInterrupt:
        stopped = True
    enough = sorted(level for level, one in tried.items() if one["value"] >= need)
    if stopped and not enough:
        raise KeyboardInterrupt
    level = enough[0] if enough else between[1]
    points_found = [{"purpose": purpose, "epsilon": at, **one} for at, one in sorted(tried.items())]
    return {"epsilon": level, "share": tried[level]["value"], "reached": bool(enough), "stopped": stopped,
            "points": points_found}  # fmt: skip


def _found(
    joint: Any, question: dict[str, Any], epsilon: float, purpose: str, seconds: float, best: Any = None
) -> Served:
    notion = notion_at(question["notion"], epsilon)
    return serve(joint, notion, Purpose(purpose), time_limit=seconds, progress=best, force=True)


def _status(found: Any) -> str:
    """Of a design, or of the least finished of its strata."""
    each = getattr(found, "designs", None)
    statuses: list[str] = [found.status] if each is None else [one.status for one in each.values()]
    return next((status for status in statuses if status not in ("optimal", "closed form")), statuses[0])


def _example(joint: Any) -> dict[str, Any]:
    """A secret that is neither rare nor usual, for the sentence of the promise."""
    one = getattr(joint, "first", joint)
    place = int(np.argmin(np.abs(one.secret_prior - 0.15)))
    return {
        "example": {"secret": shown(one.secret_letters[place]), "share": float(one.secret_prior[place])},
    }


def find_rules(question: dict[str, Any], tell: Tell, path: str, seconds: float) -> dict[str, Any]:
    """A design for one purpose at one level, proven and written to the project; a stop keeps the best found."""
    started = time.monotonic()
    joint, served, told = _searched(question, tell, seconds, "Searching")
    found = served.design
    Project(Path(path).parent).put_rules(found.protocol.encode())
    return {
        **told,
        "remark": served.remark,
        "thin_strata": _thin_strata(joint),
        "seconds": time.monotonic() - started,
        "epsilon": found.protocol.epsilon,
        "digest": found.protocol.digest,
        "outputs": len(found.protocol.outputs),
        "promise": guarantee(found.protocol),
        "records": joint.n,
    }


def _thin_strata(joint: Any) -> str:
    """What a design on strata, if there are any, is refused for elsewhere unless somebody says that it is meant."""
    try:
        getattr(joint, "check_sizes", lambda: None)()
    except DistributionError as error:
        return error.what
    return ""


def other_way(question: dict[str, Any], tell: Tell, seconds: float) -> dict[str, Any]:
    """What the same promise would keep if the rules read something else; nothing is written."""
    told = _searched(question, tell, seconds, "Computing the other way")[2]
    return {**told, "purpose": question["purpose"], "epsilon": question["epsilon"]}


def _searched(question: dict[str, Any], tell: Tell, seconds: float, stage: str) -> tuple[Any, Served, dict[str, Any]]:
    """The joint, what was found at the level asked for, and its shares; the best so far is told on the way."""
    joint, purpose = joint_for(question, tell), question["purpose"]

    def best(value: float, bound: float, spent: float) -> None:
        share, most = _share(joint, purpose, value), min(1.0, _share(joint, purpose, bound))
        tell("news", {"stage": stage, "found": share, "bound": most, "limit": seconds})

    tell("news", {"stage": stage, "limit": seconds})
    served = _found(joint, question, question["epsilon"], purpose, seconds, best)
    found = served.design
    value, bound = (_share(joint, purpose, one) for one in (found.utility, found.upper_bound))
    return joint, served, {"value": value, "bound": bound, "status": _status(found)}


def write_whole(path: Path, content: bytes) -> None:
    with unpublished(path) as file:
        file.write(content)
        file.publish()
