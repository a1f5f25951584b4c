"""What the commands show of protocols with given columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from discreet.channel import label
from discreet.cli.show import as_json, paragraph, stdout
from discreet.exceptions import visible
from discreet.phrases import rounded_up
from discreet.protocol.strata import StratifiedProtocol
from discreet.wording import guarantee

if TYPE_CHECKING:
    from discreet.audit.channel_audit import Audit
    from discreet.design import StratifiedDesign
    from discreet.given_columns import Stratum


def stratum_label(key: Stratum) -> str:
    return visible(label(key if len(key) > 1 else key[0]))


def strata_facts(protocol: StratifiedProtocol) -> dict[str, Any]:
    """The protocol for machines, information in nats."""
    return {
        "sha256": protocol.digest,
        "notion": protocol.notion.words.name,
        "epsilon": protocol.epsilon,
        "n": protocol.n,
        "given": [attribute.name for attribute in protocol.given],
        "utility": protocol.utility,
        "entropy": protocol.entropy,
        "leakage": protocol.leakage,
        "guarantee": guarantee(protocol),
        "strata": [
            {
                "stratum": stratum_label(key),
                "n": one.joint.n,
                "epsilon": one.epsilon,
                "utility": one.utility,
                "entropy": one.joint.entropy,
                "outputs": len(one.outputs),
            }
            for key, one in protocol.strata.items()
        ],
    }


def show_strata(found: StratifiedDesign, out: str, data: str, json: bool) -> None:
    """What a design with given columns found."""
    protocol = found.protocol
    if json:
        search = {
            "utility": found.utility,
            "upper_bound": found.upper_bound,
            "gap": found.gap,
            "seconds": found.seconds,
        }
        as_json({"protocol": out, **strata_facts(protocol), **search})
        return
    paragraph(guarantee(protocol), style="bold")
    table = _table(protocol, "records", "kept", "epsilon", "outputs")
    for key, one in protocol.strata.items():
        share = one.utility / one.joint.entropy if one.joint.entropy else 1.0
        cells = f"{one.joint.n:,}", f"{share:.1%}", rounded_up(one.epsilon), str(len(one.outputs))
        table.add_row(Text(stratum_label(key)), *cells)
    stdout.print(table)
    stdout.print()
    whole = protocol.entropy or 1.0
    paragraph(
        f"Kept of what the data tell beside the given columns: {found.utility / whole:.2%}; nothing with this promise "
        f"keeps more than {found.upper_bound / whole:.2%}."
    )
    paragraph(
        f"Written to {out}, the exact counts of every stratum inside. Next: discreet sanitise {out} {data} out.csv"
    )


def show_stratum_audits(protocol: StratifiedProtocol, found: dict[Stratum, Audit], json: bool) -> None:
    """The levels within every stratum."""
    if json:
        levels = {stratum_label(k): {n: v.epsilon for n, v in one.levels.items()} for k, one in found.items()}
        as_json({"strata": levels, "proven": protocol.epsilon})
        return
    names = list(next(iter(found.values())).levels)
    table = _table(protocol, *names)
    for key, one in found.items():
        cells = ("∞" if math.isinf(level.epsilon) else f"{level.epsilon:.6g}" for level in one.levels.values())
        table.add_row(Text(stratum_label(key)), *cells)
    stdout.print(table)


def _table(protocol: StratifiedProtocol, *columns: str) -> Table:
    title = f"Strata of {' and '.join(visible(attribute.name) for attribute in protocol.given)}"
    table = Table(title=title, title_justify="left", title_style="bold", box=None)
    table.add_column("stratum", overflow="fold")
    for name in columns:
        table.add_column(name, justify="right")
    return table
