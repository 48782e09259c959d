"""Forecasts of starts: true where everything is known, blind to the future, and honest about chances."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import headway
from commands import Headway
from headway.errors import UsageError
from headway.forecast import LEVELS, Correction, Instant, Outlook, Present, Record, check, present, scores
from headway.forecast.advice import advice, sign_of, truly
from headway.forecast.answer import Question, alternatives, answer, longer, of_job, sign_is_sure
from headway.forecast.arrivals import FADING, Arrivals
from headway.forecast.forward import Forward, Future
from headway.forecast.pools import Kind, Pools, doublings, keys_of
from headway.forecast.qbets import SHORTEST, History, place_of_bound
from headway.forecast.run_times import DOUBT, RunTimes
from headway.forecast.scores import intervals, shared_coverage, unsure
from headway.forecast.waits import DOUBT as OF_OTHERS
from headway.forecast.waits import Waits
from headway.units import DAY, HOUR, NEVER, SECOND, WEEK
from headway.workload import Workload, write_swf

PROCS = 32


def busy(jobs: int = 900, seed: int = 5, days: float = 21) -> Workload:
    """Jobs of some users on a busy machine of 32 processors; users repeat themselves."""
    rng = np.random.default_rng(seed)
    user = rng.integers(0, 8, jobs)
    procs = 2 ** rng.integers(0, 5, jobs)
    walltime = rng.choice([1800, 3600, 14400, 43200], jobs)
    habit = rng.uniform(0.1, 0.9, 8)[user]
    runtime = np.maximum(1, walltime * np.minimum(1, habit * rng.uniform(0.5, 1.5, jobs)))
    submit = np.sort(rng.integers(0, int(days * 86400), jobs))
    return Workload.from_arrays(
        unit="s", submit=submit, procs=procs, walltime=walltime, runtime=runtime.astype(np.int64), user=user
    )


@pytest.fixture(scope="module")
def record() -> Record:
    return Record.of(headway.simulate(busy(), PROCS, "easy"))


@pytest.mark.parametrize("policy", ["easy", "easy(backfill=sjf)", "sjf", "easy(order=lxf)", "fcfs"])
def test_with_true_run_times_and_arrivals_the_start_is_the_schedules_own(policy: str) -> None:
    record = Record.of(headway.simulate(busy(300, days=6), PROCS, policy))
    forward, _ = Forward.of(record, policy)
    ran = np.asarray(record.end - record.start)
    waited = np.flatnonzero(record.start > record.workload.submit)
    assert len(waited) > 40
    for row in waited[:: len(waited) // 25].tolist():
        now = int(record.workload.submit[row])
        begin = forward.begin(Instant.of(record, now, row))
        later = record.order[int(record.rank[row]) + 1 :]
        when = record.workload.submit[later]
        come, at = later[when > now], when[when > now]
        found = begin.start_of(row, Future(ran[begin.rows], come, at, ran[come]))
        if not (when == now).any():
            assert found == record.start[row]


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_futures_side_by_side_are_those_one_after_the_other(
    record: Record, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outlook = Outlook(record, policy)
    waited = np.flatnonzero(record.start > record.workload.submit)
    for row in waited[:: len(waited) // 3].tolist():
        starts = []
        for at_once in (1, 3):
            monkeypatch.setattr(Forward, "side_by_side", at_once)
            starts.append(outlook.of_row(row, draws=30).starts)
        assert len(set(starts[0].tolist())) > 1 or (starts[0] == record.workload.submit[row]).all()
        np.testing.assert_array_equal(starts[0], starts[1])


def scrambled(record: Record, now: int, seed: int) -> Record:
    """The same past and another future: arrivals, sizes, run times, starts, ends and their order."""
    rng = np.random.default_rng(seed)
    work = record.workload
    future = np.flatnonzero(work.submit > now)
    columns = {name: column.copy() for name, column in work.columns.items()}
    for name in ("procs", "walltime", "runtime", "user"):
        columns[name][future] = rng.permutation(columns[name][future])
    columns["submit"][future] = now + rng.integers(1, 30 * DAY, len(future))
    start, end = record.start.copy(), record.end.copy()
    runs = end > now
    columns["runtime"][runs] = rng.integers(1, 10**12, int(runs.sum()))
    end[runs] = now + rng.integers(1, 10**12, int(runs.sum()))
    waits = start >= now
    start[waits] = now + rng.integers(0, 10**12, int(waits.sum()))
    rows = np.concatenate([np.flatnonzero(work.submit <= now), rng.permutation(future)])
    return replace(
        record,
        workload=Workload({name: column[rows] for name, column in columns.items()}, header=work.header),
        start=start[rows],
        end=end[rows],
    )


def test_a_forecast_is_the_same_whatever_comes_after_its_instant(record: Record) -> None:
    waited = np.flatnonzero(record.start > record.workload.submit)
    row = int(waited[len(waited) * 2 // 3])
    now, job = int(record.workload.submit[row]), int(record.workload.job[row])
    asked = Question(8, 3600 * SECOND)
    before = answer(
        Outlook(record, "easy"), now, asked, draws=20, teachers=25, others=alternatives(asked)[:1]
    )
    own = Outlook(record, "easy").of_row(row, draws=20)
    assert len(set(own.starts.tolist())) > 3
    for seed in (1, 2):
        other = scrambled(record, now, seed)
        after = answer(
            Outlook(other, "easy"), now, asked, draws=20, teachers=25, others=alternatives(asked)[:1]
        )
        assert before.taught == after.taught > 20
        assert np.array_equal(before.main.quantiles, after.main.quantiles)
        assert np.array_equal(before.main.forecast.starts, after.main.forecast.starts)
        for one, two in zip(before.others, after.others, strict=True):
            assert np.array_equal(one.starts, two.starts)
        same = Outlook(other, "easy").of_row(other.row_of(job), draws=20)
        assert np.array_equal(own.starts, same.starts) and np.array_equal(own.run_times, same.run_times)
        assert own.plan == same.plan


def test_too_few_past_forecasts_correct_nothing(record: Record) -> None:
    now, asked = int(record.workload.submit[len(record.workload) // 2]), Question(8, 3600 * SECOND)
    few, none = (answer(Outlook(record, "easy"), now, asked, draws=20, teachers=n) for n in (10, 0))
    assert few.taught == none.taught == 0
    assert np.array_equal(few.main.quantiles, none.main.quantiles)


def test_doublings_are_binary_digits() -> None:
    numbers = [0, 1, 2, 3, 4, 7, 8, 1023, 1024, 2**40 - 1, 2**40, 2**62]
    assert doublings(np.array(numbers)).tolist() == [number.bit_length() for number in numbers]


def test_pools_keep_the_last_values_of_each_kind() -> None:
    """In whatever portions they come, as if they came one by one."""
    rng, pools = np.random.default_rng(4), Pools((3, 20))
    plain: list[dict[tuple[int, ...], list[float]]] = [{}, {}]
    for count in (0, 1, 40, 7, 300):
        one, two = rng.integers(-1, 4, count), rng.integers(0, 3, count)
        values = rng.random(count)
        kinds = [Kind((one, two), one >= 0), Kind((), np.ones(count, np.bool_))]
        pools.add(kinds, values)
        keys = keys_of(kinds)
        assert keys == [
            ((a, b) if a >= 0 else None, ()) for a, b in zip(one.tolist(), two.tolist(), strict=True)
        ]
        for row, value in zip(keys, values.tolist(), strict=True):
            for known, key, kept in zip(plain, row, (3, 20), strict=True):
                if key is not None:
                    known[key] = [*known.get(key, []), value][-kept:]
        for row in keys:
            found = [[*pool] for pool in pools.of(row)]
            assert found == [
                known[key] if key is not None else [] for known, key in zip(plain, row, strict=True)
            ]


def test_a_run_without_length_is_learned_when_its_instant_is_over() -> None:
    work = Workload.from_arrays(
        unit="s", submit=[0, 10, 10], procs=[1] * 3, runtime=[10, 0, 30], walltime=[20] * 3
    )
    start = np.array([0, 10, 10]) * SECOND
    record = Record(work, headway.Platform.procs(4), start, start + np.minimum(work.runtime, work.walltime))
    run_times = RunTimes(record)
    for now, known in ((10, [0.5]), (11, [0.5, 0.0]), (30, [0.5, 0.0, 1.0]), (10, [0.5])):
        run_times.learn(now * SECOND)
        assert [*run_times._pools.of((None,) * 5 + ((),))[5]] == known


def test_the_queue_at_an_instant() -> None:
    work = Workload.from_arrays(
        unit="s", submit=[0, 5, 10, 10, 20], procs=[1] * 5, runtime=[10, 50, 50, 50, 5]
    )
    start = np.array([0, 5, 15, 10, 20]) * SECOND
    record = Record(work, headway.Platform.procs(4), start, start + work.runtime)
    at = Instant.of(record, 10 * SECOND)
    assert at.running.tolist() == [1]  # the first has ended at 10, the fourth starts only now
    assert at.waiting.tolist() == [2, 3]
    assert at.elapsed.tolist() == [5 * SECOND]
    assert Instant.of(record, 10 * SECOND, newest=2).waiting.tolist() == [2]
    at_once = Record(
        work, headway.Platform.procs(4), start, np.where(work.job == work.job[3], start, record.end)
    )
    assert Instant.of(at_once, 10 * SECOND).waiting.tolist() == [2, 3]  # also a job of no length


def test_run_times_mix_the_kinds_as_specified() -> None:
    work = Workload.from_arrays(
        unit="s", submit=[0, 1, 2, 3], procs=[2, 2, 4, 2], walltime=[100, 100, 100, 100],
        runtime=[50, 60, 20, 90], user=[1, 1, 1, 1],
    )  # fmt: skip
    start = work.submit.copy()
    record = Record(work, headway.Platform.procs(16), start, start + work.runtime)
    times = RunTimes(record)
    times.learn(70 * SECOND)  # the last job still runs
    shares, total = times.mixture(3)
    assert shares.tolist() == sorted([1.0, 0.5, 0.6, *2 * [0.2, 0.5, 0.6], 0.2, 0.5, 0.6])
    like, user = 2 / (2 + DOUBT), 3 / (3 + DOUBT)
    rest = (1 - like) * (1 - user)
    twenty = (1 - like) * user / 3 + rest * user / 3 + rest * (1 - user) * user / 3
    assert total[2] == pytest.approx(twenty)  # of the three 0.2: user, request, everybody
    assert 1 - total[-2] == pytest.approx(rest * (1 - user) ** 2)  # the whole request


def test_draws_last_longer_than_what_has_elapsed_and_no_longer_than_the_request(record: Record) -> None:
    times = RunTimes(record)
    times.learn(10 * DAY)
    rows = np.flatnonzero(record.workload.submit > 10 * DAY)[:60]
    elapsed = (record.workload.walltime[rows] * np.linspace(0, 0.99, 60)).astype(np.int64)
    drawn = times.draw(rows, elapsed, 50, np.random.default_rng(0))
    assert (drawn > elapsed).all() and (drawn <= record.workload.walltime[rows]).all()
    beyond = times.draw(rows[:1], record.workload.walltime[rows[:1]] + SECOND, 50, np.random.default_rng(0))
    assert (beyond > record.workload.walltime[rows[0]] + SECOND).all()


def test_like_jobs_of_a_user_are_drawn_alike() -> None:
    """Where nobody knows how long a user's jobs take, those that are alike take as long as each other."""
    jobs = 200
    rng = np.random.default_rng(3)
    work = Workload.from_arrays(
        unit="s", submit=np.arange(jobs), procs=[1] * jobs, walltime=[1000] * jobs,
        runtime=rng.integers(1, 1000, jobs), user=[*range(jobs - 2), 500, 500],
    )  # fmt: skip
    end = work.submit + work.runtime
    end[-2:] = NEVER  # nothing is known of that user
    times = RunTimes(Record(work, headway.Platform.procs(jobs), work.submit, end))
    times.learn(2000 * SECOND)
    two = times.draw(np.array([jobs - 2, jobs - 1]), np.zeros(2, np.int64), 600, rng)
    others = times.draw(np.array([jobs - 2, 0]), np.zeros(2, np.int64), 600, rng)
    # One in 1 + DOUBT repeats the first, all else is independent.
    assert np.mean(two[:, 0] == two[:, 1]) == pytest.approx(1 / (1 + DOUBT), abs=0.07)
    assert np.mean(others[:, 0] == others[:, 1]) < 0.1


