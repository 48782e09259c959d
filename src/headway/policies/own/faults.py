"""Mistakes in a user's policy as one sentence: file and line, what is wrong, the instant and the jobs.

Whatever a user's code raises is a mistake, an exit too, which would end the command as if all had been done;
but for an interrupt, which is the user's wish: :func:`error_words` lets it go on.
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from traceback import walk_tb
from types import CodeType, FunctionType, TracebackType
from typing import Any

import headway
from headway.errors import PolicyError, UsageError
from headway.plain import counted
from headway.policies.own.view import Decision, Job, View
from headway.units import seconds_text

PACKAGE = str(Path(headway.__file__).parent) + os.sep
SHOWN = 5
UNSET = re.compile(r"can't set attribute|of 'View' object has no setter|'(Job|View)' object has no attribute")
"""What Python says of an assignment to a field of a job or of the view."""


def shown_path(file: str) -> str:
    """A path as the user would write it: relative where the file is below the working folder."""
    try:
        relative = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return file if relative.startswith("..") else relative


def code_of(thing: Any) -> CodeType | None:
    """The code of a function, of an object's ``decide`` or of a hook."""
    thing = getattr(thing, "func", getattr(thing, "hook", thing))  # without its parameters
    function = (
        thing if inspect.isroutine(thing) or inspect.isclass(thing) else getattr(thing, "decide", thing)
    )
    return getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)


def defined_at(thing: Any) -> str:
    """``file:line`` where a function, a class or an object's ``decide`` is defined, or its name."""
    code = code_of(thing)
    if code is not None:
        return f"{shown_path(code.co_filename)}:{code.co_firstlineno}"
    thing = getattr(thing, "func", thing)
    return getattr(thing, "__qualname__", type(thing).__qualname__)


def users_line(traceback: TracebackType | None, policy: Any = None) -> str:
    """``file:line (code)`` of the innermost frame that is the user's, not ours nor a library's.

    The file of the ``policy`` is the user's wherever it lies: it may come with an installed package.
    """
    frames = list(walk_tb(traceback))
    files = [frame.f_code.co_filename for frame, _ in frames]
    home = getattr(code_of(policy), "co_filename", "")
    own = [place for place, file in enumerate(files) if file == home or not of_library(file)]
    return shown_line(files[own[-1]], frames[own[-1]][1]) if own else ""


def shown_line(file: str, line: int) -> str:
    """``file:line (code)``."""
    text = linecache.getline(file, line).strip()
    return f"{shown_path(file)}:{line}" + (f" ({text})" if text else "")


def of_library(file: str) -> bool:
    """Whether a file is ours or a library's."""
    return file.startswith((PACKAGE, "<frozen")) or f"{os.sep}site-packages{os.sep}" in file


def is_ours(function: FunctionType) -> bool:
    """Whether a function is of this package."""
    return function.__code__.co_filename.startswith(PACKAGE)


def error_words(error: BaseException) -> str:
    """A mistake in words, on one line; an interrupt is none and goes on, even out of these words."""
    if isinstance(error, KeyboardInterrupt):
        raise error
    try:
        words = " ".join(str(error).split())
    except KeyboardInterrupt:
        raise
    except BaseException:
        words = ""
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
    return situation_words(view.now, [job.id for job in view.waiting], view.free, view.capacity)


def situation_words(now: int, waiting: Sequence[int], free: int, capacity: int) -> str:
    """The instant (µs) and who waits, from the numbers themselves."""
    return f"at {seconds_text(now)} s, with {named(waiting)} waiting and {free} of {capacity} processors free"


