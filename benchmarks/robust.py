"""Robust LDP: value, bar, time, outputs and gap, case by case. Run: python benchmarks/robust.py [name …]

python benchmarks/robust.py table              the cases at ε = 1.5
python benchmarks/robust.py exact              Example 3 and the draws of 2×5 and 5×2, with their certified gap
python benchmarks/robust.py large              a = 2,400 letters
python benchmarks/robust.py curator            judged by I(U;Y) alone
python benchmarks/robust.py blind              mechanisms that read X only
python benchmarks/robust.py curves [seconds]   ε from 0.1 to 8, drawn into docs/robust.svg (needs the `papers` extra)
"""

from __future__ import annotations

import math
import resource
import sys
import time
from pathlib import Path

import numpy as np

import discreet as dc
from discreet.datasets import adult

SECONDS, LARGE_SECONDS, CURVE_SECONDS = 60.0, 240.0, 8.0
EPSILONS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
METHODS = {"GRR": "grr", "SRR": "srr", "IR": "ir", "CR": "robust-cr", "NR": "nr", "ours": "auto"}
COLOURS = {"GRR": "#0072B2", "SRR": "#56B4E9", "IR": "#D55E00", "CR": "#E69F00", "NR": "#7F7F7F", "ours": "#000000"}


def drawn(c: int, k: int, seed: int) -> dc.Joint:
    """A draw of the size of Adult, as in the papers' Table 2."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(32_561, rng.dirichlet(np.full(c * k, 0.5))).reshape(c, k)
    return dc.Joint.from_counts(counts, include_secret=True)


def people(secret: str, *release: str) -> dc.Joint:
    return dc.Joint.from_table(adult(), secret=secret, release=list(release), include_secret=True)


def measured(name: str, joint: dc.Joint, notion: dc.RLDP, bar: str, **keywords: object) -> float:
    """One line; the share of the entropy that is kept."""
    wall, processor = time.perf_counter(), time.process_time()
    found = dc.design(joint, notion, **keywords)  # type: ignore[arg-type]
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    sparser = found.sparser()
    entropy = found.protocol.joint.entropy
    print(
        f"{name:46s} I/H {found.utility / entropy:.4f} (bar {bar})  at most {found.upper_bound / entropy:.4f}  "
        f"gap {found.gap:.4f} nats, {found.gap / found.utility:.2%}  {wall:6.1f} s, processor {processor:6.1f} s  "
        f"{len(found.protocol.outputs)} outputs, {len(sparser.protocol.outputs)} at {sparser.utility / entropy:.4f}  "
        f"{found.method}, {found.status}",
        flush=True,
    )
    return found.utility / entropy


def table() -> None:
    """The cases at ε = 1.5, each in 60 s."""
    for c, k, bar in ((15, 16, "0.39"), (42, 6, "0.20")):
        notion = dc.RLDP(1.5, dc.ChiSquare(0.9))
        kept = [
            measured(f"synthetic {c}×{k}, seed {seed}", drawn(c, k, seed), notion, bar, time_limit=SECONDS)
            for seed in range(3)
        ]
        print(f"    mean {np.mean(kept):.4f} (bar {bar})", flush=True)
    for secret, release, bar in (
        ("occupation", "education", "0.37"),
        ("native-country", "relationship", "0.66"),
        ("sex", "race", "PolyOpt"),
        ("race", "sex", "PolyOpt"),
    ):
        joint = people(secret, release)
        if bar == "PolyOpt":
            found = dc.design(joint, dc.RLDP(1.5, dc.ChiSquare()), method="polyopt", gap=1e-4, time_limit=SECONDS)
            bar = f"PolyOpt {found.utility / joint.entropy:.4f}"
        measured(f"Adult {secret} × {release}", joint, dc.RLDP(1.5, dc.ChiSquare()), bar, time_limit=SECONDS)


def exact() -> None:
    """Small alphabets: certified to 0.001 nats."""
    example = dc.Joint.from_counts([[7, 10], [26, 57]], include_secret=True)
    measured(
        "Example 3 (in nats: times H)", example, dc.RLDP(math.log(2), dc.ChiSquare()), f"{0.5936 / example.entropy:.4f}"
    )
    for c, k, bars in ((2, 5, ("0.6942", "0.7743")), (5, 2, ("0.2521", "0.3655"))):
        for epsilon, bar in zip((0.5, 1.5), bars, strict=True):
            measured(f"{c}×{k}, ε = {epsilon}", drawn(c, k, 0), dc.RLDP(epsilon, dc.ChiSquare(0.9)), bar)


def large() -> None:
    """Adult occupation × (education, sex, race): better than IR in 5 minutes and 4 GB."""
    joint = people("occupation", "education", "sex", "race")
    ir = dc.design(joint, dc.RLDP(1.5, dc.ChiSquare()), method="ir")
    bar = f"IR {ir.utility / joint.entropy:.4f}"
    measured(
        "Adult occupation × education, sex, race", joint, dc.RLDP(1.5, dc.ChiSquare()), bar, time_limit=LARGE_SECONDS
    )
    print(f"    peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")


def curator() -> None:
    """The robust curator, against the best closed form."""
    for secret, release in (
        ("sex", "race"),
        ("occupation", "sex"),
        ("marital-status", "education"),
        ("occupation", "education"),
    ):
        joint = dc.Joint.from_table(adult(), secret=secret, release=release)
        for epsilon in (0.5, 1.5):
            notion = dc.RLDP(epsilon, dc.ChiSquare())
            simple = dc.design(joint, notion, method="simple", sees_secret=True).utility / joint.entropy
            name = f"curator, Adult {secret} → {release}, ε = {epsilon}"
            measured(name, joint, notion, f"closed forms {simple:.4f}", sees_secret=True, time_limit=SECONDS)


def blind() -> None:
    """Mechanisms that read X only, against GRR, the one closed form of the papers that does."""
    for secret, release, epsilon in (
        ("sex", ["education"], 0.5),
        ("occupation", ["education"], 1.5),
        ("race", ["education", "sex"], 1.0),
        ("sex", ["education", "race"], 0.5),
        ("marital-status", ["education", "sex", "race"], 1.0),
    ):
        joint, notion = dc.Joint.from_table(adult(), secret=secret, release=release), dc.RLDP(epsilon, dc.ChiSquare())
        grr = dc.design(joint, notion, method="grr").utility / joint.entropy
        name = f"X only, Adult {secret} → {', '.join(release)}, ε = {epsilon}"
        measured(name, joint, notion, f"GRR {grr:.4f}", time_limit=SECONDS)


def curves(seconds: float = CURVE_SECONDS) -> None:
    """What is kept over ε, for four cases and six methods; drawn into docs/robust.svg."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    cases = {
        "synthetic 15×16": (drawn(15, 16, 0), dc.ChiSquare(0.9)),
        "synthetic 42×6": (drawn(42, 6, 0), dc.ChiSquare(0.9)),
        "Adult occupation × education": (people("occupation", "education"), dc.ChiSquare(0.95)),
        "Adult native-country × relationship": (people("native-country", "relationship"), dc.ChiSquare(0.95)),
    }
    plt.rcParams.update({"font.size": 9, "font.family": "sans-serif", "svg.fonttype": "none", "svg.hashsalt": "0"})
    figure, panels = plt.subplots(2, 2, figsize=(9, 6.4), sharex=True, sharey=True)
    for axes, (title, (joint, uncertainty)) in zip(panels.flat, cases.items(), strict=True):
        for name, method in METHODS.items():
            kept = [_kept(joint, dc.RLDP(epsilon, uncertainty), method, seconds) for epsilon in EPSILONS]
            print(f"{title:38s} {name:5s}", " ".join(f"{value:.4f}" for value in kept), flush=True)
            axes.plot(EPSILONS, kept, label=name, color=COLOURS[name], marker="o", markersize=3)
        axes.set(title=title, xscale="log", ylim=(0, 1.02))
        axes.spines[["top", "right"]].set_visible(False)
    panels[0, 0].legend(frameon=False)
    figure.supxlabel("epsilon")
    figure.supylabel("share of the information kept, I(X;Y)/H(X)")
    figure.tight_layout()
    figure.savefig(Path(__file__).parents[1] / "docs" / "robust.svg", metadata={"Date": None})


def _kept(joint: dc.Joint, notion: dc.RLDP, method: str, seconds: float) -> float:
    """Of the mechanism itself: proofs of ten outputs a curve would take longer than the curve."""
    from discreet.solvers.methods import METHODS as ALL
    from discreet.solvers.problem import Effort, Problem

    if method == "nr":
        notion = dc.RLDP(notion.epsilon, dc.Exactly())
    chosen = dc.plan(joint, notion).method if method == "auto" else method
    effort = Effort.within(seconds, gap=1e-3)
    channel = ALL[chosen].solve(Problem.of(joint, notion, dc.MutualInformation), effort).channel
    return dc.MutualInformation.of(joint, channel) / joint.entropy


CASES = (table, exact, large, curator, blind, curves)


def main() -> None:
    wanted = sys.argv[1:]
    for case in CASES:
        if not wanted or case.__name__ in wanted:
            print(f"\n{case.__doc__}")
            case(*(float(given) for given in wanted if case is curves and given.replace(".", "").isdigit()))


if __name__ == "__main__":
    main()
