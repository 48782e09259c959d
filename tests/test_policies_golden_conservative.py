"""Conservative backfilling on instances worked by hand: starts, reasons, promises in every mode."""

from __future__ import annotations

import pytest

from headway.errors import UsageError
from headway.units import SECOND
from instances import MODES, jobs_of, promises, simulated, starts, whys


@pytest.mark.parametrize("mode", MODES)
def test_everybody_gets_a_place_on_arrival(mode: str) -> None:
    # 4 processors, all as asked. A (3) 0-10. B (4, 5 s): 10. C (2, 5 s): not beside A, nor beside B: 15.
    # D (1, 7 s, sent at 3): beside A until 10 exactly. E (2, 9 s, sent at 4): beside C: 15. F (1, 1 s) at 5:
    # D holds the last processor until 10, B all until 15, C and E all four until 20: 20.
    jobs = jobs_of((0, 3, 10, 10), (1, 4, 5, 5), (2, 2, 5, 5), (3, 1, 7, 7), (4, 2, 9, 9), (5, 1, 1, 1))
    results = simulated(jobs, 4, f"conservative(compress={mode})")
    assert starts(results) == [0, 10, 15, 3, 15, 20]
    assert promises(results) == [0, 10, 15, 3, 15, 20]
    # D started at once, but out of turn: B and C were waiting. C is head when it starts, then E is.
    assert whys(results) == ["immediate", *["reservation"] * 2, "backfill", *["reservation"] * 2]


@pytest.mark.parametrize("mode", MODES)
def test_compression_after_an_early_end(mode: str) -> None:
    # 4 processors. A (3) asks 10 and ends at 6. B (4, 5 s): 10. C (2, 5 s): 15. D (1, sent at 3) asks 7 and
    # ends at 5. At 5 nothing can move: A is expected until 10. At 6 all is free: B 6-11, C 11.
    # E (2, 3 s, sent at 7): beside C, 11. Without compression B stays at 10, and E finds 7-10 free.
    jobs = jobs_of((0, 3, 10, 6), (1, 4, 5, 5), (2, 2, 5, 5), (3, 1, 7, 2), (7, 2, 3, 3))
    results = simulated(jobs, 4, f"conservative(compress={mode})")
    if mode == "none":
        assert starts(results) == [0, 10, 15, 3, 7]
        assert promises(results) == [0, 10, 15, 3, 7]
        assert whys(results) == ["immediate", "reservation", "reservation", "backfill", "backfill"]
    else:
        assert starts(results) == [0, 6, 11, 3, 11]
        assert promises(results) == [0, 10, 15, 3, 11]
        assert whys(results) == ["immediate", "reservation", "reservation", "backfill", "reservation"]


# 3 processors. A (2) asks 10, F (1) asks 14, both end at 5. E (3, 6 s, sent at 1): 14. B (2, 4 s, sent at 2):
# 10-14, after A and beside F. The sweep at 5: E would need 5-11 and meets B at 10, so it stays; B moves to 5.
LEFTOVER = ((0, 2, 10, 5), (0, 1, 14, 5), (1, 3, 6, 6), (2, 2, 4, 4))


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        # B ends at 9 as expected: no second sweep, E stays at 14.
        ("early", [0, 0, 14, 5]),
        # The sweep after B's end moves E to 9.
        ("every", [0, 0, 9, 5]),
        # The second sweep at 5 moves E to 9, behind B.
        ("fixpoint", [0, 0, 9, 5]),
        # Placed anew in queue order: E 5-11, then B at 11, later than the 10 it was told.
        ("scratch", [0, 0, 5, 11]),
        ("none", [0, 0, 14, 10]),
    ],
)
def test_what_one_sweep_leaves(mode: str, expected: list[int]) -> None:
    results = simulated(jobs_of(*LEFTOVER), 3, f"conservative(compress={mode})")
    assert starts(results) == expected
    assert promises(results) == [0, 0, 14, 10]


@pytest.mark.parametrize(
    ("mode", "expected", "promised"),
    [
        # With G (1, 8 s, sent at 6). E still holds 14: G fits exactly before it, 6-14, and E keeps 14.
        ("early", [0, 0, 14, 5, 6], 6),
        ("every", [0, 0, 14, 5, 6], 6),
        # E has moved to 9-15 already: G is behind it.
        ("fixpoint", [0, 0, 9, 5, 15], 15),
        # E 5-11, B 11-15 on two: G beside B at 11.
        ("scratch", [0, 0, 5, 11, 11], 11),
        # B 10-14, E 14: G 6-14.
        ("none", [0, 0, 14, 10, 6], 6),
    ],
)
def test_who_finds_the_hole(mode: str, expected: list[int], promised: int) -> None:
    results = simulated(jobs_of(*LEFTOVER, (6, 1, 8, 8)), 3, f"conservative(compress={mode})")
    assert starts(results) == expected
    assert promises(results) == [0, 0, 14, 10, promised]


