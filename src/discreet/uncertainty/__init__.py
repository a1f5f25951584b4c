"""Uncertainty sets F around an estimate: projections, bounds, and the worst case in them (robust-2 section 4)."""

from discreet.uncertainty.ball import Ball
from discreet.uncertainty.sets import ChiSquare, Everything, Exactly, Renyi, Uncertainty

__all__ = ["Ball", "ChiSquare", "Everything", "Exactly", "Renyi", "Uncertainty"]
