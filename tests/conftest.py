"""Settings shared by all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# No test leaves a compiler running beside it, but the one that is about this.
os.environ.setdefault("HEADWAY_FIRST_USE", "compile")

# How long an example takes depends on the machine, so it is no part of any test.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
