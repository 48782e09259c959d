"""What the slides on UJFB leave open, by hand: each reading that is a parameter, and what it changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from headway import Schedule
from headway.audit import audit
from headway.errors import UsageError
from headway.explain import explain
from headway.policies.spec import parse_spec
from headway.schedule import ENDED
from headway.units import SECOND
from ujfb_by_hand import Row, pieces, run, times


def spans(made: Schedule) -> list[tuple[int, int]]:
    return [row[:2] for row in times(made)]


def with_guests(*more: Row, **columns: Any) -> Schedule:
    """1 is suspended at 2 for 2, which runs from 3 to 9 on half of its processors; 3 and 4 wait.

    3 would end at 9, when 1 can come back, and 4 at 10. 1 goes on at 10, with 18 s to go.
    """
    rows: Sequence[Row] = ((0, 4, 20, 20, 0), (2, 2, 6, 6, 1), (4, 1, 5, 5, 0), (4, 1, 6, 6, 0), *more)
    return run(*rows, **columns)


def test_idle_processors_are_kept_or_lent() -> None:
    assert spans(with_guests()) == [(0, 28), (3, 9), (28, 33), (28, 34)]
    lent = with_guests(spec="ujfb(swap=1, idle=lent)")
    assert spans(lent) == [(0, 28), (3, 9), (4, 9), (28, 34)]
    assert pieces(lent, 3) == [("running", 4, 9, "2")]
    assert times(lent)[2][2] == "backfill"


def test_a_guest_is_killed_for_an_urgent_job() -> None:
    """5 needs two processors at 6: one stands idle, the guest is on the other. It finds no time later."""
    made = with_guests((6, 2, 2, 2, 1), spec="ujfb(swap=1, idle=lent)")
    assert times(made)[4] == (6, 8, "urgent_preempt")
    assert pieces(made, 3) == [("running", 4, 6, "2"), ("running", 28, 33, "0")]
    assert (made.own["kills_for_urgent"], made.own["suspensions"]) == (1, 1)
    assert made.pieces is not None
    assert sorted(ENDED[code] for code in made.pieces.ended[made.pieces.job == 2]) == ["done", "preempted"]


def test_a_guest_may_keep_its_owner_waiting() -> None:
    """2 asks for 6 s and ends after 2, at 5: the guest has until 9, and 1 comes back then."""
    rows: Sequence[Row] = ((0, 4, 20, 20, 0), (2, 2, 6, 2, 1), (4, 1, 5, 5, 0))
    assert spans(run(*rows)) == [(0, 24), (3, 5), (24, 29)]
    assert spans(run(*rows, spec="ujfb(swap=1, idle=lent)")) == [(0, 28), (3, 5), (4, 9)]


def test_leftover_processors_are_free_at_once_or_swapped_out() -> None:
    """2 takes half of what 1 has. 3 comes a second later, while 1 is being swapped out until 5."""
    rows: Sequence[Row] = ((0, 4, 20, 20, 0), (2, 2, 4, 4, 1), (3, 2, 4, 4, 1))
    free = run(*rows, spec="ujfb(swap=3)")
    assert spans(free)[1:] == [(5, 9), (3, 7)]
    assert pieces(free, 1)[1] == ("swap_out", 2, 5, "0-1")
    whole = run(*rows, spec="ujfb(swap=3, leftover=swapped)")
    assert times(whole)[1:] == [(5, 9, "urgent_preempt"), (5, 9, "urgent")]
    assert pieces(whole, 1)[1] == ("swap_out", 2, 5, "0-3")
    assert whole.notes["preemption_delay"].tolist() == [-1, 3 * SECOND, 2 * SECOND]


def test_guests_wait_for_leftover_processors_to_be_swapped_out() -> None:
    rows: Sequence[Row] = ((0, 4, 20, 20, 0), (2, 2, 6, 6, 1), (3, 1, 5, 5, 0))
    assert spans(run(*rows, spec="ujfb(swap=3, idle=lent)"))[2] == (3, 8)
    assert spans(run(*rows, spec="ujfb(swap=3, idle=lent, leftover=swapped)"))[2] == (5, 10)


def test_urgent_jobs_are_killed_at_their_walltime_or_finish() -> None:
    """1 asks for 5 s and needs 8. At 5 it is expected to need its request again, but a minute at least.

    So 3, which comes at 6, is told 65 + 3.
    """
    rows: Sequence[Row] = ((0, 4, 5, 8, 1), (1, 4, 3, 3, 0), (6, 4, 1, 1, 0))
    killed = run(*rows)
    assert spans(killed) == [(0, 5), (5, 8), (8, 9)] and killed.killed.tolist() == [True, False, False]
    made = run(*rows, spec="ujfb(swap=1, overrun=finish)")
    assert spans(made) == [(0, 8), (8, 11), (11, 12)] and not made.killed.any()
    assert made.promise is not None and made.promise.tolist() == [-1, 5 * SECOND, 68 * SECOND]
    assert made.walltime.tolist() == [8 * SECOND, 3 * SECOND, SECOND]
    assert "request" in {law.name for law in audit(made).laws}
    other = run(*rows, spec="ujf(overrun=finish)")
    assert spans(other) == [(0, 8), (8, 11), (11, 12)] and not other.killed.any()
    assert spans(run(*rows, spec="ujf")) == [(0, 5), (5, 8), (8, 9)]


def test_the_owner_waits_for_an_urgent_job_that_goes_on() -> None:
    """2 was to end at 8 and ends at 10; 1 comes back then, and 3 cannot have been promised less."""
    rows: Sequence[Row] = ((0, 4, 20, 20, 0), (2, 2, 5, 7, 1), (3, 4, 5, 5, 0))
    made = run(*rows, spec="ujfb(swap=1, overrun=finish)")
    assert spans(made) == [(0, 29), (3, 10), (29, 34)]


def test_killed_jobs_wait_where_they_stood_or_at_the_end() -> None:
    """1 is killed at 2 for 3, which runs until 5; 2 waits since 1, and 4 comes at 3."""
    rows: Sequence[Row] = ((0, 4, 10, 10, 0), (1, 4, 5, 5, 0), (2, 4, 3, 3, 1), (3, 4, 1, 1, 0))
    assert spans(run(*rows, spec="ujfb(preempt=kill)")) == [(5, 15), (15, 20), (2, 5), (20, 21)]
    last = run(*rows, spec="ujfb(preempt=kill, requeue=end)")
    assert spans(last) == [(10, 20), (5, 10), (2, 5), (20, 21)]


def test_idle_processors_are_borrowed_last_or_first() -> None:
    """1 is suspended for 3, which takes one of its three; 2 has left the fourth processor when 4 comes.

    If 4 takes that one, 5 has to wait until 4 ends; if 4 borrows an idle one, 5 can start at once.
    """
    rows: Sequence[Row] = (
        (0, 3, 20, 20, 0),
        (0, 1, 3, 3, 0),
        (2, 1, 6, 6, 1),
        (4, 1, 4, 4, 1),
        (4, 1, 2, 2, 0),
    )
    made = run(*rows)
    assert spans(made) == [(0, 28), (0, 3), (3, 9), (4, 8), (8, 10)] and pieces(made, 4)[0][3] == "3"
    first = run(*rows, spec="ujfb(swap=1, borrow=first)")
    assert spans(first) == [(0, 28), (0, 3), (3, 9), (4, 8), (4, 6)] and pieces(first, 4)[0][3] == "1"


@pytest.mark.parametrize(("factor", "back", "end"), [("1", 11, 16), ("2", 12, 17), ("0", 10, 15)])
def test_coming_back_may_take_another_time(factor: str, back: int, end: int) -> None:
    made = run((0, 2, 20, 20, 0), (2, 2, 8, 8, 0), (5, 2, 4, 4, 1), spec=f"ujfb(swap=1, swap_in={factor})")
    found = pieces(made, 2)
    assert found[1:3] == [("swap_out", 5, 6, "2-3"), ("suspended", 6, 10, "2-3")]
    assert found[3:-1] == ([("swap_in", 10, back, "2-3")] if back > 10 else [])
    assert found[-1] == ("running", back, end, "2-3")


@pytest.mark.parametrize("spec", ["ujfb(swap=2, swap_in=1e15)", "ujfb(swap=memory, bandwidth=1e-15)"])
def test_swaps_that_take_longer_than_can_be_kept(spec: str) -> None:
    """They ran on with times that had overflowed."""
    jobs = ((0, 2, 20, 20, 0), (2, 2, 8, 8, 0), (5, 2, 4, 4, 1))
    with pytest.raises(UsageError, match="longer than can be kept; give a"):
        run(*jobs, spec=spec, memory_kb=[1000, 1000, 1000])


def test_every_reading_is_told() -> None:
    """All of them are parameters with a default, and a value that is none is refused with what exists."""
    readings = {"idle": "kept", "leftover": "free", "overrun": "kill", "requeue": "arrival", "borrow": "last"}
    params = parse_spec("ujfb").params
    assert {name: params[name] for name in readings} == readings and params["swap_in"] == 1
    with pytest.raises(UsageError, match="kept or lent"):
        parse_spec("ujfb(idle=given)")


def test_guests_are_explained() -> None:
    made = with_guests(spec="ujfb(swap=1, idle=lent)")
    owner = explain(made, 1).text(1000)
    assert "It kept its processors (0-3): job 3 was a guest on some of them meanwhile" in owner
    guest = explain(made, 3).text(1000)
    assert "It was a guest on processors of job 1, which was suspended" in guest
