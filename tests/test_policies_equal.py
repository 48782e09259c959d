"""The simulator against the plain references, job for job: starts, ends, kills, promises, reasons."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headway.units import SECOND
from instances import CONSERVATIVE, EASY, SPECS, STRICT, busy, by_reference, jobs_in, jobs_of, simulated
from random_examples import examples
from reference.instances import job_lists
from reference.jobs import Job
from reference.laws import stretched

M = 6
UNITS = st.sampled_from([1, 300_000, SECOND, 60 * SECOND])
"""What one unit of an instance's times is, in µs: orders with thresholds of one second see both sides."""

LISTS = job_lists(M, max_jobs=14, urgent=st.booleans())
STRICT_SPECS = tuple(spec for spec in SPECS if spec.partition("(")[0] in STRICT)


def check(jobs: list[Job], specs: tuple[str, ...], m: int = M) -> None:
    for spec in specs:
        made, expected = simulated(jobs, m, spec), by_reference(jobs, m, spec)
        if spec.startswith("conservative"):  # of a job that starts out of turn the reference says less
            for one, other in zip(made, expected, strict=True):
                assert one.why in ("immediate", "reservation", "backfill")
                other.why = one.why
        assert made == expected, spec


@pytest.mark.long
@examples(80)
@given(jobs=LISTS, unit=UNITS)
def test_strict_orders(jobs: list[Job], unit: int) -> None:
    check(stretched(jobs, unit), STRICT_SPECS)


@examples(120)
@given(jobs=LISTS, unit=UNITS)
@example(jobs=jobs_of((0, 2, 10, 10), (0, 2, 99, 0), (0, 5, 1, 1), (0, 1, 50, 50)), unit=1)
def test_easy(jobs: list[Job], unit: int) -> None:
    check(stretched(jobs, unit), EASY)


@examples(120)
@given(jobs=LISTS, unit=UNITS)
@example(
    jobs=jobs_of(
        (0, 1, 2, 2),
        (0, 2, 4, 4),
        (0, 2, 8, 8),
        (0, 2, 6, 4),
        (0, 2, 4, 4),
        (0, 1, 0, 0),
        (0, 4, 0, 0),
        (0, 1, 3, 3),
        (0, 2, 1, 1),
    ),
    unit=1,
)
def test_conservative(jobs: list[Job], unit: int) -> None:
    check(stretched(jobs, unit), CONSERVATIVE)


@examples(100)
@given(
    jobs=job_lists(M, max_jobs=8),
    order=st.sampled_from(STRICT),
    backfill=st.sampled_from(STRICT),
    estimate=st.sampled_from(["requested", "exact", "0.1", "0.5", "1", "1.1", "3"]),
    age=st.sampled_from(["none", "0", "2.5", "7"]),
    depth=st.sampled_from(["1", "2", "3", "all"]),
    urgent=st.sampled_from(["ignore", "first"]),
)
def test_easy_with_all_its_parameters(
    jobs: list[Job], order: str, backfill: str, estimate: str, age: str, depth: str, urgent: str
) -> None:
    options = f"order={order}, backfill={backfill}, estimate={estimate}, age={age}, depth={depth}"
    check(stretched(jobs, SECOND), (f"easy({options}, urgent={urgent})",))


@pytest.mark.parametrize("load", [0.8, 1.5])
@pytest.mark.parametrize("spec", SPECS)
def test_a_busy_machine(spec: str, load: float) -> None:
    """Deeper queues than small instances reach, with every structure filled, emptied and filled again."""
    check(jobs_in(busy(150, 24, load, seed=round(load * 10))), (spec,), 24)
