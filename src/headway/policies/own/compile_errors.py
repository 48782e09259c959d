"""Why a user's policy cannot be compiled: the user's line and a reason in words, not the compiler's."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

from headway.policies.own import faults

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
    place = faults.shown_line(function.__code__.co_filename, line)
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
