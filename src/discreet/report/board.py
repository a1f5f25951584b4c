"""One printed side for a board, from the facts of a check: nothing on it was computed here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from discreet.phrases import rounded_up
from discreet.policy import SAYS
from discreet.report.page import self_contained


def board_page(found: Mapping[str, Any], *, about: str = "") -> str:
    """`found` is what `Check.facts` returns, also when it was read back from JSON."""
    return self_contained("board.html", about=about, **board_facts(found))


HEAD: Final = re.compile(rb"<!DOCTYPE html>\n<html.{0,500}<title>For the board", re.DOTALL)


def is_board_page(path: Path) -> bool:
    """Whether a file begins as every page of `board_page` does."""
    with path.open("rb") as file:
        return HEAD.match(file.read(1000)) is not None


def board_facts(found: Mapping[str, Any]) -> dict[str, Any]:
    """What the template asks for."""
    promise = found["promise"]
    return {
        "promise": promise,
        "epsilon": rounded_up(promise["epsilon"]) if promise else "",
        "kept": ", ".join(promise["kept"]) if promise else "",
        "share": f"{promise['value_kept']:.0%}" if promise else "",
        "unchanged": f"{promise['unchanged']:.0%}" if promise and promise.get("unchanged") is not None else "",
        "worth": [(name, f"{share:.0%}") for name, share in (promise.get("worth") or {}).items()] if promise else [],
        "records": f"{found['records']:,}",
        "guess": {name: f"{100 * value:.1f} %" for name, value in (found["guess"] or {}).items()},
        "identity": found["identity"],
        "adding": ", ".join(f"{name} ({more:,})" for name, more in (found["identity"] or {}).get("adding_most", ())),
        "draws": f"{found['account']['draws']:,}" if found["account"] else "",
        "together": rounded_up(found["account"]["epsilon"]) if found["account"] else "",
        "law": found["law"],
        "level": rounded_up(found["law"]["level"]) if found["law"] and found["law"]["level"] is not None else "",
        "policy": found["policy"],
        "met": not any(one["what"].startswith(SAYS) for one in found["refusals"]),
        "warnings": [_sentence(one) for one in found["warnings"]],
        "refusals": [_sentence(one) for one in found["refusals"]],
    }


def _sentence(finding: Mapping[str, str]) -> str:
    where = f" ({finding['where']})" if finding["where"] else ""
    return f"{finding['what']}{where}. {finding['remedy']}".strip()
