"""The ledger adds up, and the workload holds it to that."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from headway.errors import InputError
from headway.workload import Ledger, LedgerEntry, Workload


def five_jobs() -> Workload:
    return Workload.from_arrays(
        unit="s", submit=[0, 1, 2, 3, 4], procs=[1, 2, 4, 8, 16], runtime=[5] * 5, user=[1, 1, 2, 2, 3]
    )


def test_an_entry_counts_all_and_lists_twenty() -> None:
    entry = LedgerEntry.of("no_procs", "no processors: dropped", np.arange(100), dropped=True)
    assert (entry.count, entry.jobs) == (100, tuple(range(20)))
    assert entry.every is not None and len(entry.every) == 100
    assert LedgerEntry.of("procs", "taken", [4], dropped=False).every is None


def test_dropped_and_kept_make_the_total() -> None:
    ledger = Ledger(10).with_entries(
        LedgerEntry.of("no_procs", "dropped", [3, 4], dropped=True),
        LedgerEntry.of("overrun", "killed", [1, 2, 5], dropped=False),
        LedgerEntry.of("no_submit", "dropped", [], dropped=True),
        LedgerEntry.of("cancelled", "dropped", [9], dropped=True),
    )
    assert (ledger.total, ledger.kept, ledger.dropped) == (10, 7, 3)
    assert ledger.dropped_jobs().tolist() == [3, 4, 9]
    assert [entry.rule for entry in ledger] == ["no_procs", "overrun", "cancelled"]
    found = ledger.why_dropped(9)
    assert found is not None and found.rule == "cancelled"
    assert ledger.why_dropped(1) is None
    twice = LedgerEntry.of("duplicates", "dropped", [9], dropped=True)
    assert Ledger(10, (twice, *ledger)).why_dropped(9) is found
    saved = Ledger(10, (LedgerEntry("cancelled", "dropped", 1, (9,), dropped=True),))
    assert saved.why_dropped(9) is saved.entries[0] and saved.why_dropped(8) is None
    assert ledger.rows()[0] == {"rule": "no_procs", "action": "dropped", "count": 2, "jobs": [3, 4]}


def test_a_workload_refuses_a_ledger_that_does_not_add_up() -> None:
    with pytest.raises(ValueError, match="keeps 4 jobs, the columns hold 5"):
        five_jobs().with_ledger(Ledger(4))


def test_rows_left_out_are_in_the_ledger() -> None:
    chosen = five_jobs().select(
        np.array([True, False, True, True, False]), rule="week", action="outside the week"
    )
    assert chosen.job.tolist() == [1, 3, 4]
    (entry,) = chosen.ledger
    assert (entry.rule, entry.count, entry.jobs, entry.dropped) == ("week", 2, (2, 5), True)
    reordered = five_jobs().select([4, 0, 2])
    assert reordered.job.tolist() == [5, 1, 3]
    assert reordered.ledger.why_dropped(2) is not None
    assert len(five_jobs().select([]).ledger.dropped_jobs()) == 5
    everything = five_jobs().select(np.ones(5, dtype=bool), transformation="all of them")
    assert (len(everything.ledger), everything.transformations) == (0, ("all of them",))
    with pytest.raises(ValueError, match="each row at most once"):
        five_jobs().select([1, 1])


def test_jobs_larger_than_the_machine() -> None:
    fitted = five_jobs().fit_to(8)
    assert fitted.procs.tolist() == [1, 2, 4, 8]
    (entry,) = fitted.ledger
    assert (entry.rule, entry.jobs) == ("too_large", (5,))
    assert "8" in entry.action
    assert len(five_jobs().fit_to(16).ledger) == 0
    with pytest.raises(InputError, match=r"job 5 needs 16 processors .* has 8; .*too_large=drop"):
        five_jobs().fit_to(8, "error")


def test_the_rule_chosen_at_reading_holds_for_the_machine() -> None:
    jobs = five_jobs()
    strict = Workload(jobs.columns, rules={"too_large": "error"})
    with pytest.raises(InputError, match="job 4 needs 8"):
        strict.fit_to(4)
    assert len(strict.fit_to(4, "drop")) == 3


def test_columns_cannot_be_changed_in_place() -> None:
    jobs = five_jobs()
    with pytest.raises(ValueError, match="read-only"):
        jobs.submit[0] = 7
    with pytest.raises(TypeError):
        jobs.columns["submit"] = jobs.submit  # type: ignore[index]
    again = pickle.loads(pickle.dumps(jobs.fit_to(8)))
    assert again.submit.tolist() == jobs.submit[:4].tolist()
    assert again.ledger == jobs.fit_to(8).ledger
    with pytest.raises(ValueError, match="read-only"):
        again.submit[0] = 7


def test_columns_are_checked_and_found_by_name() -> None:
    jobs = five_jobs()
    assert jobs.walltime.tolist() == [5_000_000] * 5
    assert jobs.queue.tolist() == [-1] * 5
    assert jobs.get("deadline") is None and "deadline" not in jobs
    with pytest.raises(AttributeError, match="no column 'deadline'"):
        _ = jobs.deadline
    later = jobs.with_columns(deadline=[-1, 7, -1, -1, -1], transformation="deadlines")
    assert later.deadline.tolist() == [-1, 7, -1, -1, -1]
    assert (later.transformations, jobs.transformations) == (("deadlines",), ())
    with pytest.raises(ValueError, match="unequal length: deadline"):
        jobs.with_columns(deadline=[1, 2])
    with pytest.raises(ValueError, match="procs holds values that are not int64"):
        jobs.with_columns(procs=[1.5] * 5)
    with pytest.raises(ValueError, match="needs the columns procs"):
        Workload({name: column for name, column in jobs.columns.items() if name != "procs"})


def test_times_of_arrays_are_in_the_unit_named() -> None:
    seconds = Workload.from_arrays(
        unit="s", submit=[0.1, 2], procs=[1, 1], runtime=[1, 2], deadline=[-1, 3.5]
    )
    micro = Workload.from_arrays(
        unit="us",
        submit=[100_000, 2_000_000],
        procs=[1, 1],
        runtime=[10**6, 2 * 10**6],
        deadline=[-1, 3_500_000],
    )
    for name, column in micro.columns.items():
        assert np.array_equal(column, seconds.columns[name]), name
