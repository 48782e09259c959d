"""The names by which papers know their logs."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from headway.cli.reproduce import reproduce
from headway.errors import UsageError
from headway.papers.deadline.logs import REPORTED
from headway.papers.log import by_name
from headway.papers.reallocation.scenarios import ALIASES, SITES
from headway.papers.redirection.logs import CLUSTERS
from headway.papers.urgent.logs import TITLES


@pytest.mark.parametrize(
    ("paper", "names"),
    [("redirection", CLUSTERS), ("deadline", REPORTED), ("urgent", TITLES), ("reallocation", SITES)],
)
def test_help_names_every_log(paper: str, names: Iterable[str]) -> None:
    listed = " ".join(str(reproduce.__doc__).split()).partition("by their names: ")[2].split(";")
    [told] = [part for part in listed if part.strip().startswith(f"{paper} ")]
    assert all(name in told for name in names), told


def test_short_names() -> None:
    assert by_name({"blue": "a", "hpc2n": "b"}) == {"sdsc-blue": "a", "hpc2n": "b"}
    with pytest.raises(UsageError, match="blue and sdsc-blue are one log, given twice"):
        by_name({"blue": "a", "sdsc-blue": "b"})


def test_other_names_of_sites() -> None:
    assert by_name({"ctc-sp2": "a", "lyon": "b"}, ALIASES) == {"ctc": "a", "lyon": "b"}
    with pytest.raises(UsageError, match="sdsc-sp2 and sdsc are one log, given twice"):
        by_name({"sdsc": "a", "sdsc-sp2": "b"}, ALIASES)
