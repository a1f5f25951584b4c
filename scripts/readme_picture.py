"""Draws docs/tradeoff.svg, the picture in the README, from results computed here. Needs the `papers` extra."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

import discreet as dc
from discreet.datasets import adult

EPSILONS = [0.1, 0.25, 0.5, 1.0, 1.5, 2.0]
CURVES: list[tuple[str, str, dict[str, Any], int]] = [
    ("best for an owner of the data", "#0b6e69", {"sees_secret": True, "gap": 1e-3, "time_limit": 60.0}, 4),
    ("best that reads education only", "#c2410c", {}, -10),
    ("conditional reporting", "#6b7280", {"sees_secret": True, "method": "cr"}, -6),
    ("randomised response", "#8b5fbf", {"method": "grr"}, -2),
]


def main() -> None:
    joint = dc.Joint.from_table(adult(), secret="marital-status", release="education")
    plt.rcParams.update({"font.size": 10, "font.family": "sans-serif", "svg.fonttype": "none", "svg.hashsalt": "0"})
    figure, axes = plt.subplots(figsize=(7.2, 3.6))
    for name, colour, keywords, lift in CURVES:
        kept = [dc.design(joint, dc.LIP(epsilon), **keywords).utility / joint.entropy for epsilon in EPSILONS]
        axes.plot(EPSILONS, kept, marker="o", markersize=4, color=colour)
        axes.annotate(name, (EPSILONS[-1], kept[-1]), (8, lift), textcoords="offset points", color=colour)
        print(name, [round(value, 4) for value in kept])
    axes.set(xlabel="epsilon: how much may be learnt about marital status", ylabel="share of education kept")
    axes.set(ylim=(0, 1.04), xlim=(0, 2.05))
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    target = Path(__file__).parents[1] / "docs" / "tradeoff.svg"
    figure.savefig(target, metadata={"Date": None}, bbox_inches="tight")


if __name__ == "__main__":
    main()
