"""Rows of one person are one piece of evidence: what that costs an estimate (theory 7.3).

Let person i have k_i rows, Σ k_i = n, and θ̂ = (1/n) Σ l(y_ij). Persons are independent, rows of one are not:

    Var θ̂ = (1/n²) Σ_i Var(Σ_j l(y_ij)) ≤ (1/n²) Σ_i k_i Σ_j Var l(y_ij) = D · Var(l)/n,   D = Σ k_i² / Σ k_i   (Kish)

by Cauchy and Schwarz, with equality where the rows of a person share one draw (tied). Where each row is drawn by
itself, the draws are independent given the values, so only the values are counted D times:

    Var θ̂ ≤ (Var(l) + (D − 1) Var(w(X))) / n,   w(x) = E[l(y) | x].

Σ k_i² is nowhere published. With u persons, n rows and at most m each, k² ≤ 1 + (k − 1)(m + 1) for 1 ≤ k ≤ m, so
D ≤ (u + (n − u)(m + 1)) / n, which is at most m and is reached where persons have one row or m. For a part of the
records, or for others than were counted, only m is known.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.exceptions import ParameterError
from discreet.records.persons import PLURALS, Rule, WhoseRows


@dataclass(frozen=True)
class RowClusters:
    """`factor` is no less than Σ k² / Σ k; `tied` rows share one draw, others are drawn by themselves."""

    factor: float
    tied: bool
    note: str = ""


def clusters_of(stated: WhoseRows, records: int, *, part: bool) -> RowClusters:
    """Of so many released records; `part` says that they are some of a release."""
    units, rows, most = stated.units, stated.rows, stated.most
    whole = records == rows and not part
    factor = (units + (rows - units) * (most + 1)) / rows if whole else float(most)
    tied = stated.rule is Rule.tied
    shared = "share one draw" if tied else "are drawn each by itself"
    return RowClusters(
        factor,
        tied,
        f"Up to {most} rows of one {stated.unit} {shared}: {PLURALS[stated.unit]} are the sample, not rows. Errors are "
        f"widened for that, by the factor {factor:.4g} "
        + ("in variance." if tied else "on what the values vary by, in variance."),
    )


def at_most(rows: int) -> RowClusters:
    """Where somebody says how many rows of one person there are at most, and nobody how they were drawn."""
    if type(rows) is not int or rows < 1:
        raise ParameterError("not a number of rows", where="rows_per_person", remedy="Give a whole number from 1.")
    note = f"Up to {rows} rows of one person, as stated: errors are those of a {rows}th part of the records."
    return RowClusters(float(rows), True, note if rows > 1 else "")


def widest(found: list[RowClusters]) -> RowClusters | None:
    """Several releases at once: the largest factor, tied where any is."""
    several = [one for one in found if one.factor > 1]
    if not several:
        return None
    note = " ".join(dict.fromkeys(one.note for one in several))
    return RowClusters(max(one.factor for one in several), any(one.tied for one in several), note)