@pytest.mark.parametrize("mode", MODES)
def test_a_hole_of_exactly_the_length(mode: str) -> None:
    # 4 processors. A (3) 0-10, B (4) 10-15; C (1, 10 s) fits the hole 0-10 exactly, D (1, 9 s) has room.
    exact = jobs_of((0, 3, 10, 10), (0, 4, 5, 5), (0, 1, 10, 10))
    shorter = jobs_of((0, 3, 10, 10), (0, 4, 5, 5), (0, 1, 9, 9))
    for hole, jobs, expected in (
        ("closed", exact, [0, 10, 0]),
        ("open", exact, [0, 10, 15]),
        ("closed", shorter, [0, 10, 0]),
        ("open", shorter, [0, 10, 0]),
    ):
        results = simulated(jobs, 4, f"conservative(compress={mode}, hole={hole})")
        assert starts(results) == expected
        assert promises(results) == expected


@pytest.mark.parametrize(
    ("options", "expected", "promised"),
    [
        # 4 processors, every job takes all. A asks 10 and ends at 8. B (5 s, sent at 1): 10. U (5 s, urgent,
        # sent at 2): 15.
        ("compress=early", [0, 8, 13], [0, 10, 15]),  # the sweep at 8: B 8, U 13
        # Urgent first: U is swept first and meets B at 10; then B moves to 8; U has had its turn.
        ("compress=early, urgent=first", [0, 8, 15], [0, 10, 15]),
        # ... but B's end at 13 brings another sweep.
        ("compress=every, urgent=first", [0, 8, 13], [0, 10, 15]),
        ("compress=fixpoint, urgent=first", [0, 8, 13], [0, 10, 15]),
        ("compress=none, urgent=first", [0, 10, 15], [0, 10, 15]),
        # From scratch U is placed before B when it arrives (told 10), and again at 8: U 8-13, B 13.
        ("compress=scratch, urgent=first", [0, 13, 8], [0, 10, 10]),
        ("compress=scratch", [0, 8, 13], [0, 10, 15]),
    ],
)
def test_urgent(options: str, expected: list[int], promised: list[int]) -> None:
    jobs = jobs_of((0, 4, 10, 8), (1, 4, 5, 5), (2, 4, 5, 5), urgent=[2])
    results = simulated(jobs, 4, f"conservative({options})")
    assert starts(results) == expected
    assert promises(results) == promised


@pytest.mark.parametrize("mode", MODES)
def test_a_kill_is_no_early_end(mode: str) -> None:
    # A asks 5 and is killed then, when B was told to start.
    results = simulated(jobs_of((0, 4, 5, 9), (0, 4, 3, 3)), 4, f"conservative(compress={mode})")
    assert [(r.start / SECOND, r.end / SECOND, r.killed) for r in results] == [(0, 5, True), (5, 8, False)]


@pytest.mark.parametrize("mode", MODES)
def test_a_reserved_job_of_no_length_keeps_its_instant(mode: str) -> None:
    # 4 processors. A (2) 0-10, Z (4, no length): 10. J (2, 20 s) fits beside A but not across Z: 10, in the
    # turn after Z.
    jobs = jobs_of((0, 2, 10, 10), (1, 4, 0, 0), (2, 2, 20, 20))
    results = simulated(jobs, 4, f"conservative(compress={mode})")
    assert starts(results) == [0, 10, 10]
    assert promises(results) == [0, 10, 10]


@pytest.mark.parametrize("mode", MODES)
def test_jobs_of_no_length_take_turns(mode: str) -> None:
    # 4 processors, all at 0: A (4, no length), B (4, asks 6, needs nothing), C (4, 5 s).
    # A is told 0; B is told 0, since A holds nothing; C is told 6. B ends at once, early: C moves to 0,
    # unless nothing moves.
    jobs = jobs_of((0, 4, 0, 0), (0, 4, 6, 0), (0, 4, 5, 5))
    results = simulated(jobs, 4, f"conservative(compress={mode})")
    assert starts(results) == [0, 0, 6 if mode == "none" else 0]
    assert promises(results) == [0, 0, 6]


def test_estimates_that_nobody_outlives() -> None:
    # Planned with real run times every job ends as planned: the same as if everybody had asked for them. A
    # request times two is the same as if everybody had asked for twice as much, and promises tell it.
    rows = [(0, 3, 10, 6), (1, 4, 5, 5), (2, 2, 5, 2), (3, 1, 7, 2), (4, 2, 9, 9), (7, 2, 3, 3)]
    as_it_runs = [(submit, procs, run, run) for submit, procs, _, run in rows]
    doubled = [(submit, procs, 2 * request, run) for submit, procs, request, run in rows]
    for estimate, other in (("exact", as_it_runs), ("2", doubled)):
        made = simulated(jobs_of(*rows), 4, f"conservative(estimate={estimate})")
        alike = simulated(jobs_of(*other), 4, "conservative")
        assert (starts(made), promises(made)) == (starts(alike), promises(alike)), estimate
    # 4 processors. A ends at 6, as B (4) and C, beside nobody, know: B 6, C 11. D (1) is beside A, from 3 on.
    made = simulated(jobs_of(*rows[:4]), 4, "conservative(estimate=exact)")
    assert starts(made) == promises(made) == [0, 6, 11, 3]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("conservative(estimate=0.5)", "at least 1, not 0.5: a job that outlives its estimate would break"),
        ("conservative(estimate=average2)", r"would break the promises made to others; easy\(estimate"),
        ("redirection(principal=conservative(estimate=exact))", "cannot be in a group of redirection"),
    ],
)
def test_estimates_that_would_break_promises_are_refused(spec: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        simulated(jobs_of((0, 1, 1, 1)), 4, spec)
