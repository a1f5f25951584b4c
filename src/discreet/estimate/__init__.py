"""The analyst's side: what a release says about the data, with honest errors."""

from discreet.estimate.compare import Difference, difference
from discreet.estimate.facade import estimate, estimate_by
from discreet.estimate.forecast import Forecast, Reached, forecast, smallest_epsilon
from discreet.estimate.independence import Independence, independence
from discreet.estimate.result import Estimate, Quantity
from discreet.estimate.weights import posterior, weighted

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
    "forecast",
    "independence",
    "posterior",
    "smallest_epsilon",
    "weighted",
]
