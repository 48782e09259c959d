"""The names by which papers know their logs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from headway.cli.sweep import reproduce
from headway.errors import UsageError
from headway.papers import Request
from headway.papers import reproduce as reproduced
from headway.papers.deadline.logs import REPORTED
from headway.papers.log import LOGS, by_name, other_logs
from headway.papers.reallocation.scenarios import ALIASES, SITES
from headway.papers.redirection import work
from headway.papers.redirection.logs import CLUSTERS
from headway.papers.urgent.logs import TITLES
from test_paper_redirection import SMALL


@pytest.mark.parametrize(
    ("paper", "names"),
    [("redirection", CLUSTERS), ("deadline", REPORTED), ("urgent", TITLES), ("reallocation", SITES)],
)
def test_help_names_every_log(paper: str, names: Iterable[str]) -> None:
    listed = " ".join(str(reproduce.__doc__).split()).partition("by their names: ")[2].split(";")
    [told] = [part for part in listed if part.strip().startswith(f"{paper} ")]
    assert all(name in told for name in names), told


@pytest.mark.parametrize(
    ("paper", "names"),
    [("redirection", CLUSTERS), ("deadline", REPORTED), ("urgent", TITLES), ("reallocation", SITES)],
)
def test_a_name_that_no_paper_knows_is_told_with_the_one_that_may_be_meant(
    paper: str, names: Iterable[str]
) -> None:
    assert set(LOGS[paper]) == set(names)
    first = LOGS[paper][0]
    said = other_logs(paper, [first, "blue", "curie", f"{first}x", "zzz"])
    if paper == "reallocation":  # it says itself that it takes no other logs
        assert said == []
    else:
        assert f"{first}x is not a log of the paper (did you mean {first!r}?), which used {first}" in said[0]
        assert said[1].startswith("zzz is not a log of the paper, which used ") and len(said) == 2
    assert other_logs("locality", ["zzz"]) == []


def test_short_names() -> None:
    assert by_name({"blue": "a", "hpc2n": "b"}) == {"sdsc-blue": "a", "hpc2n": "b"}
    with pytest.raises(UsageError, match="blue and sdsc-blue are one log, given twice"):
        by_name({"blue": "a", "sdsc-blue": "b"})


def test_other_names_of_sites() -> None:
    assert by_name({"ctc-sp2": "a", "lyon": "b"}, ALIASES) == {"ctc": "a", "lyon": "b"}
    with pytest.raises(UsageError, match="sdsc-sp2 and sdsc are one log, given twice"):
        by_name({"sdsc": "a", "sdsc-sp2": "b"}, ALIASES)


def written(path: Path, jobs: Sequence[tuple[int, int, int]], procs: int = 64) -> dict[str, str]:
    """A log of jobs (submitted, run time, processors) that ask for what they run, by a name of one's own."""
    lines = [
        f"{number} {submit} 0 {run} {width} -1 -1 {width} {run} -1 1 1 1 1 1 1 -1 -1"
        for number, (submit, run, width) in enumerate(jobs, 1)
    ]
    path.write_text(f"; MaxProcs: {procs}\n" + "\n".join(lines) + "\n")
    return {"mine": str(path)}


def pages(paper: str, traces: dict[str, str], folder: Path) -> str:
    (folder / paper).mkdir()
    reproduced(paper, Request(traces, True, folder / paper, lambda sentence: None))
    return (folder / paper / f"{paper}.md").read_text()


@pytest.mark.parametrize(
    ("paper", "jobs", "sentence"),
    [
        ("deadline", [(0, 60, 1)] * 29, "29 jobs of it ran for longer than 0 s, and .* at least 30"),
        ("deadline", [(0, 0, 1)] * 50, "0 jobs of it ran for longer than 0 s"),
        ("urgent", [(0, 0, 1)] * 50, "0 jobs of it ran for longer than 0 s"),
        (
            "urgent",
            [(0, 60, 1)] * 50,
            "takes 128 processors, others need some besides, and the machine has 128",
        ),
        ("locality", [(0, 60, 1)] * 50, "of its busiest 1 days, jobs of day 0.25 to 0.75 are judged"),
    ],
)
def test_logs_that_say_nothing_are_refused(
    paper: str, jobs: list[tuple[int, int, int]], sentence: str, tmp_path: Path
) -> None:
    procs = 128 if jobs[0][1] else 1024
    with pytest.raises(UsageError, match=sentence):
        pages(paper, written(tmp_path / "log.swf", jobs, procs), tmp_path)


def test_redirection_on_a_log_where_nobody_waits(tmp_path: Path) -> None:
    """Six days of seven the whole machine runs one job: busy weeks, and nothing to redirect or wait for."""
    week = 7 * 86_400
    log = written(tmp_path / "log.swf", [(number * week, 6 * 86_400, 64) for number in range(5)])
    page = pages("redirection", log, tmp_path)
    wait = (
        "| MINE: mean wait with redirection, average change | not in the paper | - | +0 % (+0 to +0); longer"
    )
    assert wait in page
    assert "| redirected jobs | 0 | - | - | - |" in page
    assert "8 without, on 1 log |" in page and "nan" not in page


def test_without_requests_nothing_is_said_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request is the run time: what users ask for cannot differ from it."""
    day = 86_400
    log = written(tmp_path / "log.swf", [(day * k // 6, day, 40 + k % 20) for k in range(180)])
    page = pages("deadline", log, tmp_path)
    assert "- MINE: the log has no requested times, so that there is no reading but exact ones.\n" in page
    assert "requested times, (a)" not in page and "| times the scheduler knows |" not in page
    assert "simulator does) | section 4.2 | all | - | - | not tested | no log has requested times |" in page
    monkeypatch.setattr(work, "QUICK", SMALL)
    page = pages("redirection", log, tmp_path)
    assert "| conflict | area | MINE |" in page and "as the users gave them" not in page
