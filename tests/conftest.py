"""Settings shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from random_examples import ALL

if TYPE_CHECKING:
    from commands import Headway

# No test leaves a compiler running beside it, but the one that is about this.
os.environ.setdefault("HEADWAY_FIRST_USE", "compile")

# How long an example takes depends on the machine, so it is no part of any test.
# Each run draws new ones: `make test` tries fewer of them than `make test-all`, which asks for "thorough".
settings.register_profile("quick", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=ALL)
settings.load_profile("quick")


@pytest.fixture
def headway(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Headway:
    """The command, in a folder of its own."""
    from commands import Headway

    return Headway(tmp_path, capsys, monkeypatch)


@pytest.fixture
def run(headway: Headway) -> Headway:
    """The same, for tests that use the package under its name."""
    return headway
