"""What is forecast is what comes: the mean squared error of `estimate` over many releases beside the forecast one.

python benchmarks/forecast_errors.py [releases]

Adult, marital-status → education, LIP(0.5), n = 10,000 records drawn from the table's law, for the three purposes and
both forms. The figure is the mean over letters of the squared error, as a share of the forecast; 1 is right, and 0.05
off is allowed.
"""

from __future__ import annotations

import sys

import numpy as np

import discreet as dc
from discreet.arrays import Floats
from discreet.datasets import adult
from discreet.estimate import estimate, forecast
from discreet.joint import Joint
from discreet.protocol import Protocol
from discreet.utilities.utility import Utility

RELEASES, RECORDS = 2_000, 10_000
ALLOWED = 0.05
PURPOSES: dict[str, Utility] = {
    "values": dc.Agreement(),
    "statistics": dc.Accuracy(),
    "information": dc.MutualInformation,
}


def errors(protocol: Protocol, joint: Joint, n: int, releases: int, seed: int = 1) -> Floats:
    """Squared errors of every release and letter over the forecast variances, where these are positive."""
    random = np.random.default_rng(seed)
    expected = forecast(protocol, joint, n)
    law = protocol.matrix @ protocol.joint.prior
    counts = random.multinomial(n, law / law.sum(), size=releases)
    found = np.array([estimate(one, protocol).frequencies for one in counts])
    seen = expected.standard_errors > 0
    return np.asarray(((found - expected.frequencies)[:, seen] / expected.standard_errors[seen]) ** 2)


def main() -> None:
    releases = int(sys.argv[1]) if len(sys.argv) > 1 else RELEASES
    joint = dc.Joint.from_table(adult(), secret="marital-status", release="education")
    for sees_secret in (False, True):
        for name, utility in PURPOSES.items():
            found = dc.design(joint, dc.LIP(0.5), utility=utility, sees_secret=sees_secret, time_limit=30)
            ratios = errors(found.protocol, found.protocol.joint, RECORDS, releases)
            mean, error = float(ratios.mean()), float(ratios.mean(axis=1).std() / np.sqrt(releases))
            verdict = "within 5 %" if abs(mean - 1) <= ALLOWED else "OFF"
            form = "curator" if sees_secret else "reads X"
            print(f"{form:8s} {name:12s} {mean:.4f} ± {error:.4f}  {verdict}", flush=True)


if __name__ == "__main__":
    main()
