"""What step 5 warns of: what the rehearsal says, then what the pictures show, each with what to do."""

from __future__ import annotations

import hashlib
import math
from typing import Any

from discreet.studio.desk import FEW, Desk
from discreet.studio.figures import counted, name_shown, share_percent


def warnings(desk: Desk, rules: dict[str, Any], checked: dict[str, Any]) -> list[dict[str, Any]]:
    """Those of the rehearsal first, then what the pictures show. Each has a name under which it is ticked."""
    now, seen = desk.now, checked["preview"]
    found = [(one["what"], one["where"], one["remedy"]) for one in checked["check"]["warnings"]]
    if now.several_rows:
        found.append(
            (
                "the promise is each row's, not each person's or household's",
                "",
                "What several rows of one tell together has no bound. Name the column that says whose they are in "
                "step 1, and leave it without a role in step 2.",
            )
        )
    if now.columns("out"):
        found.append(
            (
                "relations with columns left out are weakened",
                "",
                f"{_example(checked.get('weakened'))} Tell analysts not to join the release with anything else.",
            )
        )
    ratios = [
        math.sqrt(one["variance"] / one["clean"])
        for rows in seen["analysts"].values()
        for one in rows
        if one["clean"] > 0 and math.isfinite(one["variance"])
    ]
    if seen["columns"] and ratios and max(ratios) >= 1.05:
        most = max(ratios)
        short = f"up to {math.ceil(most * 100) / 100:.2f} times" if most < 10 else "many times"
        found.append(
            (
                "plain error bars would be too short",
                "",
                f"Counted as if the rows were clean, intervals are {short} too short. "
                "discreet estimate gives the right ones.",
            )
        )
    if seen["thin"]:
        found.append(
            (
                f"{counted(seen['thin'], 'combination')} with fewer than 50 people",
                "",
                thin_words(seen["thin"], seen["thin_named"], now.release)
                + " The promise holds for them; what analysts get about them will be rough. Larger groups help.",
            )
        )
    if not seen["columns"]:
        found.append(
            (
                "what is released are codes, not values",
                "",
                "They look like lists of values and mean “one of these, by chance”. "
                "Analysts need the rules to read them.",
            )
        )
    if rules.get("thin_strata"):
        found.append(
            (
                rules["thin_strata"],
                ", ".join(now.given),
                "Merge values in step 3, or leave given columns without a role. The study file of these rules runs "
                "with discreet study run --force only.",
            )
        )
    if rules.get("remark"):
        found.append(("the best was out of reach, and another one was taken", "", rules["remark"]))
    return [
        {
            "id": hashlib.sha256(what.encode()).hexdigest()[:12],
            "what": name_shown(what[0].upper() + what[1:], 300),
            "where": name_shown(where, 100),
            "remedy": name_shown(remedy, 500),
            "read": hashlib.sha256(what.encode()).hexdigest()[:12] in now.read,
        }
        for what, where, remedy in found
    ]


def _example(weakened: dict[str, Any] | None) -> str:
    """The relation that is blurred most, measured; in words where there is none to show."""
    if weakened is None:
        return "Rows were changed by chance: joined with other columns, what they say together is blurred."
    shown = {key: name_shown(weakened[key], 40) for key in ("column", "value", "released", "letter")}
    return (
        f"Among people released with {shown['released']} “{shown['letter']}”, "
        f"{share_percent(weakened['after'], 0)} have {shown['column']} “{shown['value']}”; "
        f"in the table it is {share_percent(weakened['before'], 0)}."
    )


def thin_words(count: int, named: list[list[str]], columns: tuple[str, ...]) -> str:
    """Which combinations few people have: those that may be told, and how many more there are."""
    if not named:
        return "Each has a value that few people have."
    told = [
        " with ".join(
            f"{name_shown(name, 40)} {name_shown(letter, 40)}" for name, letter in zip(columns, one, strict=True)
        )
        for one in named
    ]
    more = [f"{count - len(told)} more"] if count > len(told) else []
    return f"{'; '.join(told + more)}: fewer than {FEW} people each."
