"""Puts the catalogue of known problems on the path of the tests that run through it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
