"""`discreet design`: from a table to a proven protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from discreet.audit.words import rounded_up
from discreet.cli.options import Bits, Encoding, Json, Notions, Release, Secret, notion_of
from discreet.cli.plan import check_plan, show_plan, smallest
from discreet.cli.plan import summary as summary_of_plan
from discreet.cli.plot import plot as drawn
from discreet.cli.show import Rows, as_json, facts, paragraph, stderr, stdout, working
from discreet.costly import Costly, costly_secrets
from discreet.joint import Joint
from discreet.naming import label
from discreet.notions.rldp import RLDP
from discreet.report.curve import MULTIPLES, Curves, kept, trade_off
from discreet.report.words import BITS, NATS, SOURCES, Unit, caveats, costly, guarantee, has_counts, names, notion_name

if TYPE_CHECKING:
    from discreet.design import Design

DEFAULT_EPSILON: Final = 1.0
OTHER_GAP, OTHER_SECONDS = 1e-4, 10.0


def design(
    data: Annotated[str, typer.Argument(help='A CSV, Parquet or Arrow file, or "-".')],
    secret: Secret,
    release: Release,
    out: Annotated[Path, typer.Option(help="Where to write the protocol.")] = Path("protocol.json"),
    notion: Annotated[Notions, typer.Option(help="What is promised.")] = Notions.lip,
    epsilon: Annotated[
        float | None, typer.Option(help="How much may be learnt; smaller hides more. 1 if not given.")
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="For rldp: how sure the guarantee is about the distribution.")
    ] = 0.95,
    public: Annotated[str | None, typer.Option(help="Learn the distribution from this public sample instead.")] = None,
    sees_secret: Annotated[
        bool, typer.Option(help="Let the mechanism read the secret too (for a data owner).")
    ] = False,
    include_secret: Annotated[bool, typer.Option(help="Release the secret together with the rest, sanitised.")] = False,
    method: Annotated[str, typer.Option(help="How to search.")] = "auto",
    gap: Annotated[float, typer.Option(help="Stop when proven optimal to within this, in nats.")] = 1e-6,
    time_limit: Annotated[float | None, typer.Option(help="Stop after so many seconds with the best found.")] = None,
    fewer_outputs: Annotated[
        bool, typer.Option(help="Merge outputs that say nearly the same; at most 2 % lost.")
    ] = False,
    curve: Annotated[bool, typer.Option(help="Show the trade-off over epsilon.")] = True,
    plan: Annotated[int | None, typer.Option(help="Tell what analysts will get from so many released records.")] = None,
    accuracy: Annotated[
        float | None,
        typer.Option(help="With --plan: find the smallest epsilon whose 95 % intervals are at most ± this wide."),
    ] = None,
    encoding: Encoding = None,
    bits: Bits = False,
    json: Json = False,
) -> None:
    """Find the best mechanism for a table, prove it, and write it to a protocol file."""
    from discreet.release import joint_of_file
    from discreet.release.publish import unpublished

    check_plan(plan, accuracy, epsilon)
    unit = BITS if bits else NATS
    with working("Counting") as tell:
        joint = joint_of_file(
            public or data,
            secret=secret,
            release=release,
            include_secret=include_secret,
            encoding=encoding,
            progress=Rows(tell),
        )
    if not json:
        _show_joint(joint, public)
    form = joint.curator() if sees_secret else joint
    with working("Designing") as tell:

        def search(level: float) -> Design:
            asked = notion_of(notion, level, confidence)
            return _designed(joint, asked, method, sees_secret, gap, time_limit, tell, unit)

        if plan is None or accuracy is None:
            found, reached = search(DEFAULT_EPSILON if epsilon is None else epsilon), None
        else:
            found, reached = smallest(search, form, plan, accuracy, tell)
    found = found.sparser() if fewer_outputs else found
    protocol = replace(found.protocol, source="public") if public else found.protocol
    with unpublished(out) as file:
        file.write(protocol_bytes(protocol))
        file.publish()
    curves: Curves = {}
    other = None
    if curve and not include_secret and notion is not Notions.rldp:
        with working("The other form") as tell:
            asked = notion_of(notion, found.protocol.notion.epsilon, confidence)
            other = _designed(joint, asked, "auto", not sees_secret, max(gap, OTHER_GAP), OTHER_SECONDS, tell, unit)
    if curve:
        with working("Trade-off") as tell:
            done = iter(range(1, len(MULTIPLES) + 1))
            curves = trade_off(
                protocol, upper_bound=found.upper_bound, step=lambda: tell(f"{next(done)} of {len(MULTIPLES)}")
            )
    secrets: tuple[Costly, ...] = ()
    if curve and isinstance(protocol.notion, RLDP):
        with working("Secrets that cost most"):
            secrets = costly_secrets(protocol.joint, protocol.notion)
    if json:
        planned = {} if plan is None else {"plan": summary_of_plan(protocol, plan, reached)}
        forms = {} if other is None else {"other_form": {"sees_secret": not sees_secret, "utility": other.utility}}
        costs = {"costly_secrets": [{"secret": label(one.secret), "cost": one.cost} for one in secrets]}
        as_json({**summary(found, protocol, str(out), curves), **planned, **forms, **costs})
        return
    show_design(found, protocol, unit, other, secrets)
    if curves:
        stdout.print(drawn(curves, protocol.joint, protocol.notion.epsilon), markup=False)
        stdout.print()
    if plan is not None:
        show_plan(protocol, plan, reached)
    inside = ", the exact counts of your table inside" if has_counts(protocol) else ""
    paragraph(f"Written to {out}{inside}. Next: discreet sanitise {out} {data} released.csv")


def protocol_bytes(protocol: Any) -> bytes:
    from discreet.protocol.file import encode

    return encode(protocol)


def _designed(
    joint: Joint,
    notion: Any,
    method: str,
    sees_secret: bool,
    gap: float,
    time_limit: float | None,
    tell: Any,
    unit: Unit,
) -> Design:
    from discreet.design import design as search

    def progress(value: float, bound: float, seconds: float) -> None:
        tell(f"{seconds:.0f} s, kept {unit(value)}, at most {unit(bound)}, gap {unit(bound - value)}")

    return search(
        joint, notion, method=method, sees_secret=sees_secret, gap=gap, time_limit=time_limit, progress=progress
    )


def _show_joint(joint: Joint, public: str | None) -> None:
    secret, letters = len(joint.secret_letters), len(joint.release_letters)
    facts(
        "The data",
        {
            "secret": f"{names(joint.secrets)}: {secret} values",
            "released": f"{names(joint.releases)}: {letters} values",
            "records": f"{joint.n:,}" if joint.n else "unknown",
            "distribution": SOURCES["public" if public else "data"],
        },
        stderr,
    )


def _fewer(found: Design) -> str:
    """What merging outputs would cost, where it saves a third of them."""
    sparser = found.sparser()
    if 3 * len(sparser.protocol.outputs) > 2 * len(found.protocol.outputs):
        return ""
    return f"; {len(sparser.protocol.outputs)} would keep {sparser.utility / found.utility:.1%} of it (--fewer-outputs)"


def show_design(
    found: Any, protocol: Any, unit: Unit, other: Design | None = None, secrets: Sequence[Costly] = ()
) -> None:
    """What was found; beside it what the same guarantee keeps in the other form, with or without reading the secret."""
    joint = protocol.joint
    forms = {}
    if other is not None:
        alone = "if it read the released columns only" if joint.sees_secret else "if it read the secret too"
        hint = "" if joint.sees_secret else " (--sees-secret, for a data owner)"
        forms = {alone: f"{unit(other.utility)}, {kept(other.protocol.joint, other.utility):.1%}{hint}"}
    facts(
        "The mechanism",
        {
            "value kept": f"{unit(found.utility)}, {kept(joint, found.utility):.1%} of what the data tell",
            "at most possible": f"{unit(found.upper_bound)}, {kept(joint, found.upper_bound):.1%}"
            + (" (proven)" if found.gap <= 1e-6 else f"; gap {unit(found.gap, 6)}"),
            **forms,
            "told about the secret": f"{unit(protocol.leakage)} on average",
            "outputs": f"{len(protocol.outputs)}{_fewer(found)}",
            "found by": f"{found.method}, {found.status}, {found.seconds:.1f} s",
            "promise": f"{notion_name(protocol.notion)} at epsilon {rounded_up(protocol.epsilon)}, "
            "proven in exact arithmetic",
        },
    )
    paragraph(guarantee(protocol), style="bold")
    if costly(joint, secrets):
        paragraph(costly(joint, secrets))
    for caveat in caveats(protocol):
        stdout.print(f"  - {caveat}", markup=False)
    stdout.print()


def summary(found: Any, protocol: Any, path: str, curves: Curves) -> dict[str, Any]:
    """The result for machines, in nats."""
    return {
        "protocol": path,
        "sha256": protocol.digest,
        "notion": type(protocol.notion).__name__,
        "epsilon": protocol.epsilon,
        "n": protocol.joint.n,
        "secrets": len(protocol.joint.secret_letters),
        "letters": len(protocol.inputs),
        "outputs": len(protocol.outputs),
        "source": protocol.source,
        "contains_counts_of_the_data": has_counts(protocol),
        "utility": found.utility,
        "upper_bound": found.upper_bound,
        "gap": found.gap,
        "entropy": protocol.joint.entropy,
        "leakage": protocol.leakage,
        "method": found.method,
        "status": found.status,
        "seconds": found.seconds,
        "guarantee": guarantee(protocol),
        "curves": {name: [vars(point) for point in points] for name, points in curves.items()},
    }
