"""Mistakes in a compiled policy: the line inside it, the instant, the jobs, and nothing of the compiler's."""

from __future__ import annotations

import re

import pytest

from commands import SWF, Headway
from headway.engine.clock import step
from headway.jit import kernels
from headway.policies.own.last_pass import Interpreter
from test_user_policy_errors import refused

COMPILED = """\
from headway.policies.own.words import *


@kernel
def procs_of(state, job):
    return state.jobs[PROCS, job]


@compiled
def mine(t, state):
    if t > 0:
        {body}
    for job in range(state.clock[FIRST_NEW], state.clock[LAST_NEW]):
        join(state, MACHINE, job)
"""
LINE = 12
"""Where the body begins."""


@pytest.fixture
def headway(headway: Headway) -> Headway:
    headway.write("log.swf", SWF)
    return headway


def told(headway: Headway, body: str) -> str:
    """What is said of a policy that does something at its second pass."""
    headway.write("mine.py", COMPILED.format(body=body.replace("\n", "\n        ")))
    return refused(headway, "./mine.py:mine")


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "start(state, 2, MACHINE, HEAD)",
            "at 1 s the policy started job 3, which has not arrived yet; only waiting jobs can start",
        ),
        (
            "start(state, 99, MACHINE, HEAD)",
            "at 1 s the policy named arrival 99, which does not exist among 4 jobs",
        ),
        ("start_and_book(state, -1, MACHINE, HEAD)", "at 1 s the policy named arrival -1, which does not"),
        ("start(state, 1, MACHINE, 99)", "raised IndexError: a job starts for a reason, such as HEAD or"),
        ("start_and_book(state, 1, MACHINE, -1)", "raised IndexError: a job starts for a reason, such as"),
        ("kill(state, 0)", "at 1 s the policy stopped job 1, which is waiting; only running jobs can"),
        (
            "kill(state, 1 << 40)",
            "at 1 s the policy named arrival 1099511627776, which",
        ),
        ("wake(state, t - 1)", "at 1 s the policy asked to be woken at a time that is not later than"),
        ("wake(state, t)", "at 1 s the policy asked to be woken at a time that is not later than now"),
        (
            "raise ValueError('no luck')",
            "the policy raised ValueError: no luck, at 1 s, with jobs 1, 2 waiting and 4 of 4 processors",
        ),
        ("leave(state, QUEUE, 7)", "raised IndexError: no job waits at this place of the queue, at 1 s"),
        ("leave(state, 5, 0)", "raised IndexError: there is only the queue QUEUE, at 1 s"),
        ("enter(state, QUEUE, 77, 0)", "raised IndexError: a job that does not exist cannot enter the queue"),
        ("join(state, 1, 1)", "raised IndexError: there is only the pool MACHINE, at 1 s"),
        ("join(state, MACHINE, 77)", "raised IndexError: a job that does not exist cannot join the queue"),
    ],
)
def test_what_goes_wrong_is_told_by_the_line_in_the_policy(headway: Headway, body: str, says: str) -> None:
    sentence = told(headway, body)
    assert sentence.startswith(f"headway: mine.py:{LINE} ({body}): ")
    assert says in sentence


def test_a_compiled_policy_does_not_end_the_command(headway: Headway) -> None:
    sentence = told(headway, "raise SystemExit(3)")
    what = "raised SystemExit: 3, at 1 s, with jobs 1, 2" if kernels.INTERPRETED else "cannot be compiled: "
    assert f"mine.py:{LINE} (raise SystemExit(3)): the policy {what}" in sentence


def test_a_table_is_not_read_outside_nor_a_number_divided_by_zero(headway: Headway) -> None:
    sentence = told(headway, "x = 1\ny = state.jobs[PROCS, 10**12] + x")
    assert "mine.py:13 (y = state.jobs[PROCS, 10**12] + x): the policy raised IndexError: " in sentence
    assert "out of bounds" in sentence and "at 1 s, with jobs 1, 2 waiting" in sentence
    if not kernels.INTERPRETED:  # NumPy's numbers, in Python, only warn
        sentence = told(headway, "x = 2 - state.jobs[PROCS, 0]\ny = 5 // x\nstate.options[4] = y")
        assert "mine.py:13 (y = 5 // x): the policy raised ZeroDivisionError: " in sentence


