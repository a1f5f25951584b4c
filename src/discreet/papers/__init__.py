"""Every figure, table and example of the papers, at one command. `discreet papers list` shows them."""

from __future__ import annotations

from discreet.exceptions import ParameterError
from discreet.papers import funnel_1, funnel_2, neighbours, robust_1, robust_2
from discreet.papers.experiment import Item, Reproduction, Workload
from discreet.papers.output_files import write

__all__ = ["ITEMS", "PAPERS", "Item", "Reproduction", "Workload", "find", "write"]

PAPERS = {
    "funnel-1": "The Privacy Funnel from the Viewpoint of Local Differential Privacy (ICDS 2020)",
    "funnel-2": "Data Sanitisation Protocols for the Privacy Funnel with Differential Privacy Guarantees (journal)",
    "robust-1": "Robust Local Differential Privacy (ISIT 2021)",
    "robust-2": "Mechanisms for Robust Local Differential Privacy (Entropy 2024, journal)",
    "neighbours": "What the papers did not draw: every leakage the field uses, side by side",
}
ITEMS: tuple[Item, ...] = (*funnel_1.ITEMS, *funnel_2.ITEMS, *robust_1.ITEMS, *robust_2.ITEMS, *neighbours.ITEMS)


def find(wanted: str) -> list[Item]:
    """Items by name: one ("funnel-2/figure-5"), several ("funnel-2/figure-3"), a paper ("robust-2"), or "all"."""
    exact = [item for item in ITEMS if item.name == wanted]
    found = exact or [item for item in ITEMS if wanted in ("all", item.paper) or item.name.rstrip("abcd") == wanted]
    if not found:
        raise ParameterError(
            "no figure, table or example of that name", where="papers", remedy="`discreet papers list` shows them all."
        )
    return found
