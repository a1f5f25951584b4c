"""What a worker process can be asked for: plain data in, plain data out, news in between.

This file and `searches` are the only ones of the room that compute; they call what the command line calls. A question
says everything the answer depends on, so that a page can tell whether an answer still holds; what does not change the
answer (where a file goes, how long a search may take) comes beside it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from discreet.look import look
from discreet.records.counting import cells_of, value_totals
from discreet.records.grouping import Grouping
from discreet.records.letters import Alphabet
from discreet.release import Job, RowsAsked, rehearse_file, sanitise_file
from discreet.release.draws_together import stated_total
from discreet.release.ledger import ANY_DATA, Ledger
from discreet.release.refusals import load_shown
from discreet.studio.choices import Choices
from discreet.studio.project import Project
from discreet.studio.scripts import save_study
from discreet.studio.searches import Tell, curve, find_rules, joint_for, other_way, smallest, write_whole
from discreet.study.left_out import weakened_relation
from discreet.study.preview import preview
from discreet.study.thin_combinations import thin_combinations

MOST_STEPS: Final = 120
"""Different numbers that a histogram shows one by one; more are shown in about so many equal steps."""
MOST_LISTED: Final = 400


def table_look(question: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """{"table", "secret"}: what is in it, and what tells about the secret."""

    def progress(stage: str, records: int) -> None:
        tell("news", {"stage": "Reading the table", "records": records})

    return look(question["table"], secret=tuple(question["secret"]), progress=progress).facts()


def spread(question: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """{"table", "secret", "columns", "group", "k"}: for every column how often a value occurs with each secret.

    The secret is grouped as chosen, the column is not: the page groups it while a border moves.
    """
    group = question["group"]
    of_secret = {key: {n: v for n, v in group[key].items() if n in question["secret"]} for key in ("bins", "merge")}
    found: dict[str, Any] = {}
    for number, column in enumerate(question["columns"]):
        tell("news", {"stage": f"Counting {number + 1} of {len(question['columns'])} columns"})
        if column in question["secret"]:
            values, counts = count_alone(question["table"], column)
            counts = counts[:, None]
        else:
            grouping = Grouping(**of_secret, rare={n: r for n, r in group["rare"].items() if n in question["secret"]})
            cells = cells_of(question["table"], question["secret"], [column], group=grouping, force=True)
            values, counts = cells.releases[0].letters, cells.counts.T
        k, named = question["k"], question["named"].get(column, [])
        steps = _steps(values, counts, k) if column in question["numbers"] else None
        found[column] = steps or _listed(_without(values, question, column), counts, k, named)
    return found


def _without(values: Any, question: dict[str, Any], column: str) -> list[Any]:
    """The values, None where one means that there is none."""
    marks = question.get("missing", {}).get(column, [])
    return [None if value in marks else value for value in values]


def count_alone(table: str, column: str) -> tuple[tuple[Any, ...], Any]:
    """The letters of one column and how many records have each."""
    met = Alphabet.of_texts(column)
    totals = value_totals(table, [met])[0]
    return tuple(met.met), totals


def _steps(values: Any, counts: Any, k: int) -> dict[str, Any] | None:
    """Numbers in order, each with at least k records; where one has fewer, or where there are many, bars of equal steps
    are joined until they have as many. None where that leaves no two bars."""
    numbers, cells = np.array([_number(value) for value in values]), np.asarray(counts)
    there = np.flatnonzero(np.isfinite(numbers) & (cells.sum(axis=1) > 0))
    there = there[np.argsort(numbers[there], kind="stable")]
    sorted_ones, of_each = numbers[there], cells[there]
    totals = of_each.sum(axis=1)
    whole = bool((sorted_ones % 1 == 0).all())
    alone = len(there) <= MOST_STEPS and bool((totals >= k).all())
    if alone and len(there) > 1:
        starts, bars = sorted_ones, of_each
        width = 1.0 if whole else float(np.diff(sorted_ones).min())
    else:
        starts, bars, width = _joined_steps(sorted_ones, of_each, k, whole)
    if len(starts) < 2:
        return None
    return {
        "kind": "numbers",
        "numbers": [float(f"{number:.10g}") for number in starts.tolist()],
        "counts": bars.tolist(),
        "step": float(f"{width:.10g}"),
        "joined": not alone,
        "missing": int(cells.sum()) - int(of_each.sum()),
    }


def _joined_steps(numbers: Any, cells: Any, k: int, whole: bool) -> tuple[Any, Any, float]:
    """Where each bar begins, its records by secret, and the width of a step.

    The ends are open and the width is that of the numbers without the k - 1 smallest and largest, so that nobody's
    number is one of them. A step that is rare begins no bar: one begins where the last one ends, or where k records
    are in the one step.
    """
    below = np.cumsum(cells.sum(axis=1))
    total = int(below[-1]) if len(below) else 0
    if total < 2 * k:
        return np.zeros(0), cells[:0], 1.0
    low, high = (float(numbers[np.searchsorted(below, wanted)]) for wanted in (k, total - k + 1))
    if low >= high:
        return np.zeros(0), cells[:0], 1.0
    width = _round_width((high - low) / MOST_STEPS)
    width = max(1.0, width) if whole else width
    places, inverse = np.unique(np.floor(np.clip(numbers, low, high) / width), return_inverse=True)
    merged = np.zeros((len(places), cells.shape[1]), np.int64)
    np.add.at(merged, inverse, cells)
    starts: list[float] = []
    bars: list[Any] = []
    after = float(places[0])
    for place, step in zip(places.tolist(), merged, strict=True):
        if not bars or bars[-1].sum() >= k:
            starts.append(place if step.sum() >= k else after)
            bars.append(step)
        else:
            bars[-1] = bars[-1] + step
        after = place + 1
    if len(bars) > 1 and bars[-1].sum() < k:
        last = bars.pop()
        bars[-1], starts = bars[-1] + last, starts[:-1]
    return np.array(starts) * width, np.array(bars), width


def _round_width(least: float) -> float:
    """The next of 1, 2, 5, 10, 20 …"""
    power = 10.0 ** math.floor(math.log10(least))
    return next(f * power for f in (1, 2, 5, 10) if f * power >= least * (1 - 1e-9))


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _listed(values: Any, counts: Any, k: int, named: list[str]) -> dict[str, Any]:
    """Values with at least k records, and those that the steward has named, in their order; the others are counted."""
    cells = np.asarray(counts)
    totals = cells.sum(axis=1)
    shown_ones = [
        i for i in range(len(values)) if values[i] is not None and (totals[i] >= k or str(values[i]) in named)
    ][:MOST_LISTED]
    rare = [i for i in range(len(values)) if i not in set(shown_ones) and values[i] is not None and totals[i]]
    missing = [i for i in range(len(values)) if values[i] is None]
    return {
        "kind": "values",
        "values": [str(values[i]) for i in shown_ones],
        "counts": cells[shown_ones].tolist(),
        "rare": len(rare),
        "rare_counts": cells[rare].sum(axis=0).tolist(),
        "missing": int(totals[missing].sum()),
    }


def thin(question: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """The combinations of released letters that few people have."""
    return asdict(thin_combinations(joint_for(question, tell)))


def guesses(question: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """How often the best guess of the secret is right: knowing nothing, and seeing the columns as they are."""
    joint = joint_for({**question, "given": [], "sees_secret": False, "whose": {}}, tell)
    return {"nothing": float(joint.secret_prior.max()), "seeing": float(joint.table.max(axis=0).sum())}


# ---- check and draw -------------------------------------------------------------------------------------------------


def _job(stated: dict[str, Any]) -> Job:
    return Job(**{**stated, "protocol": Path(stated["protocol"]), "rows": RowsAsked(**stated["rows"])})


def rehearsal(
    question: dict[str, Any], tell: Tell, job: dict[str, Any], left_out: list[str], group: dict[str, Any]
) -> dict[str, Any]:
    """`discreet check`, the release in pictures, and what it does to a relation with a column left out."""
    tell("news", {"stage": "Checking: everything is read, nothing is drawn"})
    asked = _job(job)
    found, protocol = rehearse_file(asked).facts(), load_shown(asked.protocol, asked.digest)
    seen, before = preview(protocol).facts(), draws_before(job, protocol)
    weakened = weakened_relation(protocol, job["source"], left_out, Grouping(**group)) if seen["columns"] else None
    return {"check": found, "preview": seen, "before": before, "weakened": asdict(weakened) if weakened else None}


def draws_before(job: dict[str, Any], protocol: Any) -> dict[str, Any]:
    """What the ledger of the project has about these people, the level of one draw, and of all with one more."""
    mine = Ledger.beside(Path(job["protocol"]), protocol, job["data"]).entered()
    each, together = (stated_total(protocol, draws) for draws in (1, len(mine) + 1))
    return {
        "draws": [
            {
                "time": str(one.get("time", "")),
                "people": job["data"] or ANY_DATA,
                "protocol": str(one.get("protocol", "")),
            }
            for one in mine
        ],
        "one": each,
        "together": together if math.isfinite(together) else None,
        "digest": protocol.digest,
    }


def draw(question: dict[str, Any], tell: Tell, job: dict[str, Any], files: dict[str, str]) -> dict[str, Any]:
    """The one draw, by the choices that were confirmed, then what explains it; refused as on the command line."""

    def progress(stage: str, records: int) -> None:
        tell("news", {"stage": f"Drawing: {stage}", "records": records})

    project, now = Project(Path(job["protocol"]).parent), Choices.of(question["now"])
    with project.drawing(now):
        outcome = sanitise_file(_job(job), progress=progress)
        save_study(project, now)
        explain(question, tell, job, files)
    return {"records": outcome.records, "draws": outcome.draws, "epsilon": outcome.epsilon, "target": outcome.target}


def explain(question: dict[str, Any], tell: Tell, job: dict[str, Any], files: dict[str, str]) -> dict[str, Any]:
    """Report and script, beside the release; written again if a kill came between."""
    from discreet.report import page
    from discreet.study import Study

    tell("news", {"stage": "Writing the report"})
    asked = _job(job)
    protocol = load_shown(asked.protocol, asked.digest)
    write_whole(Path(files["report"]), page(Study(protocol)).encode())
    write_whole(Path(files["script"]), question["script"].encode())
    return {}


TASKS: Final[dict[str, Callable[..., dict[str, Any]]]] = {
    "look": table_look,
    "tells": table_look,
    "guess": guesses,
    "thin": thin,
    "other": other_way,
    "spread": spread,
    "curve": curve,
    "need": smallest,
    "rules": find_rules,
    "check": rehearsal,
    "draw": draw,
    "explain": explain,
}


def give_back() -> None:
    """What a task has read and dropped goes back to the machine: else every worker stays as large as its largest."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    with contextlib.suppress(OSError, AttributeError):  # of glibc
        ctypes.CDLL(None).malloc_trim(0)
