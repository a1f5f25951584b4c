"""One printed side for a board, from the facts of a check: nothing on it was computed here."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from discreet.phrases import rounded_up, times


def board_page(found: Mapping[str, Any], *, purpose: str = "") -> str:
    """`found` is what `Check.facts` returns, also when it was read back from JSON."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("discreet.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = files("discreet.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment.get_template("board.html").render(
        style=style, style_hash=f"sha256-{digest}", purpose=purpose, **board_facts(found)
    )


def board_facts(found: Mapping[str, Any]) -> dict[str, Any]:
    """What the template asks for."""
    promise = found["promise"]
    return {
        "promise": promise,
        "factor": times(promise["epsilon"]) if promise else "",
        "epsilon": rounded_up(promise["epsilon"]) if promise else "",
        "kept": ", ".join(promise["kept"]) if promise else "",
        "share": f"{promise['value_kept']:.0%}" if promise else "",
        "records": f"{found['records']:,}",
        "guess": {name: f"{100 * value:.1f} %" for name, value in (found["guess"] or {}).items()},
        "identity": found["identity"],
        "adding": ", ".join(f"{name} ({more:,})" for name, more in (found["identity"] or {}).get("adding_most", ())),
        "account": found["account"],
        "law": found["law"],
        "level": rounded_up(found["law"]["level"]) if found["law"] and found["law"]["level"] is not None else "",
        "policy": found["policy"],
        "warnings": [_sentence(one) for one in found["warnings"]],
        "refusals": [_sentence(one) for one in found["refusals"]],
    }


def _sentence(finding: Mapping[str, str]) -> str:
    where = f" ({finding['where']})" if finding["where"] else ""
    return f"{finding['what']}{where}. {finding['remedy']}".strip()
