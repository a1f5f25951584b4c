"""Behaviour held through a rearrangement of the package: what is recorded in goldens.json must come out again.

Only what people use is touched: `discreet`, `discreet.datasets.adult` and `discreet.cli.main`. So these tests do not
know where a thing is defined, and modules may be moved, merged and renamed beneath them.

    byte for byte   protocol files, digests, draws, released tables, words, keys and exit codes
    to 1e-9         values, bounds, levels, estimates and their intervals
    may grow        names, parameters and options: those recorded must still be there

Digests of closed forms, bounds of searches and the rounded figures of a page depend on the last bits of products and
powers, and so does which of several equally good mechanisms, with more or fewer outputs, a search ends at: they are
compared only where `arithmetic` is that of the record; fixed channels (`protocols`) always are. Where behaviour is
changed on purpose: `python tests/goldens/record.py [part …]`, and the difference is one line for each golden that
changed.
`golden_designs` and `golden_releases` say what each part holds.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from record import GOLDENS, PARTS, plain

import discreet as dc

NEAR = 1e-9
LAST_BITS = {"digest", "sha256", "upper_bound", "gap", "outputs", "sparser", "report page", "bytes"}
SENSITIVE = {"closed_forms", "designs", "methods", "commands"}
KEPT: dict[str, dict[str, Any]] = json.loads(GOLDENS.read_text())
FILES_1: dict[str, str] = json.loads(GOLDENS.with_name("files_1.json").read_text())


def differences(kept: Any, found: Any, where: str = "") -> Iterator[str]:
    """Where what was found is not what was kept: numbers with a point to 1e-9, everything else exactly."""
    if isinstance(kept, float) and isinstance(found, float):
        alike = kept == found or (math.isnan(kept) and math.isnan(found))
        if not (alike or abs(kept - found) <= NEAR * max(1.0, abs(kept))):
            yield f"{where}: {kept!r} became {found!r}"
    elif isinstance(kept, dict) and isinstance(found, dict):
        yield from (f"{where}: {key} is missing" for key in kept.keys() - found.keys())
        yield from (f"{where}: {key} is new" for key in found.keys() - kept.keys())
        for key in kept.keys() & found.keys():
            yield from differences(kept[key], found[key], f"{where}: {key}")
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for i, (one, other) in enumerate(zip(kept, found, strict=True)):
            yield from differences(one, other, f"{where}[{i}]")
    elif type(kept) is not type(found) or kept != found:
        yield f"{where}: {kept!r} became {found!r}"


def still_there(kept: Any, found: Any, where: str = "") -> Iterator[str]:
    """The same where more is no harm: names, parameters, options."""
    if isinstance(kept, dict) and isinstance(found, dict):
        for key in kept:
            yield from still_there(kept[key], found.get(key), f"{where}: {key}")
    elif isinstance(kept, list) and isinstance(found, list):
        yield from (f"{where}: {one} is gone" for one in kept if one not in found)
    elif kept != found:
        yield f"{where}: {kept!r} became {found!r}"


def judged(part: str, kept: Any, found: Any) -> list[str]:
    if part == "surface":
        return list(still_there(kept, found))
    if part == "commands":
        names = [name for name in kept if name.startswith("options of ")]
        rest = ({n: v for n, v in each.items() if not n.startswith("options of ")} for each in (kept, found))
        return [*differences(*rest), *(fault for n in names for fault in still_there(kept[n][1], found[n][1], n))]
    return list(differences(kept, found))


def without(found: Any, names: set[str]) -> Any:
    if isinstance(found, dict):
        return {key: without(value, names) for key, value in found.items() if key not in names}
    return [without(value, names) for value in found] if isinstance(found, list) else found


@pytest.mark.parametrize("part", [part for part in PARTS if part != "arithmetic"])
def test_goldens(part: str) -> None:
    kept, found = KEPT[part], plain(PARTS[part]())
    if part in SENSITIVE and KEPT["arithmetic"] != plain(PARTS["arithmetic"]()):
        kept, found = without(kept, LAST_BITS), without(found, LAST_BITS)
    assert judged(part, kept, found) == []


def test_every_part_is_kept() -> None:
    assert list(KEPT) == list(PARTS)
    assert all(KEPT.values())


@pytest.mark.parametrize("name", KEPT["files"])
def test_a_file_of_before_is_read_and_written_back(name: str, tmp_path: Path) -> None:
    path = tmp_path / "protocol.json"
    path.write_text(KEPT["files"][name])
    dc.Protocol.load(path).save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == KEPT["files"][name]


@pytest.mark.parametrize("name", FILES_1)
def test_a_file_of_version_1_keeps_its_digest(name: str, tmp_path: Path) -> None:
    """Files as version 1 wrote them are read for ever; written again, as version 2, they stay the same protocol."""
    path = tmp_path / "protocol.json"
    path.write_text(FILES_1[name])
    stated = json.loads(FILES_1[name])["sha256"]
    assert dc.Protocol.load(path).digest == stated
    dc.Protocol.load(path).save(tmp_path / "again.json")
    assert dc.Protocol.load(tmp_path / "again.json").digest == stated


# ---- faults that must be caught -------------------------------------------------------------------------------------


def leaves(found: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values that are not containers."""
    if isinstance(found, dict | list):
        for key in found if isinstance(found, dict) else range(len(found)):
            yield from leaves(found[key], (*path, key))
    else:
        yield path


def spoilt(value: Any) -> Any:
    """Something else: a number by a little more than what is allowed, a text by one letter."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return value + (1 if isinstance(value, int) else 3 * NEAR * max(1.0, abs(value)))
    return value[:-1] + ("0" if value[-1:] != "0" else "1")


@pytest.mark.parametrize("part", PARTS)
def test_any_change_of_a_golden_is_caught(part: str) -> None:
    paths = [p for p in leaves(KEPT[part]) if "options of" not in str(p[0])]
    for path in paths[:: max(1, len(paths) // 60)]:
        found = copy.deepcopy({path[0]: KEPT[part][path[0]]})
        place: Any = found
        for key in path[:-1]:
            place = place[key]
        if isinstance(place[path[-1]], float) and not math.isfinite(place[path[-1]]):
            continue
        place[path[-1]] = spoilt(place[path[-1]])
        assert judged(part, {path[0]: KEPT[part][path[0]]}, found), path
