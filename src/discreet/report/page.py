"""The page: what was protected and how, what is kept, what can be learnt at most, and how to check it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from discreet.audit import Audit, audit
from discreet.audit.words import rounded_up, times
from discreet.costly import costly_secrets
from discreet.naming import label as in_words
from discreet.notions.rldp import RLDP
from discreet.protocol import Protocol
from discreet.report.annex import formulae
from discreet.report.beliefs import belief_chart
from discreet.report.curve import Curves, kept, trade_off
from discreet.report.heatmap import heat_map
from discreet.report.markup import figure, table, tag, text
from discreet.report.style import CSS
from discreet.report.tradeoff import trade_off_chart
from discreet.report.words import BITS, NATS, SOURCES, Unit, caveats, costly, guarantee, names, notion_name

MOST_SECRETS = 60
NOTIONS = {
    "LIP": "local information privacy",
    "LDP": "local differential privacy of the secret",
    "SRLIP": "with side channels (SRLIP)",
    "RLDP": "robust (RLDP)",
    "OrdinaryLDP": "ordinary LDP of the data",
}


def page(
    protocol: Protocol,
    *,
    bits: bool = False,
    curves: Curves | None = None,
    compute: Callable[[Protocol], Curves] = trade_off,
) -> str:
    """One self-contained HTML page. `curves` saves computing the trade-off again."""
    unit = BITS if bits else NATS
    found = audit(protocol)
    shown = curves if curves is not None else compute(protocol)
    title = f"Releasing {names(protocol.joint.releases)}, protecting {names(protocol.joint.secrets)}"
    sections = [
        _head(protocol, found, title),
        _section("What is promised", _promise(protocol, found)),
        _section("What is kept", _kept(protocol, shown, unit)),
        _section("What can be learnt about each secret", _attacker(protocol, found)),
        _section("The mechanism", _mechanism(protocol)),
        _section("The audit", _audit(found, unit)),
        _section(
            "Annex: the formulae", [tag("p", text(says)) + formula for says, formula in formulae(protocol.notion)]
        ),
        _foot(protocol),
    ]
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        + tag("title", text(title))
        + tag("style", CSS)
    )
    return (
        "<!doctype html>\n" + tag("html", tag("head", head) + tag("body", tag("main", sections)), {"lang": "en"}) + "\n"
    )


def _section(title: str, content: list[str]) -> str:
    return tag("section", tag("h2", text(title)) + "".join(content))


def _head(protocol: Protocol, found: Audit, title: str) -> str:
    joint = protocol.joint
    tiles = {
        "of the information in the released data is kept": f"{kept(joint, found.mutual_information):.0%}",
        "is the most any belief about the secret can change": f"× {times(protocol.epsilon)}",
        "records stand behind the estimate": f"{joint.n:,}" if joint.n else "–",
        "possible outputs": str(len(protocol.outputs)),
    }
    boxes = "".join(tag("div", tag("dt", text(name)) + tag("dd", text(value))) for name, value in tiles.items())
    lead = (
        f"Every record's {names(joint.releases)} passes through a random mechanism before it is published. "
        "The mechanism was chosen to keep as much as possible while telling provably little about "
        f"{names(joint.secrets)}."
    )
    return tag(
        "header",
        tag("p", "Privacy report", {"class": "kicker"})
        + tag("h1", text(title))
        + tag("p", text(lead), {"class": "lead"})
        + tag("dl", boxes, {"class": "tiles"}),
    )


def _promise(protocol: Protocol, found: Audit) -> list[str]:
    worst = found.witnesses.get(type(protocol.notion).__name__)
    return [
        tag("p", text(guarantee(protocol)), {"class": "lead promise"}),
        *([tag("p", text(f"The worst case: {worst}."))] if worst else []),
        tag(
            "p",
            text(
                f"Technically: {notion_name(protocol.notion)} at epsilon {rounded_up(protocol.epsilon)}, "
                "proven in exact arithmetic for the whole numbers that are drawn from. "
                f"The distribution was {SOURCES[protocol.source or 'given']}."
            ),
        ),
        *(tag("p", text(said)) for said in [_costly(protocol)] if said),
        tag("p", "What is not promised:"),
        tag("ul", [tag("li", text(caveat)) for caveat in caveats(protocol)]),
    ]


def _costly(protocol: Protocol) -> str:
    if not isinstance(protocol.notion, RLDP):
        return ""
    return costly(protocol.joint, costly_secrets(protocol.joint, protocol.notion))


def _kept(protocol: Protocol, curves: Curves, unit: Unit) -> list[str]:
    joint = protocol.joint
    chart = trade_off_chart(curves, joint, protocol.notion.epsilon)
    epsilons = sorted({point.epsilon for points in curves.values() for point in points})
    values = {name: {point.epsilon: point.value for point in points} for name, points in curves.items()}
    rows = [
        [
            f"{epsilon:.3g}",
            *(f"{kept(joint, found[epsilon]):.1%}" if epsilon in found else "–" for found in values.values()),
        ]
        for epsilon in epsilons
    ]
    said = (
        f"The released data tell {unit(joint.entropy, 3)} a record; {unit(protocol.utility, 3)} of it are kept, "
        f"{kept(joint, protocol.utility):.1%}. To the right of the chosen point more is kept and less is protected."
    )
    return [
        tag("p", text(said)),
        figure(
            chart, "The share of the information that is kept, for other choices of epsilon and for simpler mechanisms."
        ),
        table("The same in numbers: share kept.", ["epsilon", *values], rows, range(1, len(values) + 1)),
    ]


def _attacker(protocol: Protocol, found: Audit) -> list[str]:
    possible = found.posterior[protocol.matrix @ protocol.joint.prior > 0]
    low, high = possible.min(axis=0), possible.max(axis=0)
    order = [int(s) for s in np.argsort(-found.prior, kind="stable") if found.prior[s] > 0][:MOST_SECRETS]
    secrets = [in_words(found.secrets[s]) for s in order]
    rows = [
        [
            in_words(found.secrets[s]),
            f"{found.prior[s]:.2%}",
            f"{low[s]:.2%}",
            f"{high[s]:.2%}",
            f"× {high[s] / found.prior[s]:.2f}",
        ]
        for s in order
    ]
    said = (
        "Somebody who knows the population, the mechanism and the released record, and nothing else about the person, "
        "believes in each value of the secret at least and at most as shown. The dot is what they believed before."
    )
    return [
        tag("p", text(said)),
        figure(
            belief_chart(secrets, found.prior[order], low[order], high[order]),
            "Belief in each value of the secret, before and after seeing a released record.",
        ),
        table("The same in numbers.", ["secret", "before", "least after", "most after", "growth"], rows, range(1, 5)),
    ]


def _mechanism(protocol: Protocol) -> list[str]:
    chart, left_out = heat_map(protocol)
    said = (
        "Each column is an original value, each row something that can be published instead. An output named "
        "“mostly A or B” makes A and B likely, no more."
    )
    return [
        tag("p", text(said)),
        figure(chart, f"The probability of each output for each original value. {left_out}".strip()),
    ]


def _audit(found: Audit, unit: Unit) -> list[str]:
    rows = [
        [NOTIONS.get(name, name), "∞" if math.isinf(level.epsilon) else f"{level.epsilon:.4g}", found.witnesses[name]]
        for name, level in found.levels.items()
    ]
    said = (
        f"An independent check of the released probabilities under every notion. On average a record tells "
        f"{unit(found.mutual_information, 3)} about the released data and {unit(found.leakage, 5)} about the secret."
    )
    return [
        tag("p", text(said)),
        table("Level under each notion, and its worst case.", ["notion", "level", "worst case"], rows, [1]),
    ]


def _foot(protocol: Protocol) -> str:
    return tag(
        "footer",
        tag("p", "Anyone can prove the guarantee again from the protocol file, whose SHA-256 content hash is")
        + tag("p", tag("code", text(protocol.digest)))
        + tag("p", "Made with discreet. This page needs no network and runs no script."),
    )
