"""discreet beside its peers: same work, same machine, one run. Run: python benchmarks/peers.py [--out docs/peers.md]

Vertex enumeration by cdd and by ppl, then a linear program, against `design`, on problems that grow until each gives
up; randomised response and unary encoding by pure-ldp, multi-freq-ldpy and opendp against the sampler. The peers (some
of them GPL) are installed from peers-requirements.txt into an environment that lives as long as this run; it needs
a C compiler. An environment that has them already is named with --python.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
EPSILON = 0.5
GROWING_A = [(3, a) for a in (4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192)]
GROWING_BOTH = [(n, n) for n in (4, 6, 8, 10, 12, 14, 16, 20, 24)]
GROWING_C = [(c, 12) for c in (2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32)]
SAMPLING = [("grr", 2), ("grr", 16), ("grr", 128), ("oue", 16)]
SOLVERS = ("discreet", "cdd", "ppl")
SAMPLERS = ("discreet", "pure-ldp", "multi-freq-ldpy", "opendp")
FLOOR = 0.01  # seconds; what is faster says nothing about growth
Answer = dict[str, Any]


@dataclass
class Bench:
    """Every job in a process of its own, with a time limit."""

    python: Path
    limit: float
    gave_up: set[tuple[str, str]] = field(default_factory=set)

    def run(self, job: Answer) -> Answer:
        ours = job["peer"] == "discreet"
        python, script = (Path(sys.executable), "ours.py") if ours else (self.python, "worker.py")
        command = [str(python), str(HERE / "peers_work" / script)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        patience = 3 * self.limit + 60  # the limit is for the processor, which may be shared
        try:
            done = subprocess.run(
                command,
                input=json.dumps(job),
                capture_output=True,
                text=True,
                env=environment,
                timeout=patience,
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"more than {self.limit:g} s"}
        if done.returncode:
            return {"failed": done.stderr.strip().splitlines()[-1][:100] if done.stderr.strip() else "stopped"}
        answer: Answer = json.loads(done.stdout)
        if answer.get("seconds", 0) > self.limit:
            return {"failed": f"more than {self.limit:g} s"}
        return answer

    def unless_given_up(self, series: str, job: Answer) -> Answer:
        """A peer that failed at one size is not asked for a larger one."""
        if (series, job["peer"]) in self.gave_up:
            return {"failed": "—"}
        answer = self.run(job)
        if "failed" in answer:
            self.gave_up.add((series, job["peer"]))
        return answer


def optima(bench: Bench, changing: str, sizes: Sequence[tuple[int, int]]) -> list[str]:
    """One table: seconds and megabytes for each, and whether they found the same optimum; then how they grow."""
    names = " | ".join(f"{peer}: s (MB)" for peer in SOLVERS)
    lines = [
        f"| c × a | {names} | cdd / discreet | ppl / discreet | largest difference |",
        "|---|" + "---|" * (len(SOLVERS) + 3),
    ]
    seconds: dict[str, list[tuple[int, float]]] = {peer: [] for peer in SOLVERS}
    for c, a in sizes:
        table = np.random.default_rng(0).dirichlet(np.full(c * a, 0.5)).reshape(c, a)
        job = {"task": "vertices", "table": table.tolist(), "epsilon": EPSILON, "limit": bench.limit}
        answers = {peer: bench.unless_given_up(changing, job | {"peer": peer}) for peer in SOLVERS}
        for peer, answer in answers.items():
            if answer.get("seconds", 0) > FLOOR:
                seconds[peer].append((c if changing == "c" else a, answer["seconds"]))
        cells = [_cell(answers[peer]) for peer in SOLVERS]
        ratios = [_ratio(answers[peer], answers["discreet"]) for peer in SOLVERS[1:]]
        values = [answer["value"] for answer in answers.values() if "value" in answer]
        difference = f"{max(values) - min(values):.1e}" if len(values) > 1 else ""
        lines.append(f"| {c} × {a} | {' | '.join(cells)} | {' | '.join(ratios)} | {difference} |")
        print(lines[-1], flush=True)
        if all("failed" in answer for answer in answers.values()):
            break
    grown = ", ".join(f"{peer} {growth(points)}" for peer, points in seconds.items())
    step = {"a": "letter", "c": "secret", "both": "letter and secret"}[changing]
    return [*lines, "", f"Time for one more {step}: {grown}."]


def growth(points: Sequence[tuple[int, float]]) -> str:
    """The factor that one step adds to the time, by least squares on its logarithm."""
    if len(points) < 3:
        return "too fast to say"
    size, seconds = np.array(points).T
    return f"× {np.exp(np.polyfit(size, np.log(seconds), 1)[0]):.2f}"


def samplers(bench: Bench) -> list[str]:
    """Rows a second, and how many times fewer that is than discreet's."""
    heads = ("discreet: rows/s (MB)", *(f"{peer}: rows/s (MB), discreet / it" for peer in SAMPLERS[1:]))
    lines = [f"| mechanism | {' | '.join(heads)} |", "|---|" + "---|" * len(SAMPLERS)]
    for mechanism, letters in SAMPLING:
        cells: list[str] = []
        ours = 0.0
        for peer in SAMPLERS:
            if (peer, mechanism) == ("opendp", "oue"):
                cells.append("no such mechanism")
                continue
            answer = bench.run(
                {"task": "sample", "peer": peer, "mechanism": mechanism, "letters": letters, "epsilon": 1.0}
            )
            rows = answer.get("rows_per_second", 0.0)
            ours = ours or rows
            ratio = f", {ours / rows:,.0f} ×" if rows and peer != "discreet" else ""
            cells.append(answer.get("failed") or f"{rows:,.0f} ({answer['megabytes']:.0f}){ratio}")
        lines.append(f"| {mechanism.upper()}, a = {letters} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def _cell(answer: Answer) -> str:
    return answer.get("failed") or f"{answer['seconds']:.2f} ({answer['megabytes']:.0f})"


def _ratio(peer: Answer, ours: Answer) -> str:
    return f"{peer['seconds'] / ours['seconds']:.1f}" if "seconds" in peer and "seconds" in ours else ""


def environment(folder: Path) -> Path:
    """The interpreter of a new environment with the peers in it."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    requirements = str(HERE / "peers-requirements.txt")
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "-r", requirements], check=True)
    return python


def page(bench: Bench) -> str:
    parts = [
        "# discreet beside its peers",
        "",
        "What each of them has and has not: [feature by feature](peers-features.md).",
        "",
        f"Made by `python benchmarks/peers.py --out docs/peers.md` on {date.today():%d %B %Y}, one thread a job, at "
        f"most {bench.limit:g} s a job. Seconds are of the processor, megabytes what a job needs beyond its modules. A "
        f"peer that fails at one size is not asked for the next (—).",
        "",
        f"## The best LIP mechanism, ε = {EPSILON}",
        "",
        "cdd and ppl list the vertices, then HiGHS solves the linear program of funnel-2 Theorem 3. discreet finds the "
        "same optimum to within 10⁻⁶ nats without the list, rounds it to integers and proves the guarantee; the time "
        "is for all of that. P is one draw from the Jeffreys prior.",
        "",
        *optima(bench, "a", GROWING_A),
        "",
        *optima(bench, "c", GROWING_C),
        "",
        *optima(bench, "both", GROWING_BOTH),
        "",
        "## Randomising records, ε = 1",
        "",
        "Peers randomise one record a call, as documented. discreet draws from integer weights with AES-256-CTR.",
        "",
        *samplers(bench),
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="a Markdown page for the results")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for one job")
    parser.add_argument("--python", type=Path, help="an interpreter that has the peers already")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = page(Bench(options.python or environment(Path(folder)), options.limit))
    if options.out:
        options.out.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
