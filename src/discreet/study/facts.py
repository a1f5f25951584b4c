"""A study as plain data: what `--json` prints, the same keys for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.attribute import Form
from discreet.channel import label
from discreet.design import AnyDesign
from discreet.estimate import Forecast
from discreet.estimate.release_model import assumption_of
from discreet.notions.notion import words_of
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol
from discreet.study.purposes import purpose_of
from discreet.utilities.utility import MutualInformation
from discreet.wording import guarantee, has_counts

if TYPE_CHECKING:
    from discreet.study.study import Study


def study_facts(study: Study) -> dict[str, Any]:
    """Everything as plain data, information in nats; what a forecast does not determine is infinite."""
    protocol, joint = study.protocol, study.joint
    return {
        "sha256": protocol.digest,
        "notion": words_of(protocol.notion).name,
        "epsilon": protocol.epsilon,
        "n": joint.n,
        "secrets": len(protocol.joint.secret_letters),
        "letters": len(protocol.joint.letters),
        "outputs": len(protocol.outputs),
        "source": protocol.source,
        "contains_counts_of_the_data": has_counts(protocol),
        "utility": protocol.utility,
        "entropy": joint.entropy,
        "leakage": protocol.leakage,
        "guarantee": guarantee(protocol),
        **_purpose_facts(study),
        "curves": {name: [vars(point) for point in points] for name, points in study.curves.items()},
        "costly_secrets": [{"secret": label(one.secret), "cost": one.cost} for one in study.costs],
        **({} if study.rare_secrets is None else {"rare_secrets": vars(study.rare_secrets)}),
        **({} if study.other_half is None else {"other_half": vars(study.other_half)}),
        **({} if study.task is None else {"task": vars(study.task)}),
        **({} if study.design is None else _search_facts(study.design)),
        "balance": [vars(point) for point in study.balance],
        "warnings": list(study.warnings),
        **({} if study.other_form is None else {"other_form": _form_facts(study.other_form)}),
        **({"plan": _plan_facts(study)} if study.forecasts else {}),
        **(_strata_facts(protocol) if isinstance(protocol, StratifiedProtocol) else {}),
    }


def _purpose_facts(study: Study) -> dict[str, Any]:
    return {
        "purpose": purpose_of(study.measure).value,
        "unchanged": study.unchanged,
        "remark": study.remark,
        **({} if study.needed is None else {"needed": vars(study.needed)}),
    }


def _plan_facts(study: Study) -> dict[str, Any]:
    counted = study.forecasts[0].counted
    return {
        "n": study.forecasts[0].n,
        "assumed": "counted" if counted else assumed(study.protocol),
        "tables": [_forecast_facts(one) for one in study.forecasts],
        "for_other_people": [_forecast_facts(one) for one in study.for_others],
        "tried": [] if study.reached is None else [list(pair) for pair in study.reached.tried],
    }


def _strata_facts(protocol: StratifiedProtocol) -> dict[str, Any]:
    return {
        "given": [attribute.name for attribute in protocol.given],
        "strata": [
            {
                "stratum": label(key if len(key) > 1 else key[0]),
                "n": one.joint.n,
                "epsilon": one.epsilon,
                "utility": one.utility,
                "entropy": one.joint.entropy,
                "outputs": len(one.outputs),
            }
            for key, one in protocol.strata.items()
        ],
    }


def assumed(protocol: AnyProtocol) -> Any:
    """What forecasts and estimates take from the protocol by default: how the secret depends on the rest, where the
    mechanism reads it and the table itself was counted."""
    found = assumption_of(protocol.joint, protocol.source, None)
    return None if found == "nothing" else found


def _search_facts(found: AnyDesign) -> dict[str, Any]:
    """`utility` is I(T;Y) whatever the purpose is; what was searched for has its value and bound in `objective`."""
    informed = found.measure is MutualInformation
    return {
        **({"utility": found.utility} if informed else {}),
        "upper_bound": found.upper_bound if informed else None,
        "gap": found.gap if informed else None,
        "objective": {
            "name": found.measure.name,
            "value": found.utility,
            "upper_bound": found.upper_bound,
            "gap": found.gap,
        },
        "method": found.method,
        "status": found.status,
        "seconds": found.seconds,
    }


def _form_facts(other: AnyDesign) -> dict[str, Any]:
    reads = other.protocol.joint.form is Form.CURATOR
    return {"sees_secret": reads, "utility": other.protocol.utility, "objective": other.utility}


def _forecast_facts(expected: Forecast) -> dict[str, Any]:
    return {
        "attributes": list(expected.names),
        "worth": expected.worth,
        "effective_sample_size": expected.effective_sample_size,
        "letters": [
            {"letter": label(letter), "frequency": float(p), "half_width": float(half)}
            for letter, p, half in zip(expected.letters, expected.frequencies, expected.half_widths(), strict=True)
        ],
    }
