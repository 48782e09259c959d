"""Settings shared by all tests."""

from __future__ import annotations

import os

from hypothesis import settings

from random_examples import ALL

# No test leaves a compiler running beside it, but the one that is about this.
os.environ.setdefault("HEADWAY_FIRST_USE", "compile")

# How long an example takes depends on the machine, so it is no part of any test.
# Each run draws new ones: `make test` tries fewer of them than `make test-all`, which asks for "thorough".
settings.register_profile("quick", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=ALL)
settings.load_profile("quick")
