"""The page about a public file: what analysts and the people in the table may know, from that file alone.

It shows no number that is not in the public file or follows from it: no beliefs about the secret, no audit, no proven
level. Two protocols with equal public files have equal pages.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from discreet.given_columns import Stratum
from discreet.notions.notion import Notion, words_of
from discreet.phrases import BITS, NATS, InformationUnit, names, rounded_up, shown
from discreet.protocol.public import AnyPublic, PublicProtocol, StratifiedPublic
from discreet.report.charts import SHADES, heat_map
from discreet.report.mathml import formulae
from discreet.report.page import self_contained
from discreet.wording import SOURCES, notion_name, unprotected

MOST_GROUPS: Final = 6
"""Heat maps of so many groups, the largest ones; the file has all of them."""
MOST_MEANINGS, LEAST_LIKELY = 4, 0.05
"""Original values that are listed for an output, and how likely each is at least."""
MOST_OUTPUTS: Final = 60
"""Outputs that are listed, the most frequent first; the file has all."""


def public_page(public: AnyPublic, *, bits: bool = False) -> str:
    """One self-contained HTML page about a public file."""
    unit = BITS if bits else NATS
    strata = public.strata if isinstance(public, StratifiedPublic) else {(): public}
    shares = public.shares if isinstance(public, StratifiedPublic) else np.ones(1)
    given = public.given if isinstance(public, StratifiedPublic) else ()
    one = next(iter(strata.values()))
    largest = sorted(range(len(shares)), key=lambda i: -shares[i])[:MOST_GROUPS]
    groups = [(key, channel, float(share)) for (key, channel), share in zip(strata.items(), shares, strict=True)]
    return self_contained(
        "public.html",
        shades=SHADES,
        title=f"{names(one.reads)}, released without telling {_listed(one.secrets)}",
        released=names(one.reads),
        secret=_listed(one.secrets),
        given=names(given) if given else "",
        headline=words_of(one.notion).headline(one.epsilon),
        measure=words_of(one.notion).measure,
        epsilon=rounded_up(one.epsilon),
        notion=notion_name(one.notion),
        source=SOURCES[one.source],
        promise=one.promise,
        belts=[_belt(belt) for belt in one.notion.promises[1:]],
        reveals=one.reveals,
        caveats=unprotected(one.reads, given),
        statement=[(name, str(getattr(one.statement, name))) for name in one.statement.said if name != "forecast"],
        outputs=len(public.outputs),
        **_kept(groups, unit),
        rows=[_row(key, channel, share) for key, channel, share in groups] if given else [],
        maps=[(_name(groups[i][0]), heat_map(groups[i][1]), _meanings(groups[i][1])) for i in sorted(largest)],
        maps_left_out=len(groups) - len(largest),
        formulae=formulae(one.notion),
        digest=public.digest,
        full_digest=one.protocol_digest,
    )


def _belt(belt: Notion) -> str:
    words = words_of(belt)
    return f"{words.title} at {words.measure} {rounded_up(belt.epsilon)}"


def _listed(columns: tuple[str, ...]) -> str:
    from discreet.attribute import numbered

    return names([numbered(name, 1) for name in columns])


def _name(key: Stratum) -> str:
    return shown(key if len(key) > 1 else key[0]) if key else ""


def _kept(groups: list[tuple[Stratum, PublicProtocol, float]], unit: InformationUnit) -> dict[str, Any]:
    """I(X;Y) and H(X), within groups where there are any; nothing where no law is stated."""
    told = sum(share * (channel.entropy or 0.0) for _, channel, share in groups)
    kept = sum(share * (channel.utility or 0.0) for _, channel, share in groups)
    if groups[0][1].law is None:
        return {"share": "", "told": "", "kept": ""}
    return {"share": _share(kept, told), "told": unit(told, 3), "kept": unit(kept, 3)}


def _share(kept: float, told: float) -> str:
    return f"{min(1.0, kept / told) if told > 0 else 1.0:.1%}"


def _row(key: Stratum, channel: PublicProtocol, share: float) -> dict[str, str]:
    known = channel.utility is not None and channel.entropy is not None
    kept = _share(channel.utility or 0.0, channel.entropy or 0.0) if known else "–"
    return {"name": _name(key), "share": f"{share:.1%}", "kept": kept, "outputs": f"{len(channel.outputs):,}"}


def _meanings(channel: PublicProtocol) -> list[dict[str, str]]:
    """For the commonest outputs the likeliest original values; empty where no posterior may be known."""
    if channel.law is None:
        return []
    shares = channel.channel.rows @ channel.law
    found = []
    for y in np.argsort(-shares, kind="stable")[:MOST_OUTPUTS]:
        row = channel.posterior(channel.outputs[y])
        best = [int(x) for x in np.argsort(-row, kind="stable")[:MOST_MEANINGS] if row[x] >= LEAST_LIKELY]
        words = ", ".join(f"{shown(channel.inputs[x])} {row[x]:.0%}" for x in best)
        left = 1 - sum(float(row[x]) for x in best)
        rest = f", others {left:.0%}" if left >= 0.005 else ""
        found.append({"output": shown(channel.outputs[y]), "share": f"{shares[y]:.1%}", "means": f"{words}{rest}"})
    return found