def test_arrivals_repeat_the_same_hours_of_past_weeks(record: Record) -> None:
    now = 15 * DAY + 12345
    submit = record.workload.submit
    rng = np.random.default_rng(0)
    lags = []
    arrivals = Arrivals(record, now, 3)
    for _ in range(300):
        rows, when = arrivals.draw(rng)
        assert len(rows) and (submit[rows] <= now).all()
        assert (np.diff(when) >= 0).all() and when[0] > now and when[-1] <= now + 3 * DAY
        assert ((when - submit[rows]) % WEEK == 0).all()
        lags.append(int(when[0] - submit[rows[0]]) // WEEK)
    assert set(lags) == {1, 2}
    assert lags.count(1) / len(lags) == pytest.approx(1 / (1 + FADING), abs=0.09)  # recent weeks more often
    young, when = Arrivals(record, 3 * DAY, 2).draw(rng)
    assert ((when - submit[young]) % DAY == 0).all() and (submit[young] <= 3 * DAY).all()


def test_quantiles_intervals_and_chances(record: Record) -> None:
    waited = np.flatnonzero(record.start > record.workload.submit)
    found = Outlook(record, "easy").of_row(int(waited[-30]), draws=50)
    ordered = np.sort(found.waits)
    assert found.wait(0.5) == ordered[24] and found.wait(0.9) == ordered[44]
    assert found.chance(found.wait(0.9)) >= 0.9
    low, high = found.interval(0.9)
    assert np.mean((low <= found.waits) & (found.waits <= high)) >= 0.9
    assert found.plan >= found.now and (found.starts >= found.now).all()
    at = [found.wait(float(level)) for level in LEVELS]
    assert found.at_levels().tolist() == at


def test_intervals_hold_as_often_as_they_say_where_the_simulation_is_the_truth(record: Record) -> None:
    sample = unsure(check(record, "easy", jobs=150, draws=40))
    assert len(sample.wait) > 60
    found = scores(sample)
    assert 0.8 <= found["corrected"]["coverage_90"] <= 0.98
    assert 0.35 <= found["corrected"]["coverage_50"] <= 0.68
    assert found["corrected"]["median_error"] < found["plan"]["median_error"]
    low, high = intervals(sample.corrected, 0.9)
    inside = (low <= sample.wait) & (sample.wait <= high)
    assert found["corrected"]["coverage_90"] == pytest.approx(inside.mean())


def test_lumps_of_probability_are_shared() -> None:
    certain, never_zero = np.zeros((4, len(LEVELS)), np.int64), np.full((4, len(LEVELS)), 60 * SECOND)
    at_once = np.zeros(4, np.int64)
    assert shared_coverage(certain, at_once, 0.9) == pytest.approx(0.9)
    assert shared_coverage(certain, at_once, 0.5) == pytest.approx(0.5)
    assert shared_coverage(never_zero, at_once, 0.9) == pytest.approx(0.0)  # sure, and wrong
    # True forecasts of a wait that is 0 with a chance of 42.5 % and else lies evenly between 0 and 1 h: any
    # interval from 0 on holds too often or too seldom; shared, both levels hold as often as they say.
    rng = np.random.default_rng(3)
    wait = np.where(rng.random(20_000) < 0.425, 0, rng.random(20_000) * 3600 * SECOND).astype(np.int64)
    told = np.maximum((LEVELS - 0.425) / 0.575, 0) * 3600 * SECOND
    quantiles = np.tile(told.astype(np.int64), (len(wait), 1))
    for level in (0.5, 0.9):
        assert shared_coverage(quantiles, wait, level) == pytest.approx(level, abs=0.01)


def test_the_correction_makes_wrong_forecasts_hold() -> None:
    rng = np.random.default_rng(1)
    correction, held = Correction(), []
    told = np.linspace(60, 600, len(LEVELS)).astype(np.int64) * SECOND  # far too early
    known = np.linspace(60, 10**6, len(LEVELS)).astype(np.int64) * SECOND  # far too wide
    for forecast in range(500):
        wait = int(rng.lognormal(9, 1) * SECOND)
        quantiles = correction.tell(told, known)
        assert (np.diff(quantiles) >= 0).all()
        held.append(wait <= quantiles)
        correction.learn(forecast, wait)
    assert np.allclose(np.mean(held[50:], axis=0)[:-2], LEVELS[:-2], atol=0.05)


def test_the_correction_prefers_history_where_the_simulation_says_nothing() -> None:
    rng = np.random.default_rng(1)
    correction = Correction()
    noise = np.sort(rng.lognormal(9, 2, (60, len(LEVELS))) * SECOND, axis=1).astype(np.int64)
    for forecast, one in enumerate(noise):
        wait = int(rng.lognormal(6, 0.2) * SECOND)
        history = np.full(len(LEVELS), int(np.exp(6) * SECOND))
        correction.tell(one, history)
        correction.learn(forecast, wait)
    assert correction.blend() == 0.0


def test_history_alone_is_told_where_it_has_been_the_better_forecast() -> None:
    rng = np.random.default_rng(2)
    history = (np.quantile(rng.lognormal(8, 1, 20_000), LEVELS) * SECOND).astype(np.int64)  # the truth
    correction, alone = Correction(), []
    for forecast in range(300):
        simulated = np.sort(rng.lognormal(8, 3, len(LEVELS)) * SECOND).astype(np.int64)  # noise
        told = correction.tell(simulated, history)
        if forecast >= 20:
            assert (told <= np.maximum.accumulate(np.maximum(history[-1], simulated)) + SECOND).all()
            alone.append(abs(told - history) <= SECOND)
        correction.learn(forecast, int(rng.lognormal(8, 1) * SECOND))
    assert np.mean(alone[100:], axis=0)[-6:].mean() > 0.9  # high quantiles of 50 residuals are noise
    assert correction.taught == 300


def test_waits_of_like_jobs_are_mixed_as_specified() -> None:
    work = Workload.from_arrays(
        unit="s", submit=[0] * 6, procs=[2, 3, 4, 2, 100, 2], walltime=[100] * 6, runtime=[1] * 6,
        user=[1, 2, 1, 1, 1, 1], queue=[0, 0, 0, 1, 0, 0],
    )  # fmt: skip
    waits = np.array([10, 20, 30, 40, 50])
    start = np.append(waits * SECOND, NEVER)
    history = Waits(Record(work, headway.Platform.procs(100), start, start))
    assert history.quantiles(5).tolist() == [0] * len(LEVELS)  # nobody has started
    history.learn(60 * SECOND)
    # The job asks for 2 processors in queue 0: like it are, kind by kind, the jobs of these rows.
    weight, left = np.zeros(5), 1.0
    for rows in ([0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4]):
        trust = len(rows) / (len(rows) + OF_OTHERS)
        weight[rows] += left * trust / len(rows)
        left *= 1 - trust
    shares = np.cumsum(weight) / weight.sum()
    expected = [waits[np.flatnonzero(shares >= level)[0]] * SECOND for level in LEVELS]
    assert history.quantiles(5).tolist() == expected
    assert history.recent_median(5) == 20 * SECOND  # of 10, 20 and 40: 2 or 3 processors


def test_qbets_bound_is_the_binomial_order_statistic() -> None:
    assert place_of_bound(SHORTEST - 1) == 0 and place_of_bound(SHORTEST) == SHORTEST
    for count in (100, 333):
        place = place_of_bound(count)
        terms = [math.comb(count, k) * 0.95**k * 0.05 ** (count - k) for k in range(count + 1)]
        assert sum(terms[:place]) >= 0.95 > sum(terms[: place - 1])
    assert abs(place_of_bound(2001) - place_of_bound(2000)) <= 2


def test_qbets_forgets_the_past_when_it_misses_three_times_in_a_row() -> None:
    history = History()
    assert history.bound() == NEVER
    for wait in range(1, 201):
        history.add(37 * wait % 100)
    assert history.bound() < 100
    history.add(1000)
    history.add(1000)
    assert len(history.waits) == 202
    history.add(1000)
    assert len(history.waits) == SHORTEST == len(history.sorted) and history.bound() == 1000


def test_a_new_job_that_can_never_run_is_refused(record: Record) -> None:
    with pytest.raises(UsageError, match="no such job can ever start"):
        answer(Outlook(record, "easy"), 5 * DAY, Question(PROCS + 1, SECOND), teachers=0)
    with pytest.raises(UsageError, match="does not wait"):
        answer(Outlook(record, "easy"), 20 * DAY, Question(1, SECOND, row=0), teachers=0)


def test_a_job_that_can_never_run_is_refused_before_anything_is_simulated(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    outlook = Outlook(record, "easy")
    monkeypatch.setattr(Outlook, "at", lambda *_: pytest.fail("a forecast was made"))
    with pytest.raises(UsageError, match="no such job can ever start"):
        answer(outlook, record.last, Question(PROCS + 1, 3600 * SECOND))


def test_shorter_and_smaller_jobs_have_better_chances(record: Record) -> None:
    waited = np.flatnonzero(record.start - record.workload.submit > 4 * 3600 * SECOND)
    now = int(record.workload.submit[waited[-1]]) + 1
    asked = Question(16, 12 * 3600 * SECOND)
    found = answer(Outlook(record, "easy"), now, asked, draws=40, teachers=0, others=alternatives(asked))
    by_name = {effect.name: effect for effect in found.others}
    assert set(by_name) >= {"half the processors", "half as long", "submitted 6 h later"}
    for name in ("half the processors", "half as long"):  # in no future do they start later
        assert by_name[name].starts.max() <= 0 and np.array_equal(by_name[name].starts, by_name[name].waits)
    later = by_name["submitted 6 h later"]
    assert later.forecast.submit == now + 6 * HOUR and (later.forecast.waits >= 0).all()
    assert later.starts.min() >= 0 and np.array_equal(later.waits, later.starts - 6 * HOUR)
    assert all(found.main.end(level) >= now + found.main.wait(level) for level in LEVELS)


def test_a_change_is_drawn_until_its_sign_is_sure(record: Record) -> None:
    """Fewer draws are the first of the many; the middle of many is on the side that they told."""
    waited = np.flatnonzero(record.start - record.workload.submit > 4 * 3600 * SECOND)
    now = int(record.workload.submit[waited[-1]]) + 1
    asked = Question(16, 12 * 3600 * SECOND)
    outlook = Outlook(record, "easy")
    found = answer(outlook, now, asked, draws=120, teachers=0, others=alternatives(asked))
    assert len(found.main.forecast.starts) == 120
    drawn = {len(effect.forecast.starts) for effect in found.others}
    assert drawn <= {24, 48, 96, 120} and min(drawn) == 24
    for effect in found.others:
        count = len(effect.forecast.starts)
        other, row = effect.question.asked_of(outlook, now)
        other.run_times.take_over(outlook.run_times)
        submit = now + effect.question.later
        whole = other.at(of_job(other.record, now, row), row, 120, 0, submit if submit > now else None)
        assert np.array_equal(whole.starts[:count], effect.forecast.starts)
        assert np.array_equal(whole.run_times[:count], effect.forecast.run_times)
        if count < 120:
            told, true = (
                sign_of(int(np.median(of))) for of in (effect.waits, longer(whole.waits, effect.asked))
            )
            assert told == true and sign_is_sure(effect.waits)


def test_a_sign_is_sure_where_the_middle_of_most_samples_would_have_it() -> None:
    """Of 24 draws the 8th and the 17th bound the median, with 93 % by the binomial."""
    assert sum(math.comb(24, below) for below in range(8, 17)) / 2**24 > 0.93
    hour = np.full(24, 3600 * SECOND)
    for few, sure in ((0, True), (7, True), (8, False), (16, False), (17, True)):
        mixed = hour.copy()
        mixed[:few] *= -1
        assert sign_is_sure(mixed) == sure, few
    assert sign_is_sure(np.zeros(24, np.int64)) and sign_is_sure(hour // 90)


def test_what_would_help_is_never_told_by_history(record: Record) -> None:
    """Here like jobs waited ten times as long if they asked for half; the simulation knows better.

    Draws are shared: a job that comes in a future of one question comes in that of the other.
    """
    row = int(np.argmax(record.start - record.workload.submit))
    now = int(record.workload.submit[row]) + 1
    asked = Question(16, 12 * HOUR)
    few = np.isin(record.workload.procs, [8]) & (record.start < now)
    start = np.where(few, record.workload.submit + 10 * DAY, record.start)
    odd = replace(record, start=np.where(start < now, start, record.start))
    found = answer(Outlook(odd, "easy"), now, asked, draws=20, teachers=30, others=alternatives(asked)[:2])
    assert found.taught >= 20 and 0 <= found.history <= 1
    assert all(effect.starts.max() <= 0 for effect in found.others)
    arrivals = Arrivals(record, now, 9)
    both = [Arrivals(record, now, days).draw(np.random.default_rng([0, 3, 7])) for days in (3, 9)]
    count = len(both[0][0])
    assert count and all(np.array_equal(one[:count], two) for two, one in zip(*both, strict=True))
    assert len(arrivals.draw(np.random.default_rng([0, 3, 7]))[0]) >= count


def test_the_weight_of_history_is_the_share_of_it_in_what_is_told() -> None:
    """Simulations that are noise: history alone. The truth: none of it."""
    rng = np.random.default_rng(1)
    for noise in (True, False):
        correction = Correction()
        for forecast in range(60):
            wait = int(rng.lognormal(9, 1) * SECOND)
            truth = np.full(len(LEVELS), wait)
            other = np.sort(rng.lognormal(6, 2, len(LEVELS)) * SECOND).astype(np.int64)
            correction.tell(*((other, truth) if noise else (truth, other)))
            correction.learn(forecast, wait)
        assert correction.weight_of_history(truth) == noise
    assert Correction().weight_of_history(truth) == 0.0  # nothing is known yet


def test_advice_is_held_against_what_would_have_happened(record: Record) -> None:
    """The simulated truth of a job as it asked is its own schedule."""
    found = {one.change: one for one in advice(record, "easy", jobs=12, draws=20)}
    assert set(found) >= {"half the processors", "half as long", "submitted 6 h later"}
    half = found["half the processors"].describe()
    assert half["jobs"] == 12 and half["better"] > 4 and half["worse"] == 0
    assert half["simulated"]["advised_harms"] == 0 and half["simulated"]["right"] >= 0.75
    outlook = Outlook(record, "easy")
    row = int(np.argmax(record.start - record.workload.submit))
    submit = int(record.workload.submit[row])
    assert (record.workload.submit == submit).sum() == 1
    assert truly(outlook, row, submit) == record.start[row] - submit


def test_a_queue_that_is_watched_is_a_record_too(record: Record) -> None:
    now = 1_700_000_000 * SECOND
    jobs = [
        Present(48, 3600 * SECOND, submit=now - 900 * SECOND, start=now - 600 * SECOND, user="ada"),
        Present(32, 1800 * SECOND, submit=now - 300 * SECOND, user="bob"),
    ]
    watched, at = present(jobs, now, headway.Platform.procs(64))
    found = answer(Outlook(watched, "easy"), at, Question(16, 600 * SECOND), draws=10, teachers=0).main
    assert (found.forecast.running, found.forecast.waiting) == (1, 1)
    assert found.wait(0.5) == 0  # it passes: bob waits for 32, and it is over before ada must be
    found = answer(Outlook(watched, "easy"), at, Question(32, 600 * SECOND), draws=10, teachers=0).main
    assert found.forecast.plan - at == 3000 * SECOND  # with bob, when ada's request is over
    with pytest.raises(UsageError, match="UnixStartTime"):
        present(jobs, now, headway.Platform.procs(64), record)


# ---- the commands ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory, record: Record) -> Path:
    """A log with recorded waits."""
    work = record.workload.with_columns(wait=record.start - record.workload.submit)
    path = tmp_path_factory.mktemp("forecast") / "log.swf"
    write_swf(work, path)
    return path


def test_when_tells_chances_as_json_and_as_tables(log: Path, run: Headway) -> None:
    common = ["when", str(log), "--machine", "32", "--procs", "16", "--walltime", "4h", "--at", "1200000",
              "--draws", "20", "--teachers", "25"]  # fmt: skip
    found = json.loads(run(*common, "--json").out)
    assert found["at"] == 1_200_000 and found["draws"] == 20 and found["teachers"] > 20
    assert found["job"]["levels"] == LEVELS.tolist() and len(found["job"]["wait"]) == len(LEVELS)
    assert found["job"]["wait"] == sorted(found["job"]["wait"])
    assert all(end >= 1_200_000 for end in found["job"]["end"])
    assert [one["name"] for one in found["what_would_help"]][:2] == ["half the processors", "half as long"]
    assert all(max(one["starts_later"]) <= 0 for one in found["what_would_help"][:2])
    told = run(*common).out
    weight = found["history_weight"]
    assert ("This answer is " in told) is (weight >= 0.5) and f"{weight:.0%}" in told
    shown = run(*common, "--alone").out
    assert (
        "starts within" in shown and "chance to start within 1 h" in shown and "What would help" not in shown
    )


def test_when_of_a_job_of_the_log(log: Path, record: Record, run: Headway) -> None:
    row = int(np.flatnonzero(record.start > record.workload.submit)[40])
    job = int(record.workload.job[row])
    given = (
        "when",
        str(log),
        "--machine",
        "32",
        "--job",
        str(job),
        "--draws",
        "20",
        "--teachers",
        "0",
        "--json",
    )
    found = json.loads(run(*given).out)
    assert found["at"] == record.workload.submit[row] / SECOND
    assert found["job"]["procs"] == record.workload.procs[row] and found["what_would_help"] == []


COLUMNS = "JobID|User|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|ReqCPUS|AllocCPUS"


def export(record: Record, path: Path, taken: int = NEVER, held: int = -1) -> Path:
    """A record as sacct writes it at an instant (µs): later submissions are not there, later ends unknown."""
    work, lines = record.workload, [COLUMNS]
    for row in range(len(record)):
        submit, start, end = int(work.submit[row]), int(record.start[row]), int(record.end[row])
        if submit > taken:
            continue
        runs, over = start < taken, end <= taken
        state = "COMPLETED" if over else "RUNNING" if runs else "PENDING"
        clock = [1_700_000_000 + at // SECOND for at in (submit, start, end)]
        seconds = (min(end, taken) - start) // SECOND if runs else 0
        cells = [
            row + 1, f"u{work.user[row]}", state, clock[0], "Unknown" if row == held else clock[0],
            clock[1] if runs else "Unknown", clock[2] if over else "Unknown", seconds,
            f"00:00:{work.walltime[row] // SECOND}", work.procs[row], work.procs[row] if runs else 0,
        ]  # fmt: skip
        lines.append("|".join(str(cell) for cell in cells))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_log_taken_from_a_busy_machine_begins_with_who_runs_and_waits(
    record: Record, run: Headway, tmp_path: Path
) -> None:
    """The same answer as from the whole log, asked at the instant at which the other one was taken."""
    waiting = np.flatnonzero(record.start > record.workload.submit)
    row = int(waiting[np.argmax((record.start - record.workload.submit)[waiting])])
    taken = int(record.workload.submit[row] + record.start[row]) // 2 // SECOND * SECOND
    origin = int(record.workload.submit.min())
    whole = export(record, tmp_path / "whole.txt")
    cut = export(record, tmp_path / "cut.txt", taken)
    few = ("--machine", PROCS, "--draws", 20, "--teachers", 25, "--alone", "--json")
    for asked in (("--procs", 16, "--walltime", "4h"), ("--job", row + 1)):
        told = json.loads(run("when", cut, *asked, *few).out)
        known = json.loads(run("when", whole, *asked, *few, "--at", (taken - origin) / SECOND).out)
        assert told["running"] > 0 and told["waiting"] >= 0 and told["at"] == (taken - origin) / SECOND
        of_log = {"log": "", "ledger": []}
        assert {**told, **of_log} == {**known, **of_log}
    assert told["job"]["since"] == told["at"] and told["job"]["wait"][0] >= 0  # it has waited already
    held = export(record, tmp_path / "held.txt", taken, held=row)
    fewer = json.loads(run("when", held, "--procs", 16, "--walltime", "4h", *few).out)
    assert fewer["waiting"] == told["waiting"]  # the one that is held; of itself it was not counted
    refused = run("when", held, "--job", row + 1, *few)
    assert refused.status == 2 and f"job {row + 1} is not forecast: held, or waiting" in refused.err
    assert "has no job" in run("when", held, "--job", 10**6, *few).err


def test_who_is_not_over_is_left_out_of_a_simulation(record: Record, tmp_path: Path) -> None:
    taken = int(np.median(record.start))
    log = headway.read(export(record, tmp_path / "cut.txt", taken), unfinished="open")
    assert log.open.sum() > 0
    schedule = headway.simulate(log, PROCS, "easy")
    assert len(schedule.workload) == len(log) - log.open.sum() == (record.end <= taken).sum()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--procs", "4"], "either --job-procs and --walltime"),
        (["--procs", "4", "--walltime", "soon"], "must be a time such as"),
        (["--procs", "4", "--walltime", "0"], "--walltime must be above 0"),
        (["--procs", "4", "--walltime", "1h", "--at", "noon"], "--at must be seconds or a date"),
        (["--procs", "4", "--walltime", "1h", "--at", "-9"], "--at is before the log begins: it knows"),
        (["--procs", "4", "--walltime", "1h", "--at", "1e12"], "--at is after the log ends: it knows"),
        (["--procs", "64", "--walltime", "1h"], "no such job can ever start"),
        (["--job", "99999"], "has no job 99999"),
        (["--procs", "4", "--walltime", "1h", "--user", "mallory"], "has no user 'mallory'"),
        (["--procs", "4", "--walltime", "1h", "--partition", "99"], "has no partition '99'; it has none"),
        (["--procs", "4", "--walltime", "1h", "--policy", "redirection"], "one machine with one queue"),
    ],
)
def test_when_says_what_is_wrong(log: Path, run: Headway, words: list[str], sentence: str) -> None:
    refused = run("when", log, "--machine", 32, "--teachers", 0, *words)
    assert refused.status == 2 and sentence in refused.err and len(refused.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        "when odd.swf --machine 32 --procs 4 --walltime 1h --teachers 0 --draws 10 --alone",
        "forecast check odd.swf --procs 32 --jobs 10 --draws 10",
        "what-if odd.swf nodes=+10% --procs 32",
        "weeks odd.swf --procs 32",
    ],
)
def test_whoever_reads_a_log_tells_its_ledger(log: Path, run: Headway, words: str) -> None:
    lines = log.read_text().splitlines()
    fields = lines[-1].split()
    fields[0], fields[3], fields[10] = "99999", "-1", "5"
    run.write("odd.swf", "\n".join([*lines, " ".join(fields), ""]))
    told = run(*words.split())
    assert told.status == 0 and re.search(r"cancelled before it ran: dropped +1 +99999", told.out)
    document = json.loads(run(*words.split(), "--json").out)
    of = document[0] if isinstance(document, list) else document
    assert [row["jobs"] for row in of["ledger"] if row["rule"] == "cancelled"] == [[99999]]


def test_when_names_its_own_option_for_the_size_of_the_machine(log: Path, run: Headway) -> None:
    """--procs is the job's size here."""
    text = "\n".join(line for line in log.read_text().splitlines() if not line.startswith("; Max"))
    run.write("bare.swf", text)
    told = run("when", "bare.swf", "--procs", 4, "--walltime", "1h")
    assert told.status == 2 and "give --machine N or --site DIR" in told.err


def test_forecast_check_writes_scores_sample_and_figures(log: Path, tmp_path: Path, run: Headway) -> None:
    out = tmp_path / "out"
    given = (
        "forecast",
        "check",
        str(log),
        "--procs",
        "32",
        "--jobs",
        "30",
        "--draws",
        "10",
        "--out",
        str(out),
    )
    found = json.loads(run(*given, "--json").out)
    assert found["truth"] == "recorded" and found["all"]["jobs"] == 30
    assert 0 <= found["all"]["corrected"]["coverage_90"] <= 1
    assert {path.name for path in out.iterdir()} == {
        "forecast.json", "sample.csv", "reliability.svg", "sharpness.svg", "error-by-lead.svg",
    }  # fmt: skip
    lines = (out / "sample.csv").read_text("utf-8").splitlines()
    assert len(lines) == 31 and lines[0].startswith(
        "job,submit,procs,wait,plan,recent,bound,waiting,simulated"
    )
    shown = run("forecast", "check", str(log), "--procs", "32", "--jobs", "30", "--draws", "10").out
    assert "policy's own plan" in shown and "QBETS" in shown and "ties" in shown and "sign right" in shown
    assert [one["change"] for one in found["advice"]][:2] == ["half the processors", "half as long"]
    refused = run("forecast", "guess", log)
    assert refused.status == 2 and "No such command 'guess'" in refused.err


@pytest.mark.long
def test_a_site_is_asked_by_partition_and_others_are_tried(tmp_path: Path, run: Headway) -> None:
    site = tmp_path / "site"
    assert run("site", "example", str(site)).status == 0
    few = ("--draws", "10", "--teachers", "0", "--at", "2024-06-20T10:00", "--user", "ann")
    asked = ("when", str(site), "--procs", "32", "--walltime", "4h", *few)
    found = json.loads(run(*asked, "--json").out)
    assert found["policy"].startswith("slurm")
    assert {"partition long", "half as long"} <= {other["name"] for other in found["what_would_help"]}
    assert found["never"] == ["partition debug"]  # its longest is half an hour; short is the default
    refused = run(*asked, "--partition", "debug")
    assert refused.status == 2 and "or partition debug allow" in refused.err
    inside = run(
        "when", str(site), "--procs", "16", "--walltime", "20m", *few, "--partition", "debug", "--json"
    )
    assert json.loads(inside.out)["never"] == ["half the processors, twice as long"]  # 40 minutes
