"""What is forecast and what `estimate` delivers, for all three purposes, by simulation on Adult.

python benchmarks/purposes.py [releases]        2,000 if not given; n = 10,000, marital-status → education, LIP 0.5

Records are drawn from the table's law, released, and estimated: the mean squared error of every letter beside the one
forecast, averaged over letters, and the coverage of 95 % intervals. The last row is the control: the same errors beside
those of clean records.
"""

from __future__ import annotations

import sys

import numpy as np

import discreet as dc
from discreet.datasets import adult
from discreet.estimate import estimate, forecast
from discreet.study.purposes import Purpose, serve

N = 10_000


def simulated(purpose: Purpose, sees_secret: bool, releases: int) -> str:
    joint = dc.Joint.from_table(adult(), secret="marital-status", release="education")
    protocol = serve(joint.curator() if sees_secret else joint, dc.LIP(0.5), purpose, time_limit=15).design.protocol
    assert isinstance(protocol, dc.Protocol)
    expected, truth = forecast(protocol, protocol.joint, N), protocol.joint.target_prior
    rng, law = np.random.default_rng(1), protocol.matrix @ protocol.joint.prior
    errors, inside = np.zeros(len(truth)), np.zeros(len(truth))
    for _ in range(releases):
        found = estimate(rng.multinomial(N, law / law.sum()), protocol)
        low, high = found.interval().T
        errors += (found.frequencies - truth) ** 2 / releases
        inside += ((low <= truth) & (truth <= high)) / releases
    ratio, clean = errors / expected.standard_errors**2, errors / (truth * (1 - truth) / N)
    form = "reads S too" if sees_secret else "reads X"
    return (
        f"{purpose.value:12s} {form:12s} error / forecast {ratio.mean():.3f}  coverage {inside.mean():.3f} "
        f"({inside.min():.3f} … {inside.max():.3f})  error / clean {clean.mean():.2f}"
    )


if __name__ == "__main__":
    releases = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for purpose in Purpose:
        for sees_secret in (False, True):
            print(simulated(purpose, sees_secret, releases), flush=True)