def test_the_line_is_the_innermost_of_the_users(headway: Headway) -> None:
    sentence = told(headway, "state.options[4] = procs_of(state, 10**12)")
    assert "mine.py:6 (return state.jobs[PROCS, job]): the policy raised IndexError" in sentence


def test_what_fits_no_more_is_told_with_the_processors_that_are_free(headway: Headway) -> None:
    sentence = told(headway, "start(state, 0, MACHINE, HEAD)\nstart(state, 1, MACHINE, HEAD)")
    assert sentence == (
        "headway: mine.py:13 (start(state, 1, MACHINE, HEAD)): at 1 s the policy started job 2, "
        "which wants 4 processors, but only 2 are free"
    )


def test_a_job_that_is_forgotten_is_told_with_the_policy(headway: Headway) -> None:
    assert re.search(r"mine.py:9: the policy left 4 of 4 jobs waiting for ever", told(headway, "pass"))


def test_the_line_is_found_late_in_a_long_run(headway: Headway) -> None:
    jobs = "".join(f"{n} {n} -1 3000 1 -1 -1 1 3000 {'-1 ' * 8}\n" for n in range(1, 5001))
    headway.write("log.swf", f"; MaxProcs: 10000\n{jobs}")  # the tables must grow before it
    new = "range(state.clock[FIRST_NEW], state.clock[LAST_NEW])"
    body = f"for job in {new}:\n    start(state, job if job < 4500 else 7, MACHINE, HEAD)"
    sentence = told(headway, f"pass\n{body}")
    assert "mine.py:14 (start(state, job if job < 4500 else 7, MACHINE, HEAD)): at 4501 s" in sentence
    assert "started job 8, which has finished" in sentence


@pytest.mark.skipif(kernels.INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("line", "body", "says"),
    [
        (13, "x = 1\ny = state.jbs[0]", "State has no 'jbs'"),
        (13, "x = 1\nstrat(state, x, MACHINE)", "name 'strat' is not defined"),
        (13, "x = 1\ny = 'a' + x", "there is no compiled form of add(str, int)"),
        (13, "x = 1\nstart(state, x)", "missing a required argument: 'pool'"),
        (13, "x = 1\ny = [x]\nstate.options[4] = len(y)", "it makes a list, a dictionary, a text or an"),
        (13, "x = 1\ny = str(x)", "it makes a list, a dictionary, a text or an array, which a"),
        (13, "x = 1\nwith open('c') as file: pass", "construct is not supported"),
        (13, "x = 1\nreturn x", "a compiled policy returns nothing; it starts jobs itself"),
        (14, "x = 1\nif t > 5: x = 'a'\ny = x", "x is int in one place and str in another; a name keeps"),
        (13, "x = 1\nPath(x)", "name 'Path' is not defined"),
        (6, "procs_of(state, 'a')", "cannot be compiled"),
        (9, "yield 1", "a compiled policy starts jobs itself; it cannot yield"),
    ],
)
def test_what_cannot_be_compiled_is_told_by_its_line(
    headway: Headway, line: int, body: str, says: str
) -> None:
    sentence = told(headway, body)
    assert sentence.startswith(f"headway: mine.py:{line}")
    assert says in sentence
    internals = r"array\(|Literal|int64|Dispatcher|NRT|nopython|\$|0x|overload|unicode"
    assert not re.search(internals, sentence, re.IGNORECASE)


def test_a_compiled_policy_has_whole_parameters(headway: Headway) -> None:
    headway.write("mine.py", COMPILED.format(body="pass").replace("@compiled", "@compiled(limit=3)"))
    assert "limit must be a whole number, not 1.5" in refused(headway, "./mine.py:mine(limit=1.5)")
    assert "has no parameter 'k'; it has limit" in refused(headway, "./mine.py:mine(k=1)")


def test_copies_in_python_call_copies() -> None:
    seen = []

    def outer(x: int) -> int:
        return inner(x) + 1

    def inner(x: int) -> int:
        return 2 * x

    def instead(x: int) -> int:
        seen.append(x)
        return x

    assert Interpreter({inner: instead}).copy(outer)(5) == 6
    assert seen == [5]
    assert outer(5) == 11
    interpreted = Interpreter({}).copy(step)
    assert interpreted.__code__ is getattr(step, "py_func", step).__code__
    assert not hasattr(interpreted.__globals__["foresee"], "py_func")
