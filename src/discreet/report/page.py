"""The page: what was protected and how, what is kept, what can be learnt at most, and how to check it.

Here are the facts; `templates/page.html` has the words around them, `templates/style.css` the look. Everything that
comes from data is escaped by the template, and its control characters are shown (`phrases.visible`). The policy in the
head of the page allows one style sheet, by its hash, and nothing else: no script, no picture, no address.
"""

from __future__ import annotations

import base64
import hashlib
import math
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from discreet.attribute import Form
from discreet.audit import Audit, audit
from discreet.estimate import Forecast
from discreet.exceptions import visible
from discreet.given_columns import Stratum
from discreet.information import share_kept
from discreet.notions.notion import AVERAGES, NOTIONS, words_of
from discreet.phrases import BITS, NATS, InformationUnit, names, rounded_up, shown
from discreet.protocol import Protocol
from discreet.protocol.strata import StratifiedProtocol
from discreet.release.draws_together import draws_told
from discreet.report.charts import SHADES, balance_picture, beliefs_picture, heat_map, trade_off_picture
from discreet.report.mathml import formulae
from discreet.study import Purpose, Study
from discreet.study.purposes import purpose_of
from discreet.wording import SOURCES, caveats, costly, guarantee, notion_name, other_half, other_people, unsupported

if TYPE_CHECKING:
    from jinja2 import Template


OBJECTIVES = {
    Purpose.values: "values unchanged",
    Purpose.statistics: "what a released record is worth beside a clean one",
    Purpose.information: "information kept",
}
"""What a design has the most of."""


def page(study: Study, *, bits: bool = False) -> str:
    """One self-contained HTML page about a study, with the parts that it has; with given columns group by group."""
    unit, protocol = BITS if bits else NATS, study.protocol
    facts = page_facts(study, unit)
    if isinstance(protocol, StratifiedProtocol):
        template, parts = "strata.html", strata_facts(protocol)
    else:
        template, parts = "page.html", mechanism_facts(protocol, unit)
    return self_contained(template, shades=SHADES, **facts, **parts)


def self_contained(template: str, **facts: Any) -> str:
    """A page with its style sheet inside, and a policy that allows this sheet alone."""
    style = files("discreet.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return _template(template).render(style=style, style_hash=f"sha256-{digest}", **facts)


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("discreet.report")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )  # fmt: skip
    return environment.get_template(name)


def page_facts(study: Study, unit: InformationUnit) -> dict[str, Any]:
    """What every page tells."""
    protocol, joint = study.protocol, study.joint
    beside = f" beside {names(protocol.given)}" if isinstance(protocol, StratifiedProtocol) else ""
    return {
        "title": f"Releasing {names(joint.releases)}{beside}, protecting {names(joint.secrets)}",
        "released": names(joint.releases),
        "secret": names(joint.secrets),
        **_headline(study),
        "headline": words_of(protocol.notion).headline(protocol.statement.to_a_unit(protocol.epsilon)),
        "records": f"{joint.n:,}" if joint.n else "–",
        "outputs": len(protocol.outputs),
        "promise": guarantee(protocol),
        "notion": notion_name(protocol.notion),
        "epsilon": rounded_up(protocol.epsilon),
        "measure": words_of(protocol.notion).measure,
        "source": SOURCES[protocol.source or "given"],
        "costs": costly(joint, study.costs),
        "unsupported": unsupported(joint, protocol.notion),
        "other_half": "" if study.other_half is None else other_half(protocol.notion.epsilon, **vars(study.other_half)),
        "caveats": [*caveats(protocol), draws_told(protocol)],
        "told": unit(joint.entropy, 3),
        "kept": unit(protocol.utility, 3),
        "share_kept": f"{study.share:.1%}",
        "objective": OBJECTIVES[purpose_of(study.measure)],
        "bound": "" if study.design is None else f"{study.as_share(study.design.upper_bound):.1%}",
        "warnings": [sentence for sentence in (study.remark, *study.warnings) if sentence],
        "balance": None if not study.balance else balance_picture(study.balance),
        "for_others": [other_people(one.names[0], one.worth) for one in study.for_others],
        "other_form": _other_form(study),
        "forecasts": [_forecast(one) for one in study.forecasts],
        "digest": protocol.digest,
        **_curves(study),
    }