def raised(error: BaseException, view: View, policy: Any) -> PolicyError:
    """The user's code raised an exception during a pass."""
    place = users_line(error.__traceback__) or defined_at(policy)
    if isinstance(error, KeyboardInterrupt):
        error.add_note(f"the policy was at {place}")
    words = f"the policy raised {error_words(error)}"
    if isinstance(error, AttributeError) and error.obj is None and UNSET.search(str(error)):
        words += " (jobs and view are for reading; keep what you change in variables of your own)"
    elif isinstance(error, AttributeError) and isinstance(error.obj, Job):
        words = f"a job has no {error.name!r}; it has {', '.join(Job._fields)}"
        if error.name in view._arrived:
            words += f", and there is view.waiting.{error.name} for all who wait"
        if error.name in ("runtime", "end"):
            words += "; when a job will end is not known before it has ended"
    return PolicyError(f"{place}: {words}, {situation(view)}", law="answers")


def copied(policy: Any, why: str) -> Any:
    """A copy of a user's policy, for a run of its own; ``why`` ends the sentence where there can be none."""
    try:
        return copy.deepcopy(policy)
    except BaseException as error:
        raise UsageError(
            f"{defined_at(policy)}: the policy cannot be copied ({error_words(error)}), and {why}"
        ) from None


class Refusal(PolicyError):
    """What a policy answered cannot be done. ``place`` is where the policy stands, or better the line that
    returned the answer; ``number`` is that of the pass, from 1 on."""

    def __init__(self, place: str, sentence: str, *, law: str, number: int = 0) -> None:
        super().__init__(f"{place}: {sentence}", law=law)
        self.sentence, self.number = sentence, number

    def at(self, place: str) -> Refusal:
        """The same with another place."""
        return Refusal(place, self.sentence, law=self.law, number=self.number)


def wrong_answer(answer: Any, view: View, policy: Any) -> Refusal:
    """The policy answered with something that is no decision."""
    words = f"the policy must answer with the jobs to start or a Decision, not {_kind(answer)}"
    words = f"{words}, {situation(view)}"
    return Refusal(defined_at(policy), words, law="answers")


def _kind(answer: Any) -> str:
    """What is no decision, and where it is known how it is meant, how to write it."""
    if inspect.iscoroutine(answer):
        answer.close()  # else Python complains, too
    if isinstance(answer, Job):
        return f"job {answer.id} alone (write [job])"
    if inspect.iscoroutine(answer) or inspect.isasyncgen(answer):
        return "a coroutine (write def without async)"
    if callable(answer):
        return f"{getattr(answer, '__name__', 'an object')} itself (call it)"
    inside = answer[0] if isinstance(answer, list) and answer else None
    if isinstance(inside, list | tuple | Decision) and not isinstance(inside, Job):
        return f"a list with a {type(inside).__name__} in it (give that alone)"
    return f"{answer!r:.60}"


def refused(policy: Any, view: View, sentence: str, law: str) -> Refusal:
    """A decision that cannot be carried out."""
    return Refusal(defined_at(policy), f"at {seconds_text(view.now)} s the policy {sentence}", law=law)


def forgotten(
    policy: Callable[..., Any], now: int, waiting: Iterable[Job], capacity: int, jobs: int
) -> PolicyError:
    """Nothing runs, nothing more will happen, and jobs wait."""
    ids = [job.id for job in waiting]
    remedy = "; a policy starts jobs by returning them" if len(ids) == jobs else ""
    return PolicyError(
        f"{defined_at(policy)}: the policy left {len(ids)} of {counted(jobs, 'job')} waiting for ever "
        f"({named(ids)}): after {seconds_text(now)} s nothing runs on {counted(capacity, 'processor')}, "
        f"and no job arrives any more{remedy}",
        law="complete",
    )


# Why a user's policy cannot be compiled: the user's line and a reason in words, not the compiler's.

ALLOCATES = ("NRT required", "Only accept returning of array")
"""What the compiler says of a function that makes something new."""

