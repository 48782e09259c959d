"""Redirection against its reference, job for job: runs, kills, groups, reasons, promises; and its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from headway.engine.tables import State, Table
from headway.policies.redirection.tables import Newcomers, RedirectionJobs
from headway.policies.spec import parse_spec
from headway.schedule import ENDED, WHY
from headway.units import SECOND
from instances import busy, jobs_in, log_of
from random_examples import examples
from redirection_reference import GROUPS, check, tried
from reference.instances import job_lists
from reference.jobs import Job
from reference.laws import stretched
from reference.redirection import CONFLICTS, FILTERS

M = 4
REDIRECTED = WHY.index("redirected")
PARAMETERS = st.fixed_dictionaries(
    {
        "theta": st.sampled_from(["0", "0", "1", "2", "3", "inf"]),
        "filter": st.sampled_from(sorted(FILTERS)),
        "conflict": st.sampled_from(sorted(CONFLICTS)),
    }
)
SIZES = st.one_of(
    st.integers(0, 4).map(lambda n: {"group": str(n)}),
    st.tuples(st.sampled_from(["0.25", "0.5", "0.7"]), st.sampled_from(["added", "share", "split"])).map(
        lambda pair: {"alpha": pair[0], "size": pair[1]}
    ),
)


def spec_of(*parts: dict[str, str]) -> str:
    return f"redirection({', '.join(f'{key}={value}' for part in parts for key, value in part.items())})"


@pytest.mark.long
@examples(150)
@given(jobs=job_lists(M, max_jobs=14), parameters=PARAMETERS, sizes=SIZES)
def test_easy_in_both_groups(jobs: list[Job], parameters: dict[str, str], sizes: dict[str, str]) -> None:
    check(jobs, M, spec_of(parameters, sizes))


@pytest.mark.long
@pytest.mark.parametrize("principal", GROUPS)
@examples(25)
@given(
    jobs=job_lists(M, max_jobs=14, urgent=st.booleans()),
    parameters=PARAMETERS,
    group=st.integers(1, 4),
    draw=st.data(),
)
def test_any_two_policies(
    principal: str, jobs: list[Job], parameters: dict[str, str], group: int, draw: st.DataObject
) -> None:
    partners = [each for each in (*GROUPS, "dbf") if tried(principal, each)]
    redirected = draw.draw(st.sampled_from(partners))
    groups = {"group": str(group), "principal": principal, "redirected": redirected}
    check(stretched(jobs, SECOND), M, spec_of(parameters, groups))


@pytest.mark.long
@pytest.mark.parametrize("redirected", GROUPS)
@examples(25)
@given(jobs=job_lists(3, max_jobs=20, horizon=30, urgent=st.booleans()), theta=st.integers(0, 1))
def test_every_policy_of_a_busy_second_group(redirected: str, jobs: list[Job], theta: int) -> None:
    principal = next(each for each in ("easy", "fcfs", "easy(depth=2)", "dbf") if tried(each, redirected))
    groups = f"filter=none, principal={principal}, redirected={redirected}"
    check(stretched(jobs, SECOND), M, f"redirection(theta={theta}, group=3, {groups})")


@pytest.mark.parametrize("conflict", sorted(CONFLICTS))
@pytest.mark.parametrize("groups", ["", ", redirected=conservative", ", principal=sjf"])
def test_a_busy_machine(conflict: str, groups: str) -> None:
    """Deeper queues than small instances reach; many redirections."""
    wl = busy(150, 24, 1.2, seed=5)
    columns = zip(wl.job, wl.submit, wl.procs, wl.walltime, wl.runtime, strict=True)
    jobs = [Job(int(i), int(r), int(q), int(w), int(p)) for i, r, q, w, p in columns]
    schedule, _ = check(jobs, 24, f"redirection(theta=2, alpha=0.5, conflict={conflict}{groups})")
    assert int(str(schedule.own["redirections"])) >= 5


@examples(60)
@given(jobs=job_lists(M, max_jobs=14), theta=st.integers(0, 3), group=st.integers(0, 4))
def test_laws(jobs: list[Job], theta: int, group: int) -> None:
    """R1 to R4 straight from the schedule."""
    schedule = headway.simulate(log_of(jobs), M, f"redirection(theta={theta}, group={group})")
    if schedule.pieces is None:
        assert schedule.own["redirections"] == 0 and not (schedule.why == REDIRECTED).any()
        return
    lost = schedule.pieces.ended == ENDED.index("redirected")
    victims, kills = schedule.pieces.job[lost], schedule.pieces.end[lost]
    assert len(set(victims.tolist())) == len(victims) == schedule.own["redirections"]
    assert (schedule.procs[victims] <= group).all()
    assert len(set(kills.tolist())) == len(kills)
    assert set(kills.tolist()) <= set(schedule.submit.tolist())
    assert (schedule.why[victims] == REDIRECTED).all() and (schedule.start[victims] >= kills).all()
    held = {0: [], 1: []}  # type: dict[int, list[tuple[int, int, int]]]
    for row in range(len(schedule)):
        assert schedule.group is not None
        held[int(schedule.group[row])].append((schedule.start[row], schedule.end[row], schedule.procs[row]))
    held[0] += list(zip(schedule.pieces.start[lost], kills, schedule.procs[victims], strict=True))
    for code, size in ((0, M), (1, group)):
        for x, _, _ in held[code]:
            assert sum(q for s, e, q in held[code] if s <= x < e) <= size


@examples(80)
@given(jobs=job_lists(M, max_jobs=14))
def test_no_redirection_is_easy(jobs: list[Job]) -> None:
    """R5: theta infinite, or no group: EASY on m, in every column."""
    easy = headway.simulate(log_of(jobs), M, "easy")
    for spec in ("redirection(theta=inf, group=4)", "redirection(theta=0, group=0)"):
        other = headway.simulate(log_of(jobs), M, spec)
        for name in ("start", "end", "killed"):
            assert np.array_equal(getattr(easy, name), getattr(other, name)), name


@examples(60)
@given(
    jobs=job_lists(M, max_jobs=14, deadline=st.one_of(st.none(), st.integers(0, 50))),
    theta=st.integers(0, 3),
    filter=st.sampled_from(sorted(FILTERS)),
    pair=st.sampled_from([("easy", "easy"), ("conservative", "dbf"), ("dbf(late=refuse)", "dbf")]),
)
def test_counters(jobs: list[Job], theta: int, filter: str, pair: tuple[str, str]) -> None:
    """R6 and R7, instant by instant: 0 after a redirection; an arrival adds at most the number that run."""
    from headway.engine.clock import one_step
    from headway.engine.compiled import compiled_hook
    from headway.engine.setup import Jobs, grow, make_state
    from headway.engine.tables import Step
    from headway.policies.prepare import Arrivals

    jobs = sorted(jobs, key=lambda job: job.submit)
    wl = log_of(jobs)
    length = np.minimum(wl.runtime, wl.walltime)
    text = f"redirection(theta={theta}, group=3, filter={filter}, principal={pair[0]}, redirected={pair[1]})"
    deadline = np.array([-1 if job.deadline is None else job.deadline for job in jobs], np.int64)
    arrivals = Arrivals(wl.submit, wl.procs, wl.walltime, length, {"deadline": deadline})
    prepared = parse_spec(text).policy.prepare(arrivals, M)
    hook = compiled_hook(prepared.setup.hook, prepared.setup.memory)
    state, world = make_state(
        Jobs(wl.submit, wl.procs, wl.walltime, wl.runtime, prepared.plan), prepared.setup
    )
    while (code := one_step(state, world)) != Step.FINISH:
        if code == Step.GROW:
            state, world = grow(state, world)
            continue
        assert code == Step.PASS
        before, redirections = counters(state), state.memory.notes.redirections
        hook(int(state.clock.now), state)
        newcomers = state.clock.last_new - state.clock.first_new
        assert (counters(state) <= theta).all()
        if state.memory.notes.redirections > redirections:
            assert not counters(state).any()
        else:
            # Counters of jobs that ended are gone; at most M jobs run, and each arrival adds one to each.
            assert counters(state).sum() <= before.sum() + newcomers * M


@pytest.mark.parametrize("filter", sorted(FILTERS))
@pytest.mark.parametrize("theta", [5, 9, 20])
def test_many_newcomers_before_a_redirection(theta: int, filter: str) -> None:
    """Newcomers are counted in batches, which a small theta never fills."""
    for seed in (1, 2):
        jobs = jobs_in(busy(60, M, load=1.6, seed=seed))
        check(jobs, M, f"redirection(theta={theta}, group=3, filter={filter})")


@pytest.mark.long
@pytest.mark.parametrize(
    "pair", [("easy(estimate=0.5)", "easy(depth=2)"), ("easy(depth=2, estimate=0.5)", "easy(estimate=0.5)")]
)
def test_jobs_that_outlive_their_estimate_beside_a_deep_queue(pair: tuple[str, str]) -> None:
    """One group keeps running jobs' ends in a list and the other in a profile: each corrects its own."""
    for seed in range(12):
        jobs = jobs_in(busy(40, M, load=1.4, seed=seed))
        check(jobs, M, f"redirection(theta=2, group=3, principal={pair[0]}, redirected={pair[1]})")


def counters(state: State) -> Table:
    """The counters, with the newcomers that are not in them yet."""
    jobs = RedirectionJobs(state.jobs)
    notes = state.memory.notes
    watched, groups = slice(notes.watched), Newcomers(state.memory.newcomers[:, : notes.groups])
    newcomers = np.repeat(groups.measure, groups.number)
    assert len(newcomers) == notes.uncounted
    counted_against = jobs.measure[watched][:, None] >= newcomers
    return np.asarray(jobs.counter[watched] + counted_against.sum(axis=1))
