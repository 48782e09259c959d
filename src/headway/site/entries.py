"""Entries of configuration files and of scontrol's output: keys and values with the place they stand at.

slurm.conf is read as Slurm reads it: comments from # on, a backslash at a line's end continues it, quotes
around values with blanks, `Include FILE` reads another file in its place.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from headway.documents import read_bytes
from headway.errors import InputError
from headway.values import LARGEST

Value = TypeVar("Value")

_PAIR = re.compile(r'\s*([\w.\[\]]+)\s*[-+*/]?=\s*("([^"]*)"|\S*)(?=\s|$)')
_INCLUDE = re.compile(r"\s*include\s+(\S.*?)\s*$", re.IGNORECASE)
_COMMENT = re.compile(r"(?<!\\)#.*")
_SHOWN = re.compile(r"(?:^|\s)([A-Za-z][\w/:.]*)=")
_OTHER_FILE = re.compile(r"\S[^=]*:\s*")
"""The heading of a section of scontrol's."""
DEEPEST = 20
"""Files that include each other in a row."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The pairs of one line, or of one block of scontrol; keys as they are spelled, looked up in any case."""

    file: str
    line: int
    pairs: dict[str, str]
    _folded: dict[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_folded", {key.lower(): value for key, value in self.pairs.items()})

    def get(self, key: str, default: str = "") -> str:
        """A value as text."""
        return self._folded.get(key.lower(), default)

    def __contains__(self, key: str) -> bool:
        return key.lower() in self._folded

    def read(self, key: str, how: Callable[[str], Value], default: Value) -> Value:
        """A value read by a function, whose ValueError becomes a sentence with file and line."""
        text = self._folded.get(key.lower())
        if text is None:
            return default
        try:
            value = how(text)
        except ValueError as error:
            raise self.error(str(error), key) from None
        except OverflowError:
            raise self.error("is a number out of range", key) from None
        numbers = value.values() if isinstance(value, dict) else (value,)
        if any(isinstance(number, int) and abs(number) > LARGEST for number in numbers):
            raise self.error("is a number out of range", key)
        return value

    def listed(self, key: str, how: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
        """A list of names, read as `read` does; empty where there is none."""
        return tuple(self.read(key, how, ()))

    def over(self, defaults: Entry | None) -> Entry:
        """This entry with the values of a DEFAULT line where it has none of its own."""
        if defaults is None:
            return self
        inherited = {key: value for key, value in defaults.pairs.items() if key not in self}
        return Entry(self.file, self.line, inherited | self.pairs)

    def error(self, message: str, key: str | None = None) -> InputError:
        """A sentence about this entry."""
        return InputError(message, file=self.file, line=self.line, field=key)

    @property
    def where(self) -> str:
        """File and line, for lists."""
        return f"{Path(self.file).name}:{self.line}"


class Lines(NamedTuple):
    """Where the rules of a site stand: its partitions and QOS by their names, associations in their order."""

    partitions: Mapping[str, Entry] = MappingProxyType({})
    qos: Mapping[str, Entry] = MappingProxyType({})
    associations: Sequence[Entry] = ()


def text_of(path: Path, what: str) -> str:
    """The text of a file of a site's folder, without the mark at its beginning that some editors write."""
    try:
        raw = read_bytes(path)
    except OSError as error:
        raise InputError(f"{what} cannot be read ({error.strerror})", file=path) from None
    if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise InputError("is UTF-16 text; save it as plain ASCII or UTF-8", file=path)
    return raw.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")


def configuration(path: Path) -> Iterator[Entry]:
    """Every line of slurm.conf and of what it includes, in the order in which Slurm takes them."""
    yield from _file(path, ())


def _file(path: Path, chain: tuple[Path, ...]) -> Iterator[Entry]:
    real = path.resolve()
    chain = (*chain, real)
    for number, line in _lines(text_of(path, "the configuration")):
        include = _INCLUDE.match(line)
        if include is None:
            pairs = _pairs(line, path, number)
            if pairs:
                yield Entry(str(path), number, pairs)
            continue
        for other in _included(path, include[1].strip('"'), number):
            if other.resolve() in chain:
                loop = [*chain[chain.index(other.resolve()) :], other.resolve()]
                shown = " includes ".join(step.name for step in loop)
                message = f"Include makes a loop: {shown}; take one Include out"
                raise InputError(message, file=path, line=number)
            if len(chain) >= DEEPEST:
                message = f"Include is nested deeper than {DEEPEST} files"
                raise InputError(message, file=path, line=number)
            yield from _file(other, chain)


def _included(path: Path, name: str, number: int) -> list[Path]:
    """The files an Include means: beside the file itself, whatever folder the site had them in."""
    for candidate in (Path(name), path.parent / name, path.parent / Path(name).name):
        if candidate.is_file() and (not candidate.is_absolute() or candidate.parent == path.parent):
            return [candidate]
    if any(sign in name for sign in "*?["):
        where = path.parent / Path(name).parent
        here = where if where.is_dir() and not Path(name).is_absolute() else path.parent
        return sorted(other for other in here.glob(Path(name).name) if not other.samefile(path))
    if Path(name).is_file():
        return [Path(name)]
    message = f"includes {name}, which is not there; put the file next to {path.name}"
    raise InputError(message, file=path, line=number)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, continued ones put together, with the number of their first."""
    held, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        first = first or number
        line = _COMMENT.sub("", line)
        if line.rstrip().endswith("\\"):
            held += line.rstrip()[:-1]
            continue
        held += line.replace("\\#", "#")
        if held.strip():
            yield first, held
        held, first = "", 0
    if held.strip():
        yield first, held


def _pairs(line: str, path: Path, number: int) -> dict[str, str]:
    pairs: dict[str, str] = {}
    place = 0
    while line[place:].strip():
        match = _PAIR.match(line, place)
        if match is None:
            shown = line[place:].strip()[:40]
            message = f"{shown!r} cannot be read; {path.name} consists of Key=Value, quotes around blanks"
            raise InputError(message, file=path, line=number)
        pairs[match[1]] = match[2] if match[3] is None else match[3]
        place = match.end()
    return pairs


def parameters_shown(path: Path) -> Iterator[Entry]:
    """The lines of `scontrol show config`: Key = value, until those of other files, such as cgroup.conf."""
    for number, line in enumerate(text_of(path, "the configuration").splitlines(), 1):
        if _OTHER_FILE.fullmatch(line):
            return
        key, equals, value = line.partition("=")
        if equals and key.strip() and " " not in key.strip():
            yield Entry(str(path), number, {key.strip(): value.strip()})


def blocks_shown(path: Path, first: str) -> Iterator[Entry]:
    """The blocks of `scontrol show partition|node|reservation`, each beginning with the key `first`."""
    pairs: dict[str, str] = {}
    begun = 0
    for number, line in enumerate(text_of(path, "scontrol's output").splitlines(), 1):
        found = list(_SHOWN.finditer(line))
        if found and found[0][1].lower() == first.lower() and not line[: found[0].start()].strip():
            if pairs:
                yield Entry(str(path), begun, pairs)
            pairs, begun = {}, number
        if not begun:
            if line.strip() and not line.lower().startswith(("no ", "#")):
                message = f"begins with {line.strip()[:30]!r}, not with {first}=; "
                message += f"it should be the output of 'scontrol show {first.removesuffix('Name').lower()}'"
                raise InputError(message, file=path, line=number)
            continue
        for place, match in enumerate(found):
            end = found[place + 1].start() if place + 1 < len(found) else len(line)
            pairs.setdefault(match[1], line[match.end() : end].strip())
    if pairs:
        yield Entry(str(path), begun, pairs)