REASONS = (
    (r"Unknown attribute '(\w+)' of type (.*)", r"\2 has no '\1'"),
    (r"Cannot bind .* due to \"TypeError: (.*?)\"", r"\1"),
    (
        r"Cannot unify (.*) and (.*) for '(\w+?)(?:\.\d+)?'.*",
        r"\3 is \1 in one place and \2 in another; a name keeps one type",
    ),
    (r"Untyped global name '(\w+)'.*", r"'\1' cannot be used in a compiled policy"),
    (
        r"The use of an? (.*?) type, assigned to variable '(\w+)' in globals.*",
        r"'\2', a \1 outside the function, cannot be used in a compiled policy",
    ),
    (r"UnsupportedError: (.*)", r"\1"),
    (r">>> (.*)", r"there is no compiled form of \1"),
    (r"No conversion from .* to none .*", "a compiled policy returns nothing; it starts jobs itself"),
    (r"Signature mismatch: .*", "a compiled policy takes two parameters, the time and the state"),
)
"""What the compiler says, and what it means."""

TYPES = (
    (r"(?:reflected )?(?:list|set)\(.*?\)<iv=None>", "list"),
    (r"Literal\[(\w+)\]\([^()]*\)", r"\1"),
    (r"array\([^()]*\)", "array"),
    (r"State\([^()]*(?:\([^()]*\)[^()]*)*\)", "State"),
    (r"type\(CPUDispatcher\(<function (?:.*\.)?(\w+) at \w+>\)\)", r"\1"),
    (r"Function\(<(?:class|built-in function) '?(\w+)'?>\)", r"\1"),
    (r"unicode_type", "str"),
    (r"\bu?int(?:8|16|32|64)\b", "int"),
    (r"\bfloat(?:32|64)\b", "float"),
    (r"<class '(\w+)'>", r"\1"),
    (r"range_state_int\b|range_iter_int\b", "range"),
)
"""The compiler's names of types, and Python's."""

NOISE = ("Failed in", "During:", "File ", "There are ", "- ", "<source", "^", "def ", "Overload", "raised ")
"""How lines begin that say nothing to a user."""


def compile_words(error: Exception, function: Callable[..., Any]) -> str:
    """One sentence: file and line, the line's text, and why it cannot be compiled."""
    text = re.sub(r"\x1b\[[0-9;]*m|[Nn]umba ?", "", str(error))
    line = _line(error, text, function)
    place = shown_line(function.__code__.co_filename, line)
    return f"{place}: the policy cannot be compiled: {_reason(text, type(error).__name__)}"


def _line(error: Exception, text: str, function: Callable[..., Any]) -> int:
    """The user's line nearest to what is wrong; the compiler tells the innermost first."""
    file = function.__code__.co_filename
    name = re.escape(file.replace("\\", "/").rsplit("/", 1)[-1])
    told = re.search(rf'(?:at|from) {re.escape(file)} \((\d+)\)|File "[^"\n]*{name}", line (\d+)', text)
    if told is not None:
        return int(told[1] or told[2])
    location = getattr(error, "loc", None)
    if location is not None and getattr(location, "filename", "") == file:
        return int(location.line)
    return _first_with(function) if "with (context" in text else function.__code__.co_firstlineno


def _first_with(function: Callable[..., Any]) -> int:
    """The line of the first ``with``, of which the compiler does not say where it is."""
    first = function.__code__.co_firstlineno
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):
        return first
    lines = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.With)]
    return first + min(lines, default=1) - 1


def _reason(text: str, otherwise: str) -> str:
    if any(words in text for words in ALLOCATES):
        return (
            "it makes a list, a dictionary, a text or an array, which a compiled policy cannot do; "
            "what it must remember goes into state.options or into tables of its own (@compiled(tables=...))"
        )
    text = _in_python(text)
    for pattern, words in REASONS:
        found = re.search(pattern, text)
        if found is not None:
            return found.expand(words)
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith(NOISE)), otherwise)
    if "@overload" in first:
        return "the compiler does not know one of its calls"
    return re.sub(r"\.*\s*Raised from .*", "", first)


def _in_python(text: str) -> str:
    """Types by the names that Python has for them."""
    for pattern, name in TYPES:
        text = re.sub(pattern, name, text)
    return text