def mechanism_facts(protocol: Protocol, unit: InformationUnit) -> dict[str, Any]:
    """What one mechanism does, and what an audit of it found."""
    found = audit(protocol)
    possible = found.posterior[protocol.channel.rows @ protocol.joint.prior > 0]
    return {
        "worst": found.witnesses.get(words_of(protocol.notion.promises[0]).name, ""),
        "beliefs": beliefs_picture(found.secrets, found.prior, possible.min(axis=0), possible.max(axis=0)),
        "heat_map": heat_map(protocol),
        "told_data": unit(found.mutual_information, 3),
        "told_secret": unit(found.leakage, 5),
        "levels": _levels(found),
        "formulae": formulae(protocol.notion),
    }


def strata_facts(protocol: StratifiedProtocol) -> dict[str, Any]:
    """The groups of the given columns, each with its own mechanism."""
    return {"given": names(protocol.given), "rows": [_stratum_row(key, one) for key, one in protocol.strata.items()]}


def _stratum_row(key: Stratum, one: Protocol) -> dict[str, str]:
    worst = audit(one).witnesses.get(words_of(one.notion.promises[0]).name, "")
    return {
        "name": shown(key if len(key) > 1 else key[0]),
        "records": f"{one.joint.n:,}",
        "share": f"{share_kept(one.joint, one.utility):.1%}",
        "epsilon": rounded_up(one.epsilon),
        "worst": worst,
    }


def _headline(study: Study) -> dict[str, str]:
    """The first number of the page: values unchanged, or what the release is worth; never information alone."""
    if study.unchanged is not None:
        return {"share": f"{study.unchanged:.0%}", "share_of": "of the values stay what they are"}
    worths = [one.worth for one in study.forecasts if len(one.names) == 1]
    if worths:
        return {"share": f"{min(worths):.0%}", "share_of": "of a clean record is what a released one is worth"}
    return {"share": f"{study.share:.0%}", "share_of": "of the information in the released data is kept"}


def _curves(study: Study) -> dict[str, Any]:
    if not study.curves:
        return {"trade_off": None}
    curves = study.curves
    values = [{point.epsilon: point.value for point in points} for points in curves.values()]
    rows = [
        {
            "epsilon": f"{epsilon:.3g}",
            "shares": [f"{study.as_share(one[epsilon]):.1%}" if epsilon in one else "–" for one in values],
        }
        for epsilon in sorted({epsilon for one in values for epsilon in one})
    ]
    picture = trade_off_picture(curves, study.as_share, study.protocol.notion.epsilon)
    return {"trade_off": picture, "curve_names": list(curves), "curve_rows": rows}


def _other_form(study: Study) -> str:
    if study.other_form is None:
        return ""
    reads = "the released columns only" if study.joint.form is Form.CURATOR else "the secret as well"
    return f"A mechanism that reads {reads} would keep {study.other_share} under the same promise."


def _forecast(expected: Forecast) -> dict[str, Any]:
    worth = expected.n * expected.worth
    return {
        "names": visible(" × ".join(expected.names)),
        "n": f"{expected.n:,}",
        "worth": f"{worth:,.0f}" if worth >= 1 else "",
        "share": f"{expected.worth:.1%}",
        "rows": [
            (shown(letter), f"{share:.1%}", f"± {half:.1%}" if half < math.inf else "not determined")
            for letter, share, half in zip(expected.letters, expected.frequencies, expected.half_widths(), strict=True)
        ],
    }


def _levels(found: Audit) -> list[dict[str, str]]:
    return [
        {
            "notion": {**NOTIONS, **AVERAGES}[name].words.row,
            "level": "∞" if math.isinf(level.epsilon) else f"{level.epsilon:.4g}",
            "worst": found.witnesses[name],
        }
        for name, level in found.levels.items()
    ]
