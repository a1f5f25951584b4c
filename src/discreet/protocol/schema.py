"""The schema of the protocol file: what a file may state about notions and sets, from the registries.

`make schema` writes schema.json again. Its last definitions, "average", "notion" and "uncertainty", come from
`AVERAGES`, `NOTIONS` and `SETS`, one alternative for each list of parameters; what stands before them is written by
hand and kept. Numbers are decimal text. schema_1.json is that of version 1, which is read and not written any more: it
stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from discreet.notions import NOTIONS
from discreet.notions.notion import AVERAGES
from discreet.protocol.document import CEILING, UNCERTAINTY
from discreet.uncertainty import SETS

PATH = Path(__file__).with_name("schema.json")
WIDTH = 120
"""Characters of a line, as in the sources."""
FIRST, SECOND, THIRD = '    "average": ', ',\n    "notion": ', f',\n    "{UNCERTAINTY}": '
END = "\n  }\n}\n"


def written() -> str:
    """The text of schema.json as the registries have it now."""
    by_hand, first, _ = PATH.read_text(encoding="utf-8").rpartition(FIRST)
    averages, notions, sets = (_laid_out(_alternatives(kinds), 4) for kinds in (AVERAGES, NOTIONS, SETS))
    return by_hand + first + averages + SECOND + notions + THIRD + sets + END


def _alternatives(kinds: Mapping[str, Any]) -> dict[str, Any]:
    """One alternative for every list of parameters, with the names of all that have it."""
    alike: dict[str, tuple[list[str], dict[str, Any]]] = {}
    for name, kind in kinds.items():
        parameters = {one.name: _parameter(one) for one in fields(kind) if one.name != CEILING}
        alike.setdefault(json.dumps(parameters), ([], parameters))[0].append(name)
    return {
        "oneOf": [
            {
                "type": "object",
                "additionalProperties": False,
                "required": ["name", *parameters],
                "properties": {"name": {"const": names[0]} if len(names) == 1 else {"enum": names}, **parameters},
            }
            for names, parameters in alike.values()
        ]
    }


def _parameter(one: Field[Any]) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{UNCERTAINTY if one.name == UNCERTAINTY else 'decimal'}"}


def _laid_out(value: Any, indent: int, before: int = 0) -> str:
    """JSON with as much on a line as fits, after `before` characters of it."""
    line = _on_one_line(value)
    if not isinstance(value, dict | list) or indent + before + len(line) < WIDTH:
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: " for key in value]
        items = [part + _laid_out(value[key], indent + 2, len(part)) for part, key in zip(parts, value, strict=True)]
    else:
        items = [_laid_out(item, indent + 2) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(items) + f"\n{' ' * indent}{closing}"


def _on_one_line(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)}: {_on_one_line(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_on_one_line(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    PATH.write_text(written(), encoding="utf-8")
