"""Mistakes in a user's policy as one sentence: file and line, what is wrong, the instant and the jobs."""

from __future__ import annotations

import inspect
import linecache
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import headway
from headway.errors import PolicyError
from headway.policies.own.view import Job, View
from headway.units import seconds_text

PACKAGE = str(Path(headway.__file__).parent) + os.sep
SHOWN = 5


def shown_path(file: str) -> str:
    """A path as the user would write it: relative where the file is below the working folder."""
    try:
        relative = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return file if relative.startswith("..") else relative


def defined_at(thing: Any) -> str:
    """``file:line`` where a function, a class or an object's ``decide`` is defined, or its name."""
    thing = getattr(thing, "func", getattr(thing, "hook", thing))  # without its parameters
    function = (
        thing if inspect.isroutine(thing) or inspect.isclass(thing) else getattr(thing, "decide", thing)
    )
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    if code is not None:
        return f"{shown_path(code.co_filename)}:{code.co_firstlineno}"
    return getattr(thing, "__qualname__", type(thing).__qualname__)


def users_line(traceback: TracebackType | None) -> str:
    """``file:line (code)`` of the innermost frame that is the user's, not ours nor a library's."""
    frames = list(inspect.getinnerframes(traceback)) if traceback is not None else []
    own = [frame for frame in frames if not _of_library(frame.filename)]
    if not own:
        return ""
    frame = own[-1]
    text = linecache.getline(frame.filename, frame.lineno).strip()
    return f"{shown_path(frame.filename)}:{frame.lineno}" + (f" ({text})" if text else "")


def _of_library(file: str) -> bool:
    return file.startswith(PACKAGE) or f"{os.sep}site-packages{os.sep}" in file or file.startswith("<frozen")


def error_words(error: BaseException) -> str:
    """An exception in words, on one line."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def named(ids: Sequence[int]) -> str:
    """Jobs by their ids in the log, the first few of them."""
    if not ids:
        return "no job"
    some = ", ".join(str(job) for job in ids[:SHOWN])
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return f"job{'' if len(ids) == 1 else 's'} {some}{more}"


def situation(view: View) -> str:
    """The instant and who waits, to stand behind what went wrong."""
    waiting = [job.id for job in view.waiting]
    wait = "no job waiting" if not waiting else f"{named(waiting)} waiting"
    return f"at {seconds_text(view.now)} s, with {wait} and {view.free} of {view.capacity} processors free"


def raised(error: BaseException, view: View, policy: Any) -> PolicyError:
    """The user's code raised an exception during a pass."""
    place = users_line(error.__traceback__) or defined_at(policy)
    return PolicyError(f"{place}: the policy raised {error_words(error)}, {situation(view)}", law="answers")


def wrong_answer(answer: Any, view: View, policy: Any) -> PolicyError:
    """The policy answered with something that is no decision."""
    kind = "an object" if answer is None else f"{answer!r:.60}"
    return PolicyError(
        f"{defined_at(policy)}: the policy must answer with the jobs to start or a Decision, not {kind}, "
        f"{situation(view)}",
        law="answers",
    )


def refused(policy: Any, view: View, sentence: str, law: str) -> PolicyError:
    """A decision that cannot be carried out."""
    return PolicyError(f"{defined_at(policy)}: at {seconds_text(view.now)} s the policy {sentence}", law=law)


def forgotten(
    policy: Callable[..., Any], now: int, waiting: Iterable[Job], capacity: int, jobs: int
) -> PolicyError:
    """Nothing runs, nothing more will happen, and jobs wait."""
    ids = [job.id for job in waiting]
    return PolicyError(
        f"{defined_at(policy)}: the policy left {len(ids)} of {jobs} jobs waiting for ever ({named(ids)}); "
        f"after {seconds_text(now)} s nothing runs, {capacity} processors are free and nothing more happens",
        law="complete",
    )
