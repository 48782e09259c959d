"""Lists of node names as Slurm writes them, n[1-8,10], taken apart and put together."""

from __future__ import annotations

import re
from collections.abc import Iterable

MOST_NODES = 1_000_000
"""Names after which a list is taken for a mistake."""

_PART = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")
_PIECE = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_NUMBERED = re.compile(r"(.*?)(\d+)(\D*)")


def expanded(text: str) -> list[str]:
    """Every name of a list, in its order.

    >>> expanded("n[1-3,07],gpu1"), expanded("r[1-2]n[1-2]")
    (['n1', 'n2', 'n3', 'n07', 'gpu1'], ['r1n1', 'r1n2', 'r2n1', 'r2n2'])
    """
    names: list[str] = []
    place = 0
    while place < len(text):
        if text[place] in ", ":
            place += 1
            continue
        part = _PART.match(text, place)
        if part is None:
            raise ValueError(f"{text!r} is not a list of nodes such as n[1-8,10]")
        place = part.end()
        if place < len(text) and text[place] not in ", ":
            raise ValueError(f"{text!r} is not a list of nodes such as n[1-8,10]")
        names += _names(part[0], text)
        if len(names) > MOST_NODES:
            raise ValueError(f"{text!r} names more than {MOST_NODES} nodes")
    return names


def _names(part: str, text: str) -> list[str]:
    pieces = _PIECE.split(part.strip())
    found = [pieces[0]]
    for ranges, tail in zip(pieces[1::2], pieces[2::2], strict=True):
        numbers = _numbers(ranges, text)
        if len(found) * len(numbers) > MOST_NODES:
            raise ValueError(f"{text!r} names more than {MOST_NODES} nodes")
        found = [f"{head}{number}{tail}" for head in found for number in numbers]
    return found


def _numbers(ranges: str, text: str) -> list[str]:
    numbers: list[str] = []
    for part in ranges.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{text!r} is not a list of nodes: {part!r} is not a number or range of numbers")
        first, last = match[1], match[2] or match[1]
        if int(last) < int(first):
            raise ValueError(f"{text!r} is not a list of nodes: the range {part} runs backwards")
        if int(last) - int(first) >= MOST_NODES:
            raise ValueError(f"{text!r} names more than {MOST_NODES} nodes")
        numbers += [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
    return numbers


def compressed(names: Iterable[str]) -> str:
    """The list that Slurm writes for names in this order: neighbours with one prefix share brackets.

    >>> compressed(["n1", "n2", "n3", "n7", "gpu1"]), compressed(["c01", "c02"]), compressed(["login"])
    ('n[1-3,7],gpu1', 'c[01-02]', 'login')
    """
    parts: list[str] = []
    group: list[str] = []
    around = ("", "")

    def close() -> None:
        if group:
            ranges = _ranges(group)
            single = len(group) == 1
            parts.append(f"{around[0]}{group[0] if single else f'[{ranges}]'}{around[1]}")
            group.clear()

    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None:
            close()
            parts.append(name)
            continue
        if (match[1], match[3]) != around:
            close()
            around = (match[1], match[3])
        group.append(match[2])
    close()
    return ",".join(parts)


def _ranges(numbers: list[str]) -> str:
    runs: list[list[str]] = []
    for number in numbers:
        last = runs[-1][-1] if runs else ""
        if last and int(number) == int(last) + 1 and len(number) >= len(last) and number == _after(last):
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _after(number: str) -> str:
    return f"{int(number) + 1:0{len(number)}d}"
