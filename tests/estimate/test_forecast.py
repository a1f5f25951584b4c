"""What is forecast is what comes, for every purpose; the full run is `python benchmarks/forecast_errors.py`."""

import numpy as np
import pytest

import discreet as dc
from discreet.datasets import adult
from discreet.estimate import estimate, forecast

RECORDS, RELEASES = 10_000, 150
ALLOWED = 0.25
"""Six standard errors of the mean over releases: they are at most 0.04 for 200 of them."""


def ratio(protocol, asked):
    """The mean squared error of the estimate over the variance forecast for `asked` records."""
    random, law = np.random.default_rng(1), protocol.matrix @ protocol.joint.prior
    expected = forecast(protocol, protocol.joint, asked)
    counts = random.multinomial(RECORDS, law / law.sum(), size=RELEASES)
    found = np.array([estimate(one, protocol).frequencies for one in counts])
    seen = expected.standard_errors > 0
    return float((((found - expected.frequencies)[:, seen] / expected.standard_errors[seen]) ** 2).mean())


@pytest.mark.parametrize("utility", [dc.Agreement(), dc.Accuracy(), dc.MutualInformation], ids=["V", "S", "I"])
def test_the_mean_squared_error_is_the_forecast_one(utility):
    joint = dc.Joint.from_table(adult(), secret="marital-status", release="education")
    protocol = dc.design(joint, dc.LIP(0.5), utility=utility, time_limit=20).protocol
    assert abs(ratio(protocol, RECORDS) - 1) < ALLOWED
    assert abs(ratio(protocol, 2 * RECORDS) - 1) > ALLOWED  # a forecast for twice as many records is noticed
