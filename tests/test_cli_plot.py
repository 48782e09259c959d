"""headway plot: figures of saved runs."""

from __future__ import annotations

import pytest

from commands import SWF, Headway

KINDS = ("gantt", "utilization", "queue", "distribution")


@pytest.fixture
def headway(headway: Headway) -> Headway:
    headway.write("log.swf", SWF)
    headway("compare", "log.swf", "--policy", "fcfs", "--policy", "sjf", "--out", "both")
    return headway


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_draws_one_run_and_several(headway: Headway, kind: str) -> None:
    one = headway("plot", "both/sjf", "--kind", kind, "-o", "one.svg")
    assert (one.status, one.out) == (0, f"{kind} of both/sjf written to one.svg\n")
    all_of_them = headway("plot", "both", "--kind", kind, "-o", "all.svg", "--quiet")
    assert (all_of_them.status, all_of_them.out) == (0, "")
    text = (headway.folder / "all.svg").read_text()
    assert text.count("<!-- fcfs -->") == text.count("<!-- sjf -->") == 1


def test_a_part_and_other_colours(headway: Headway) -> None:
    headway("plot", "both/fcfs", "-o", "whole.svg")
    headway("plot", "both/fcfs", "-o", "part.svg", "--from", "15", "--to", "25", "--colour", "user")
    whole, part = ((headway.folder / name).read_text() for name in ("whole.svg", "part.svg"))
    assert "<!-- head -->" in whole and "<!-- head -->" not in part


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("both", "-o", "a.svg", "--kind", "pie"), "one of gantt, utilization, queue, distribution"),
        (("both", "-o", "a.jpeg"), "must end in one of .pdf, .png, .svg"),
        (("nothing", "-o", "a.svg"), "nothing: there is no such folder"),
        (("both", "-o", "log.swf"), "log.swf exists"),
        (("both", "-o", "a.svg", "--measure", "bsld"), "--measure is for --kind distribution"),
        (("both", "-o", "a.svg", "--colour", "mood"), "one of why, size, user, queue, job"),
        (("both", "-o", "a.svg", "--from", "nan"), "from one number of seconds to another"),
        (("both", "-o", "a.svg", "--to", "inf"), "from one number of seconds to another"),
        (("both", "-o", "a.svg", "--kind", "distribution", "--from", "3"), "a distribution is of all jobs"),
    ],
)
def test_mistakes_are_one_sentence_and_write_nothing(
    headway: Headway, words: tuple[str, ...], sentence: str
) -> None:
    before = headway.files()
    result = headway("plot", *words)
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert sentence in result.err
    assert headway.files() == before
