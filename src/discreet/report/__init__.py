"""Reports: a protocol as one self-contained page that a board can read."""

from discreet.report.page import page

__all__ = ["page"]
