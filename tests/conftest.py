"""Settings shared by all tests."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes depends on the machine, so it is no part of any test.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
