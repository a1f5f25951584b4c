"""Hypothesis profiles: the same examples on every run, unless HYPOTHESIS_PROFILE=explore asks for new ones."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
