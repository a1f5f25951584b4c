"""How long the best mechanism takes, case by case. Run: python benchmarks/optimal.py [name …]

With pycddlib installed (`pip install pycddlib`), vertex enumeration by cdd and one linear program run beside it.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import discreet as dc
from discreet.datasets import adult

EPSILONS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)


def solved(joint: dc.Joint, notion: Any, method: str = "columns", **limits: Any) -> tuple[float, float, float, str]:
    """Value / H, gap in nats, seconds, status."""
    found = dc.design(joint, notion, method=method, **limits)
    return found.utility / joint.entropy, found.gap, found.seconds, found.status


def line(name: str, found: tuple[float, float, float, str]) -> None:
    value, gap, seconds, status = found
    print(f"{name:56s} I/H {value:.6f}  gap {gap:.1e}  {seconds:8.3f} s  {status}", flush=True)


def drawn(seed: int, *shape: int, alpha: float = 1.0) -> dc.Joint:
    size = int(np.prod(shape))
    return dc.Joint(np.random.default_rng(seed).dirichlet(np.full(size, alpha)).reshape(shape))


def adult_lip() -> None:
    """LIP on Adult, 56 cases: each to 1e-6 in 10 s, all in 2 minutes."""
    people, total, worst = adult(), 0.0, (0.0, "")
    for secret in ("marital-status", "occupation"):
        for release in ("education", "relationship", "race", "sex"):
            joint = dc.Joint.from_table(people, secret=secret, release=release)
            for epsilon in EPSILONS:
                found = solved(joint, dc.LIP(epsilon), time_limit=60.0)
                name = f"LIP {secret} → {release}, ε = {epsilon}"
                total, worst = total + found[2], max(worst, (found[2], name))
                if found[1] > 1e-6 or found[2] > 2 or (release == "education" and epsilon in (0.5, 1.5)):
                    line(name, found)
    print(f"all 56: {total:.1f} s, slowest {worst[0]:.2f} s ({worst[1]})")


def two_secrets() -> None:
    """c = 2: LDP at a = 5 in 10 ms; LIP and LDP at a = 10,000 to 1e-6 in 30 s."""
    small = drawn(0, 2, 5)
    solved(small, dc.LDP(0.5), "pairs")
    line("LDP c = 2, a = 5, ε = 0.5", solved(small, dc.LDP(0.5), "pairs"))
    large = drawn(0, 2, 10_000)
    for notion in (dc.LDP(0.5), dc.LIP(0.5)):
        line(f"{type(notion).__name__} c = 2, a = 10,000, ε = 0.5", solved(large, notion, "pairs"))


def random_joints() -> None:
    """LIP on random joints, beside cdd; and c = 5, a = 100 to 1 % in 60 s."""
    for c, a in ((7, 16), (10, 20)):
        joint = drawn(0, c, a)
        line(f"LIP c = {c}, a = {a}, ε = 0.5", solved(joint, dc.LIP(0.5), time_limit=300.0))
        beside_cdd(joint, dc.LIP(0.5))
    line("LIP c = 5, a = 100, ε = 0.5", solved(drawn(0, 5, 100), dc.LIP(0.5), time_limit=60.0))


def beside_cdd(joint: dc.Joint, notion: dc.LIP, limit: int = 900) -> None:
    try:
        import cdd  # noqa: F401
    except ImportError:
        print("    (pycddlib is not installed: no comparison)")
        return
    from multiprocessing import get_context

    started = time.perf_counter()
    process = get_context("spawn").Process(target=_enumerate, args=(joint.table, notion.epsilon))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        print(f"    cdd + LP: not done in {limit} s")
    else:
        print(f"    cdd + LP: {time.perf_counter() - started:.2f} s")


def _enumerate(table: np.ndarray, epsilon: float) -> None:
    import cdd
    from scipy.optimize import linprog

    joint = dc.Joint(table)
    rows, prior = dc.LIP(epsilon).cone(joint).rows, joint.prior
    a = len(prior)
    body = np.vstack([np.hstack([np.zeros((len(rows), 1)), -rows]), np.hstack([np.zeros((a, 1)), np.eye(a)])])
    whole = np.vstack([np.hstack([[[-1.0]], prior[None]]), body])
    matrix = cdd.matrix_from_array(whole.tolist(), rep_type=cdd.RepType.INEQUALITY, lin_set={0})
    found = np.array(cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array)[:, 1:]
    values = dc.MutualInformation.values(np.maximum(found, 0.0), prior)
    best = linprog(-values, A_eq=found.T, b_eq=np.ones(a), method="highs")
    print(f"    cdd: {len(found)} vertices, I/H {-best.fun / joint.entropy:.6f}")


def side_channels() -> None:
    """Direct SRLIP: 3×3×4 to 1e-6 in 5 s; Adult sex → (race, relationship, workclass) to 1 % in 60 s."""
    joint = drawn(0, 2, 3, 3, 4)
    for epsilon in (0.5, 1.0, 1.5, 2.0):
        line(f"SRLIP 3×3×4, c = 2, ε = {epsilon}", solved(joint, dc.SRLIP(epsilon), time_limit=60.0))
    wide = dc.Joint.from_table(adult(), secret="sex", release=["race", "relationship", "workclass"])
    for epsilon in (0.5, 1.0, 1.5, 2.0):
        found = dc.design(wide, dc.SRLIP(epsilon), time_limit=60.0)
        line(
            f"SRLIP sex → race, relationship, workclass, ε = {epsilon}: gap {found.gap / found.utility:.2%}",
            (found.utility / wide.entropy, found.gap, found.seconds, found.status),
        )


def curator() -> None:
    """The curator form: to 1 % in 60 s, reaching for 1e-6."""
    people = adult()
    for secret, release in (("marital-status", "education"), ("marital-status", "relationship"), ("occupation", "sex")):
        joint = dc.Joint.from_table(people, secret=secret, release=release).curator()
        for epsilon in (0.1, 0.5):
            line(f"curator LIP {secret} → {release}, ε = {epsilon}", solved(joint, dc.LIP(epsilon), time_limit=60.0))


def polyopt() -> None:
    """PolyOpt at the sizes of robust-2's Table 2, in 1 s each (proof of the protocol included)."""
    for c, k in ((2, 5), (5, 2)):
        rng = np.random.default_rng(0)
        counts = rng.multinomial(32_561, rng.dirichlet(np.full(c * k, 0.5))).reshape(c, k)
        joint = dc.Joint.from_counts(counts, include_secret=True)
        for epsilon in (0.5, 1.5):
            for method in ("polyopt-paper", "polyopt"):
                found = dc.design(joint, dc.RLDP(epsilon, dc.ChiSquare(0.9)), method=method)
                print(
                    f"{method} {c}×{k}, ε = {epsilon}: I/H {found.utility / joint.entropy:.6f}  "
                    f"{found.seconds:.3f} s  {found.status}",
                    flush=True,
                )


CASES = (adult_lip, two_secrets, random_joints, side_channels, curator, polyopt)


def main() -> None:
    wanted = sys.argv[1:]
    for case in CASES:
        if not wanted or case.__name__ in wanted:
            print(f"\n{case.__doc__}")
            case()


if __name__ == "__main__":
    main()
