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

from discreet.audit import Audit, audit
from discreet.channel import label
from discreet.estimate import Forecast
from discreet.exceptions import visible
from discreet.given_columns import Stratum
from discreet.information import share_kept
from discreet.joint import Form
from discreet.notions.notion import NOTIONS, words_of
from discreet.phrases import BITS, NATS, Unit, names, rounded_up, shown, times
from discreet.protocol import Protocol
from discreet.protocol.strata import StratifiedProtocol
from discreet.release.ledger import draws_told
from discreet.report.charts import SHADES, beliefs_picture, heat_map, trade_off_picture
from discreet.report.mathml import formulae
from discreet.study import Study
from discreet.wording import SOURCES, caveats, costly, guarantee, notion_name, other_half, unsupported

if TYPE_CHECKING:
    from jinja2 import Template


def page(study: Study, *, bits: bool = False) -> str:
    """One self-contained HTML page about a study, with the parts that it has."""
    style = files("discreet.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    facts = page_facts(study, BITS if bits else NATS)
    return _template().render(style=style, style_hash=f"sha256-{digest}", shades=SHADES, **facts)


def strata_page(protocol: StratifiedProtocol) -> str:
    """One self-contained HTML page about a protocol with given columns, group by group."""
    style = files("discreet.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    joint, given = protocol.joint, names(protocol.given)
    rows = [_stratum_row(key, one) for key, one in protocol.strata.items()]
    return _template("strata.html").render(
        style=style,
        style_hash=f"sha256-{digest}",
        title=f"Releasing {names(joint.releases)} beside {given}, protecting {names(joint.secrets)}",
        given=given,
        released=names(joint.releases),
        share=f"{protocol.utility / protocol.entropy if protocol.entropy else 1.0:.0%}",
        factor=times(protocol.epsilon),
        records=f"{protocol.n:,}",
        promise=guarantee(protocol),
        notion=notion_name(protocol.notion),
        epsilon=rounded_up(protocol.epsilon),
        source=SOURCES[protocol.source or "given"],
        caveats=[*caveats(protocol.first), draws_told(protocol)],
        rows=rows,
        digest=protocol.digest,
    )


def _stratum_row(key: Stratum, one: Protocol) -> dict[str, str]:
    worst = audit(one).witnesses.get(words_of(one.notion.promises[0]).name, "")
    return {
        "name": visible(label(key if len(key) > 1 else key[0])),
        "records": f"{one.joint.n:,}",
        "share": f"{share_kept(one.joint, one.utility):.1%}",
        "epsilon": rounded_up(one.epsilon),
        "worst": worst,
    }


@cache
def _template(name: str = "page.html") -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("discreet.report")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(name)


def page_facts(study: Study, unit: Unit) -> dict[str, Any]:
    """What the template asks for."""
    protocol, joint = study.protocol, study.joint
    found = audit(protocol)
    possible = found.posterior[protocol.matrix @ joint.prior > 0]
    return {
        "title": f"Releasing {names(joint.releases)}, protecting {names(joint.secrets)}",
        "released": names(joint.releases),
        "secret": names(joint.secrets),
        "share": f"{study.share:.0%}",
        "factor": times(protocol.epsilon),
        "records": f"{joint.n:,}" if joint.n else "–",
        "outputs": len(protocol.outputs),
        "promise": guarantee(protocol),
        "worst": found.witnesses.get(words_of(protocol.notion.promises[0]).name, ""),
        "notion": notion_name(protocol.notion),
        "epsilon": rounded_up(protocol.epsilon),
        "source": SOURCES[protocol.source or "given"],
        "costs": costly(joint, study.costs),
        "unsupported": unsupported(joint, study.protocol.notion),
        "other_half": ""
        if study.other_half is None
        else other_half(study.protocol.notion.epsilon, **vars(study.other_half)),
        "caveats": [*caveats(protocol), draws_told(protocol)],
        "told": unit(joint.entropy, 3),
        "kept": unit(protocol.utility, 3),
        "share_kept": f"{study.share:.1%}",
        "bound": "" if study.design is None else f"{share_kept(joint, study.design.upper_bound):.1%}",
        "other_form": _other_form(study),
        "forecasts": [_forecast(one) for one in study.forecasts],
        "beliefs": beliefs_picture(found.secrets, found.prior, possible.min(axis=0), possible.max(axis=0)),
        "heat_map": heat_map(protocol),
        "told_data": unit(found.mutual_information, 3),
        "told_secret": unit(found.leakage, 5),
        "levels": _levels(found),
        "formulae": formulae(protocol.notion),
        "digest": protocol.digest,
        **_curves(study),
    }


def _curves(study: Study) -> dict[str, Any]:
    if not study.curves:
        return {"trade_off": None}
    joint, curves = study.joint, study.curves
    values = [{point.epsilon: point.value for point in points} for points in curves.values()]
    rows = [
        {
            "epsilon": f"{epsilon:.3g}",
            "shares": [f"{share_kept(joint, one[epsilon]):.1%}" if epsilon in one else "–" for one in values],
        }
        for epsilon in sorted({epsilon for one in values for epsilon in one})
    ]
    picture = trade_off_picture(curves, joint, study.protocol.notion.epsilon)
    return {"trade_off": picture, "curve_names": list(curves), "curve_rows": rows}


def _other_form(study: Study) -> str:
    if study.other_form is None:
        return ""
    reads = "the released columns only" if study.joint.form is Form.CURATOR else "the secret as well"
    return f"A mechanism that reads {reads} would keep {study.other_share} under the same promise."


def _forecast(expected: Forecast) -> dict[str, Any]:
    worth = expected.effective_sample_size
    return {
        "names": visible(" × ".join(expected.names)),
        "n": f"{expected.n:,}",
        "worth": f"{worth:,.0f}" if worth >= 1 else "",
        "rows": [
            (shown(letter), f"{share:.1%}", f"± {half:.1%}" if half < math.inf else "not determined")
            for letter, share, half in zip(expected.letters, expected.frequencies, expected.half_widths(), strict=True)
        ],
    }


def _levels(found: Audit) -> list[dict[str, str]]:
    return [
        {
            "notion": NOTIONS[name].words.row,
            "level": "∞" if math.isinf(level.epsilon) else f"{level.epsilon:.4g}",
            "worst": found.witnesses[name],
        }
        for name, level in found.levels.items()
    ]
