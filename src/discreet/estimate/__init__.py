"""The analyst's side: what a release says about the data, with honest errors.

Problem: from counts of outputs, drawn from Q θ, to θ and functions of it, and to what the release leaves open.
Theorem: linear estimates are unbiased; intervals invert tests whose level holds for every θ (docs/estimating.md).
Entrance: `estimate` and `estimate_by`; `forecast` before a release, `independence` and `weighted` after it.
Size: any number of records; up to 50 million entries of Q. Proves: intervals that cover, checked by simulation.
"""

from discreet.estimate.estimation import estimate, estimate_by, estimate_strata
from discreet.estimate.forecast import Forecast, Reached, forecast, smallest_epsilon
from discreet.estimate.independence import Independence, independence
from discreet.estimate.posterior_weights import posterior, weighted
from discreet.estimate.result import Difference, Estimate, Quantity, difference

__all__ = [
    "Difference",
    "Estimate",
    "Forecast",
    "Independence",
    "Quantity",
    "Reached",
    "difference",
    "estimate",
    "estimate_by",
    "estimate_strata",
    "forecast",
    "independence",
    "posterior",
    "smallest_epsilon",
    "weighted",
]
