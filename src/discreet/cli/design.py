"""`discreet design`: from a table to a proven protocol, with what it is compared with."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import (
    Belt,
    BinsOf,
    Bits,
    Ceiling,
    Encoding,
    Force,
    Household,
    Json,
    Merge,
    Nats,
    NotionName,
    Person,
    Release,
    Rows,
    Secret,
    ShowStudy,
    TaskColumns,
)
from discreet.cli.progress import RecordMeter, working
from discreet.cli.show import as_json, paragraph, show_joint, show_study
from discreet.cli.target_files import may_replace, write_file
from discreet.exceptions import ParameterError
from discreet.phrases import BITS, NATS
from discreet.wording import SOURCES, has_counts


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
        float | None, typer.Option(help="For robust notions: how sure the guarantee is about the distribution; 0.95.")
    ] = None,
    nats: Nats = None,
    ceiling: Ceiling = None,
    task: TaskColumns = None,
    belt: Belt = None,
    purpose: Annotated[
        str,
        typer.Option(
            "--for", metavar="values|statistics|information", help="What the release is for; the promise is the same."
        ),
    ] = "values",
    need: Annotated[
        float | None,
        typer.Option(help="Find the smallest epsilon with this share: values unchanged, or what --for is about."),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(help="A column published as it is: a mechanism and a proof for each of its groups; repeat."),
    ] = None,
    public: Annotated[str | None, typer.Option(help="Learn the distribution from this public sample instead.")] = None,
    sees_secret: Annotated[
        bool, typer.Option(help="Let the mechanism read the secret too (for a data owner).")
    ] = False,
    include_secret: Annotated[bool, typer.Option(help="Release the secret together with the rest, sanitised.")] = False,
    method: Annotated[str | None, typer.Option(help="How to search; auto if not given.")] = None,
    gap: Annotated[float | None, typer.Option(help="Stop when proven optimal to within this; 1e-6.")] = None,
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
    private: Annotated[
        float | None, typer.Option(help="Noise for the counts: the table is then private at this level, ε0.")
    ] = None,
    letters: Annotated[
        str | None, typer.Option(help='With --private: {"column": [letters]} in JSON, from a codebook.')
    ] = None,
    same_noise: Annotated[bool, typer.Option("--same-noise", help="With --private: what was drawn before.")] = False,
    person: Person = None,
    household: Household = None,
    rows: Rows = None,
    bins: BinsOf = None,
    merge: Merge = None,
    weight: Annotated[str | None, typer.Option(help="A column of survey weights: records count by it.")] = None,
    encoding: Encoding = None,
    force: Force = False,
    show_study_file: ShowStudy = False,
    bits: Bits = False,
    json: Json = False,
) -> None:
    """Find the best mechanism for a table, prove it, and write it to a protocol file."""
    from discreet.solvers.problem import Status
    from discreet.study import begun, counted_joint, judged
    from discreet.study.expected_size import expected_size
    from discreet.study_file import StudyFile

    if nats is not None:
        if notion != "funnel" or epsilon is not None:
            raise ParameterError("nats are for the funnel", where="--nats", remedy="Write --notion funnel --nats 0.02.")
        notion = f"funnel:{nats!r}"
    asked = StudyFile.stated(
        table=data, secret=secret, release=release, given=given, public=public, bins=bins, merge=merge, weight=weight,
        notion=notion, epsilon=epsilon, confidence=confidence, belt=belt, purpose=purpose, need=need, plan=plan,
        accuracy=accuracy, sees_secret=sees_secret, include_secret=include_secret, fewer_outputs=fewer_outputs,
        method=method, gap=gap, time_limit=time_limit, encoding=encoding, person=person, household=household,
        rows=rows.value if rows else None, private=private, letters=letters, same_noise=same_noise or None,
        ceiling=ceiling, task=task, targets={"protocol": str(out)},
    )  # fmt: skip
    if show_study_file:
        typer.echo(asked.text(), nl=False)
        return
    may_replace(out, force=force, inputs=asked.inputs())
    unit = BITS if bits else NATS
    with working("Counting") as ticker:
        joint = counted_joint(asked, RecordMeter(ticker), force=force)
    if not json:
        show_joint(joint, SOURCES["public" if public else "data"], expected_size(joint, asked.asked_notion))
    started = time.monotonic()
    with working("Designing", unit) as ticker:
        study = begun(asked, joint, compare=curve, force=force, watcher=ticker)
    write_file(out, study.protocol.encode())
    stopped = study.design is not None and Status.INTERRUPTED in study.design.status
    try:
        with working("Comparing", unit) as ticker:
            study = judged(asked, study, started=started, compare=curve and not stopped, watcher=ticker)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"The protocol is written to {out}, whole and proven; comparisons are not.") from None
    if json:
        as_json({"protocol": str(out), **study.facts()})
        return
    show_study(study, unit)
    if stopped:
        paragraph("Interrupted: this is the best that was found before; its gap says how much better it could be.")
    table = "weighted shares" if weight else "exact counts"
    inside = f", the {table} of your table inside" if has_counts(study.protocol) else ""
    coded = f" --encoding {encoding}" if encoding else ""
    named = f"{shlex.quote(str(out))} {shlex.quote(str(data))}"
    paragraph(f"Written to {out}{inside}. Next: discreet sanitise {named} released.csv{coded}")
