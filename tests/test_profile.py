"""The profile and the reservations in it against a bare list of bookings, under random sequences."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.engine.heap import move_due
from headway.engine.holes import (
    earliest,
    earliest_within,
    fits,
    level_at,
    stays_between,
    take_earliest,
    take_if_free,
)
from headway.engine.profile import (
    Profile,
    change,
    clear,
    copy_profile,
    new_profile,
    step_of,
)
from headway.engine.reservations import (
    NOT_RESERVED,
    book,
    bring_forward,
    earliest_start,
    forget,
    give_up,
    next_due,
    reserve_by,
)
from headway.engine.setup import Jobs, Setup, make_state
from headway.engine.tables import State
from headway.jit.kernels import entry
from headway.units import NEVER
from random_examples import examples
from reference.profile import Booking
from reference.profile import Profile as Reference

Table = npt.NDArray[np.int64]

CHANGE, TAKE, TAKE_IF_FREE, EARLIEST, EARLIEST_BEFORE, FITS, LEVEL, STAYS = range(8)


@entry
def play(profile: Profile, k: int, moves: Table, answers: Table) -> None:
    """Carry out moves (rows: what, time, other time or now, procs, duration or now) and note the answers.

    STAYS asks from a time to another whether the level stays from ``procs`` to below the last number.
    """
    for i in range(moves.shape[0]):
        what, x, y, procs, z = moves[i, 0], moves[i, 1], moves[i, 2], moves[i, 3], moves[i, 4]
        if what == CHANGE:
            change(profile, k, x, y, procs, z)
        elif what == TAKE:
            answers[i] = take_earliest(profile, k, x, NEVER, procs, z, NEVER, y)
        elif what == TAKE_IF_FREE:
            answers[i] = take_if_free(profile, k, x, procs, z, y)
        elif what == EARLIEST:
            answers[i] = earliest(profile, k, x, procs, z)
        elif what == EARLIEST_BEFORE:
            answers[i] = earliest_within(profile, k, x, y, procs, z, y)
        elif what == FITS:
            answers[i] = fits(profile, k, x, procs, z)
        elif what == LEVEL:
            answers[i] = level_at(profile, k, x)
        else:
            answers[i] = stays_between(profile, k, step_of(profile, k, x), y, procs, z) >= 0


class Story:
    """A random life of a profile: intervals come, are cut short and grow, time goes on, questions are asked.

    No more than ``room`` intervals reach beyond the present, which is what the tables have room for.
    """

    def __init__(self, seed: int, m: int, room: int, moves: int, horizon: int) -> None:
        self.random = np.random.default_rng(seed)
        self.m, self.now = m, 0
        self.bookings: list[Booking] = []
        self.moves: list[tuple[int, int, int, int, int]] = []
        self.answers: list[int] = []
        for _ in range(moves):
            self.one_move(room, horizon)

    def note(self, what: int, x: int, y: int, procs: int, z: int, answer: int = 0) -> None:
        self.moves.append((what, x, y, procs, z))
        self.answers.append(answer)

    def number(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def one_move(self, room: int, horizon: int) -> None:
        draw = self.random.random()
        if draw < 0.1:
            self.now += self.number(0, horizon // 4)
            self.bookings = [(b, e, q) for b, e, q in self.bookings if e > self.now]
        elif draw < 0.4 and len(self.bookings) < room:
            begin = self.now + self.number(0, 1) * self.number(0, horizon)
            booking = (begin, begin + self.number(0, horizon), self.number(1, self.m))
            self.note(CHANGE, *booking[:2], -booking[2], self.now)
            if booking[1] > booking[0]:
                self.bookings.append(booking)
        elif draw < 0.5 and len(self.bookings) < room:
            self.take(horizon)
        elif draw < 0.65 and self.bookings:
            begin, end, procs = self.bookings.pop(self.number(0, len(self.bookings) - 1))
            self.note(CHANGE, max(begin, self.now), end, procs, self.now)
        else:
            self.ask(horizon)

    def take(self, horizon: int) -> None:
        """Take processors as early as they are free, or at one time if they are."""
        reference = Reference(self.m, self.bookings)
        x = self.now + self.number(0, 1) * self.number(0, horizon)
        procs, duration = self.number(1, self.m), self.number(1, horizon)
        begin = reference.earliest(x, procs, duration)
        if self.number(0, 1):
            self.note(TAKE, x, self.now, procs, duration, begin)
        else:
            self.note(TAKE_IF_FREE, x, self.now, procs, duration, int(begin == x))
            if begin > x:
                return
        self.bookings.append((begin, begin + duration, procs))

    def ask(self, horizon: int) -> None:
        """Pose a question and answer it from the list of bookings."""
        reference = Reference(self.m, self.bookings)
        x = self.now + self.number(0, horizon)
        procs, duration = self.number(1, self.m), self.number(0, horizon)
        what = self.number(EARLIEST, LEVEL)
        answer, y = 0, 0
        if what == EARLIEST:
            answer = reference.earliest(x, procs, duration)
        elif what == EARLIEST_BEFORE:
            y = x + self.number(0, horizon)
            candidates = sorted({x} | {e for _, e, _ in self.bookings if x < e < y})
            answer = min(
                (s for s in candidates if s < y and reference.fits(s, min(duration, y - s), procs)), default=y
            )
        elif what == FITS:
            answer = int(reference.fits(x, duration, procs))
        else:
            answer = self.m - reference.used(x)
        self.note(what, x, y, procs, duration, answer)


def check(profile: Profile, k: int, story: Story, first: int = 0, last: int | None = None) -> None:
    """Play the moves from ``first`` to ``last`` and compare the answers."""
    moves, expected = story.moves[first:last], story.answers[first:last]
    answers = np.zeros(len(moves), np.int64)
    play(profile, k, np.array(moves, np.int64).reshape(-1, 5), answers)
    for move, answer, wanted in zip(moves, answers, expected, strict=True):
        assert answer == wanted, f"(what, time, other time, procs, duration or now) = {move}"


def test_by_hand() -> None:
    # 4 processors: 3 taken over [0, 10), all over [10, 15).
    profile = new_profile(1, 4)
    clear(profile, 0, 0, 4)
    moves = [
        (CHANGE, 0, 10, -3, 0),
        (CHANGE, 10, 15, -4, 0),
        (FITS, 0, 0, 1, 10),  # exactly the hole
        (FITS, 0, 0, 1, 11),
        (EARLIEST, 0, 0, 1, 10),
        (EARLIEST, 1, 0, 1, 10),  # nine are left of the hole
        (EARLIEST, 12, 0, 4, 0),  # no length, but its own instant must be free
        (EARLIEST_BEFORE, 1, 10, 1, 99),  # what lies at and beyond 10 is its own
        (LEVEL, 9, 0, 0, 0),
        (LEVEL, 10, 0, 0, 0),
        (LEVEL, 15, 0, 0, 0),
    ]
    answers = np.zeros(len(moves), np.int64)
    play(profile, 0, np.array(moves, np.int64), answers)
    assert answers.tolist() == [0, 0, 1, 0, 0, 15, 15, 1, 1, 0, 4]


@examples(150)
@given(
    seed=st.integers(0, 2**32),
    m=st.sampled_from([1, 3, 8]),
    room=st.sampled_from([1, 4, 30, 150]),
    horizon=st.sampled_from([4, 40, 4000]),
)
def test_random_stories(seed: int, m: int, room: int, horizon: int) -> None:
    profile = new_profile(1, room)
    clear(profile, 0, 0, m)
    check(profile, 0, Story(seed, m, room, moves=200, horizon=horizon))


@pytest.mark.parametrize("horizon", [50, 1000, 100_000])
def test_a_long_story_fills_many_blocks(horizon: int) -> None:
    profile = new_profile(1, 400)
    clear(profile, 0, 0, 64)
    check(profile, 0, Story(7, 64, 400, moves=4000, horizon=horizon))


def test_one_block_of_many_fills_with_steps_that_all_matter() -> None:
    """150 intervals far apart, then 30 within each other between two of them: none of it can be dropped."""
    far = [(1000 * k, 1000 * k + 500, 1) for k in range(150)]
    near = [(75_500 + k, 75_900 - k, 1) for k in range(30)]
    moves = [(CHANGE, begin, end, -procs, 0) for begin, end, procs in far + near]
    reference = Reference(64, far + near)
    asked = sorted({time for begin, end, _ in far + near for time in (begin, end)})
    moves += [(LEVEL, time, 0, 0, 0) for time in asked]
    profile = new_profile(1, 400)
    clear(profile, 0, 0, 64)
    answers = np.zeros(len(moves), np.int64)
    play(profile, 0, np.array(moves, np.int64), answers)
    assert answers[-len(asked) :].tolist() == [64 - reference.used(time) for time in asked]


def test_a_level_stays_between_two_through_many_blocks() -> None:
    """100 intervals below one that holds 20 processors over most of them, noted once for a block."""
    taken = [(1000 * k, 1000 * k + 500, 1 + k % 3) for k in range(100)] + [(5_000, 95_000, 20)]
    reference = Reference(64, taken)
    times = sorted({time for begin, end, _ in taken for time in (begin, end)})
    moves = [(CHANGE, begin, end, -procs, 0) for begin, end, procs in taken]
    expected = [0] * len(moves)
    for k, time in enumerate(times[:-9]):
        until, low, high = times[k + 1 + k % 8], 40 + k % 5, 43 + k % 3
        levels = [64 - reference.used(x) for x in times if time <= x < until]
        moves.append((STAYS, time, until, low, high))
        expected.append(all(low <= level < high for level in levels))
    profile = new_profile(1, 400)
    clear(profile, 0, 0, 64)
    answers = np.zeros(len(moves), np.int64)
    play(profile, 0, np.array(moves, np.int64), answers)
    assert answers.tolist() == expected and 20 < sum(expected) < 150


def test_profiles_in_one_set_of_tables_do_not_touch() -> None:
    profile = new_profile(3, 60)
    for k in range(3):
        clear(profile, k, 0, 8)
    stories = [Story(k, 8, 60, moves=600, horizon=100) for k in range(3)]
    for first in range(0, 600, 100):  # by turns
        for k, story in enumerate(stories):
            check(profile, k, story, first, first + 100)


def test_a_profile_lives_on_in_larger_tables() -> None:
    story = Story(5, 8, 50, moves=1000, horizon=300)
    small, large = new_profile(1, 50), new_profile(1, 333)
    clear(small, 0, 0, 8)
    check(small, 0, story, last=500)
    copy_profile(small, large)
    check(large, 0, story, first=500)


# ---- reservations ----------------------------------------------------------------------------------------

RESERVE, GIVE_UP, FORWARD, PUT_OFF, START_DUE = range(5)


@entry
def reserve_and_ask(state: State, what: int, job: int, now: int, more: int, by: int) -> int:
    """One move; the start it gives to the job, or the job that was due."""
    state.clock.now = now
    if what == RESERVE:
        return reserve_by(state, 0, job, now, more, by)
    if what == GIVE_UP:
        give_up(state, 0, job)
        return 0
    if what == FORWARD:
        begin = earliest_start(state, 0, job, now, state.jobs.reserved[job], more)
        if begin < state.jobs.reserved[job]:
            bring_forward(state, 0, job, begin, step_of(state.profile, 0, begin))
        return begin
    if what == PUT_OFF:
        later = state.jobs.reserved[job] + 1
        book(state, 0, job, state.jobs.procs[job])
        state.jobs.reserved[job] = NOT_RESERVED
        state.jobs.reserved[job] = earliest_start(state, 0, job, later, NEVER, more)
        book(state, 0, job, -state.jobs.procs[job])
        move_due(state, 0, job)
        return int(state.jobs.reserved[job])
    job = next_due(state, 0)
    if job >= 0 and state.jobs.reserved[job] == now:
        forget(state, 0, job)  # its processors are held on, for its run
        return job
    return -1


@examples(150)
@given(seed=st.integers(0, 2**32), m=st.sampled_from([2, 5]), hole=st.sampled_from(["closed", "open"]))
def test_reservations(seed: int, m: int, hole: str) -> None:
    """Jobs reserve their earliest start, or only in time; give up, move to and fro, and start when due."""
    random = np.random.default_rng(seed)
    jobs, more = 24, int(hole == "open")
    procs = random.integers(1, m + 1, jobs)
    plan = random.choice([0, 1, 2, 5, 9], jobs)
    zero = np.zeros(jobs, np.int64)
    state, _ = make_state(Jobs(zero, procs, plan, plan, plan), Setup((m,), lambda t, s: None))
    state.jobs.reserved[:] = -1
    now = 0
    reserved: dict[int, int] = {}
    running: dict[int, int] = {}

    def place(job: int, after: int = 0) -> int:
        held = {**reserved, **running}
        booked = [(s, s + int(plan[j]), int(procs[j])) for j, s in held.items() if j != job]
        return Reference(m, booked).earliest(max(now, after), int(procs[job]), int(plan[job]), hole)

    def move(what: int, job: int = 0, by: int = NEVER) -> int:
        return int(reserve_and_ask(state, what, job, now, more, by))

    for _ in range(80):
        fresh = [j for j in range(jobs) if j not in reserved and j not in running]
        draw = random.random()
        if draw < 0.4 and fresh:
            job = int(random.choice(fresh))
            begin = place(job)
            by = NEVER if random.random() < 0.5 else now + int(random.integers(0, 20))
            assert move(RESERVE, job, by) == begin
            if begin + plan[job] <= by:
                reserved[job] = begin
        elif draw < 0.5 and reserved:
            job = int(random.choice(list(reserved)))
            del reserved[job]
            move(GIVE_UP, job)
        elif draw < 0.7 and reserved:
            job = int(random.choice(list(reserved)))
            reserved[job] = min(place(job), reserved[job])
            assert move(FORWARD, job) == reserved[job]
        elif draw < 0.8 and reserved:
            job = int(random.choice(list(reserved)))
            reserved[job] = place(job, after=reserved[job] + 1)
            assert move(PUT_OFF, job) == reserved[job]
        else:  # time goes on, at most to where somebody is due
            now = min([now + int(random.integers(0, 4)), *reserved.values()])
            due = sorted((j for j, s in reserved.items() if s == now), key=lambda j: (plan[j] > 0, j))
            for job in [*due, -1]:
                assert move(START_DUE) == job
                if job >= 0:
                    running[job] = reserved.pop(job)
        assert {int(j) for j in np.flatnonzero(state.jobs.reserved >= 0)} == set(reserved)
        assert all(state.jobs.reserved[j] == s for j, s in reserved.items())
    assert state.jobs.plan.tolist() == plan.tolist()
