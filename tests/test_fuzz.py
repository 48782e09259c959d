"""A few mutants of every kind of input; `make fuzz` runs as many as you like."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.kinds import KINDS
from fuzz.run import fuzz, prepared

FEW = 5


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("fuzz")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_DATA_DIR", str(folder / "data"))
        patch.setenv("COLUMNS", "200")
        patch.chdir(folder)
        yield prepared(folder)


@pytest.mark.parametrize("mutants", [FEW, pytest.param(10 * FEW, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", KINDS)
def test_mutants_end_in_a_sentence_or_are_read(kind: str, mutants: int, ground: Path) -> None:
    tally = fuzz(kind, ground, mutants, seed=1)
    assert tally.mutants == mutants
    assert [(words, ending.outcome, ending.fault) for _, _, words, ending in tally.faults] == []
