"""`discreet design`: from a table to a proven protocol, with what it is compared with."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from discreet.cli.options import (
    Belt,
    BinsOf,
    Bits,
    Encoding,
    Force,
    Json,
    Merge,
    NotionName,
    Release,
    Secret,
    grouping_of,
    notion_of,
)
from discreet.cli.progress import RecordMeter, working
from discreet.cli.show import as_json, paragraph, show_joint, show_study
from discreet.cli.target_files import may_replace, write_file
from discreet.exceptions import ParameterError
from discreet.phrases import BITS, NATS
from discreet.wording import SOURCES, has_counts

DEFAULT_EPSILON: Final = 1.0


def design(
    data: Annotated[str, typer.Argument(help='A CSV, Parquet or Arrow file, or "-".')],
    secret: Secret,
    release: Release,
    out: Annotated[Path, typer.Option(help="Where to write the protocol.")] = Path("protocol.json"),
    notion: NotionName = "lip",
    epsilon: Annotated[
        float | None, typer.Option(help="How much may be learnt; smaller hides more. 1 if not given.")
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="For rldp: how sure the guarantee is about the distribution.")
    ] = 0.95,
    belt: Belt = None,
    given: Annotated[
        list[str] | None,
        typer.Option(help="A column published as it is: a mechanism and a proof for each of its groups; repeat."),
    ] = None,
    public: Annotated[str | None, typer.Option(help="Learn the distribution from this public sample instead.")] = None,
    sees_secret: Annotated[
        bool, typer.Option(help="Let the mechanism read the secret too (for a data owner).")
    ] = False,
    include_secret: Annotated[bool, typer.Option(help="Release the secret together with the rest, sanitised.")] = False,
    method: Annotated[str, typer.Option(help="How to search.")] = "auto",
    gap: Annotated[float, typer.Option(help="Stop when proven optimal to within this, in nats.")] = 1e-6,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Stop after so many seconds with the best found; the trade-off has its share of them."),
    ] = None,
    fewer_outputs: Annotated[
        bool, typer.Option(help="Merge outputs that say nearly the same; at most 2 % lost.")
    ] = False,
    curve: Annotated[bool, typer.Option(help="Show the trade-off over epsilon.")] = True,
    plan: Annotated[int | None, typer.Option(help="Tell what analysts will get from so many released records.")] = None,
    accuracy: Annotated[
        float | None,
        typer.Option(help="With --plan: find the smallest epsilon whose 95 % intervals are at most ± this wide."),
    ] = None,
    bins: BinsOf = None,
    merge: Merge = None,
    encoding: Encoding = None,
    force: Force = False,
    bits: Bits = False,
    json: Json = False,
) -> None:
    """Find the best mechanism for a table, prove it, and write it to a protocol file."""
    from discreet.cli.strata import show_strata
    from discreet.design import design as design_strata
    from discreet.protocol.file import encode
    from discreet.records.counting import count_strata
    from discreet.release import joint_of_file
    from discreet.study import SEARCH, Study

    reaching = _reaching(plan, accuracy, epsilon)
    asked = notion_of(notion, DEFAULT_EPSILON if epsilon is None else epsilon, confidence, belt)
    may_replace(out, force=force)
    unit = BITS if bits else NATS
    if given:
        if plan is not None or fewer_outputs or public:
            raise ParameterError(
                "not with given columns", where="--plan, --fewer-outputs, --public", remedy="Leave them out."
            )
        with working("Counting") as ticker:
            strata = count_strata(
                data,
                secret,
                release,
                given,
                include_secret=include_secret,
                encoding=encoding,
                group=grouping_of(bins, merge),
                progress=RecordMeter(ticker),
            )
        with working("Designing", unit) as ticker:
            options: dict[str, Any] = {"method": method, "gap": gap, "time_limit": time_limit, "force": force}
            found = design_strata(strata.curator() if sees_secret else strata, asked, progress=ticker.best, **options)
        write_file(out, found.protocol.encode())
        show_strata(found, str(out), data, json)
        return
    with working("Counting") as ticker:
        joint = joint_of_file(
            public or data,
            secret=secret,
            release=release,
            include_secret=include_secret,
            encoding=encoding,
            group=grouping_of(bins, merge),
            progress=RecordMeter(ticker),
        )
    if not json:
        show_joint(joint, SOURCES["public" if public else "data"])
    started = time.monotonic()
    with working("Designing", unit) as ticker:
        study = Study.begin(
            joint.curator() if sees_secret else joint,
            asked,
            method=method,
            gap=gap,
            time_limit=time_limit * SEARCH if time_limit is not None and curve and reaching is None else time_limit,
            reaching=reaching,
            watcher=ticker,
        )
    study = study.sparser() if fewer_outputs else study
    study = study.from_public() if public else study
    write_file(out, encode(study.protocol))
    if curve:
        left = None if time_limit is None else time_limit - (time.monotonic() - started)
        with working("Comparing", unit) as ticker:
            study = study.compared(seconds=left, watcher=ticker)
    study = study if plan is None else study.with_forecasts(plan)
    if json:
        as_json({"protocol": str(out), **study.facts()})
        return
    show_study(study, unit)
    inside = ", the exact counts of your table inside" if has_counts(study.protocol) else ""
    paragraph(f"Written to {out}{inside}. Next: discreet sanitise {out} {data} released.csv")


def _reaching(plan: int | None, accuracy: float | None, epsilon: float | None) -> tuple[int, float] | None:
    """The number of records and the half-width that an epsilon is wanted for."""
    if plan is not None and plan < 1:
        raise ParameterError("not a number of records", where="--plan", remedy="Give a whole number from 1.")
    if accuracy is None:
        return None
    if plan is None:
        raise ParameterError("an accuracy needs a number of records", where="--accuracy", remedy="Add --plan.")
    if epsilon is not None:
        raise ParameterError(
            "an accuracy and an epsilon", where="--accuracy", remedy="Give one; the other is found from it."
        )
    return plan, accuracy
