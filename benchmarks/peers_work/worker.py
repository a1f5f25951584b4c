"""One job for a peer of discreet, in an environment of its own: a JSON job on standard input, a JSON answer out.

Jobs: {"task": "vertices", "peer": "cdd" | "ppl", "table": P(s, x), "epsilon": ε} lists the vertices of the LIP polytope
(funnel-2 (15)) and solves the linear program (17) over them; {"task": "sample", "peer": …, "mechanism": "grr" | "oue",
"letters": a, "epsilon": ε} randomises records one by one for a second, as the peer's documentation does.

Seconds are of the processor, megabytes are what the job needed beyond the modules; a small job goes first, so that
nothing is imported or compiled while the clock runs.
"""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction

import numpy as np
from clock import measured, rate

DENOMINATOR = 10**6  # ppl computes with fractions; shorter ones are to its advantage


def conditions(table: np.ndarray, epsilon: float) -> np.ndarray:
    """Rows [b, −A] of A v ≤ b: v ≥ 0 and e^−ε p_s ≤ p_{s|X}·v ≤ e^ε p_s, for v on the simplex."""
    p_s, p_x = table.sum(axis=1), table.sum(axis=0)
    posterior = table / p_x
    zeros = np.zeros((len(p_x), 1))
    positive = np.hstack([zeros, np.eye(len(p_x))])
    upper = np.hstack([(math.exp(epsilon) * p_s)[:, None], -posterior])
    lower = np.hstack([(-math.exp(-epsilon) * p_s)[:, None], posterior])
    return np.vstack([positive, upper, lower])


def by_cdd(table: np.ndarray, epsilon: float) -> np.ndarray:
    import cdd

    rows = conditions(table, epsilon)
    one = np.concatenate([[-1.0], np.ones(table.shape[1])])
    array = np.vstack([one, rows])
    matrix = cdd.matrix_from_array(array.tolist(), lin_set={0}, rep_type=cdd.RepType.INEQUALITY)
    generators = cdd.copy_generators(cdd.polyhedron_from_matrix(matrix))
    return np.array(generators.array)[:, 1:]


def by_ppl(table: np.ndarray, epsilon: float) -> np.ndarray:
    import ppl

    letters = [ppl.Variable(i) for i in range(table.shape[1])]
    system = ppl.Constraint_System()
    system.insert(sum(letters) == 1)
    for row in conditions(table, epsilon):
        parts = [Fraction(float(x)).limit_denominator(DENOMINATOR) for x in row]
        scale = math.lcm(*(part.denominator for part in parts))
        constant, *weights = (int(part * scale) for part in parts)
        system.insert(sum(w * v for w, v in zip(weights, letters, strict=True)) + constant >= 0)
    found = ppl.C_Polyhedron(system).minimized_generators()
    return np.array([[float(Fraction(int(c), int(g.divisor()))) for c in g.coefficients()] for g in found])


def vertices(job: dict) -> dict:
    from scipy.optimize import linprog

    table = np.array(job["table"])
    points = np.maximum({"cdd": by_cdd, "ppl": by_ppl}[job["peer"]](table, job["epsilon"]), 0.0)
    p_x = table.sum(axis=0)
    logs = np.log(np.where(points > 0, points, 1.0))
    entropies = -(points * logs).sum(axis=1)
    solved = linprog(entropies, A_eq=points.T, b_eq=p_x, bounds=(0, None), method="highs")
    if solved.status != 0:
        return {"failed": solved.message}
    return {"value": float(-(p_x * np.log(p_x)).sum() - solved.fun), "vertices": len(points)}


def sample(job: dict) -> dict:
    draw = SAMPLERS[job["peer"], job["mechanism"]](job["letters"], job["epsilon"])
    codes = [int(x) for x in np.random.default_rng(0).integers(job["letters"], size=1000)]

    def thousand() -> None:
        for code in codes:
            draw(code)

    return {"rows_per_second": 1000 * rate(thousand)}


def pure_ldp_grr(letters: int, epsilon: float):
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    return DEClient(epsilon, letters, index_mapper=lambda x: x).privatise


def pure_ldp_oue(letters: int, epsilon: float):
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    return UEClient(epsilon, letters, use_oue=True, index_mapper=lambda x: x).privatise


def multi_freq_grr(letters: int, epsilon: float):
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    return lambda code: GRR_Client(code, letters, epsilon)


def multi_freq_oue(letters: int, epsilon: float):
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    return lambda code: UE_Client(code, letters, epsilon)


def opendp_grr(letters: int, epsilon: float):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    probability = math.exp(epsilon) / (math.exp(epsilon) + letters - 1)
    return dp.m.make_randomized_response(list(range(letters)), probability)


SAMPLERS = {
    ("pure-ldp", "grr"): pure_ldp_grr,
    ("pure-ldp", "oue"): pure_ldp_oue,
    ("multi-freq-ldpy", "grr"): multi_freq_grr,
    ("multi-freq-ldpy", "oue"): multi_freq_oue,
    ("opendp", "grr"): opendp_grr,
}


if __name__ == "__main__":
    print(json.dumps(measured({"vertices": vertices, "sample": sample}, json.load(sys.stdin))))
