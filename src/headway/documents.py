"""TOML and JSON documents: read once, and refused in one sentence where they are damaged or out of range.

Numbers must fit into 64 bits and be finite: what is larger is a mistake, and would be one in all that comes.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from math import isfinite
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from headway.errors import InputError
from headway.values import BITS64, fits

if TYPE_CHECKING:
    from gzip import GzipFile

MOST = 256 << 20
"""Bytes of a document at most."""
DEEPEST = 50
"""How deep tables and lists may be nested."""

_AT_LINE = re.compile(r"\s*\(at (line \d+, column \d+|end of document)\)")


def read_bytes(path: str | Path, most: int = MOST) -> bytes:
    """The bytes of a file, a pipe or a device; one without end is refused before it fills the memory."""
    with Path(path).open("rb") as file:
        return up_to(file, path, most)


def up_to(file: IO[bytes] | GzipFile, name: str | Path, most: int = MOST) -> bytes:
    """What is left of an open file, if it is not more than so many bytes."""
    parts, left = [], most
    while part := file.read(min(left + 1, 1 << 20)):
        parts.append(part)
        left -= len(part)
        if left < 0:
            raise InputError(
                f"has more than {most >> 20} MiB, which is too much; is it the right file?", file=name
            )
    return b"".join(parts)


def read_text(path: str | Path, kind: str) -> str:
    """The text of a file in UTF-8; ``kind`` is what it should be."""
    try:
        return read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise InputError("there is no such file; check the path", file=path) from None
    except UnicodeDecodeError:
        raise InputError(f"is not text in UTF-8; it should be {kind}", file=path) from None
    except IsADirectoryError:
        raise InputError(f"is a folder; it should be {kind}", file=path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=path) from None


def digest_of(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def parse_toml(text: str, name: str | Path, *, finite: bool = True) -> dict[str, Any]:
    """The document of a TOML text; ``name`` is what errors call the file.

    Without ``finite``, infinite numbers and those that are none are left to who knows their lines.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+)", str(error))
        reason = _AT_LINE.sub("", str(error))
        line = int(place[1]) if place else None
        raise InputError(f"is not valid TOML: {reason}", file=name, line=line) from None
    except RecursionError:
        raise InputError("is not valid TOML: it is nested too deeply", file=name) from None
    except ValueError:  # digits without end, or a date that there is not
        raise InputError("is not valid TOML: it has a number or a date out of range", file=name) from None
    check_numbers(document, name, finite)
    return document


def read_toml(path: str | Path) -> dict[str, Any]:
    """The document of a TOML file."""
    return parse_toml(read_text(path, "TOML"), path)


def read_json(path: str | Path, remedy: str) -> Any:
    """The document of a JSON file of ours; ``remedy`` says what to do where it is damaged."""
    text = read_text(path, "JSON")
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON ({error.msg}); {remedy}", file=path, line=error.lineno) from None
    except RecursionError:
        raise InputError(f"is nested too deeply; {remedy}", file=path) from None
    except ValueError:
        raise InputError(f"has a number that is none or out of range; {remedy}", file=path) from None
    check_numbers(document, path)
    return document


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def check_numbers(document: Any, name: str | Path, finite: bool = True) -> None:
    """Refuse numbers beyond 64 bits, those that are infinite or none, and what is nested too deeply."""
    waiting: list[tuple[str, Any, int]] = [("", document, 0)]
    while waiting:
        field, value, depth = waiting.pop()
        if depth > DEEPEST:
            raise InputError("is nested too deeply", file=name, field=field[:40])
        if isinstance(value, dict):
            waiting += [(f"{field}.{key}".lstrip("."), inner, depth + 1) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(field, inner, depth + 1) for inner in value]
        elif (finite and isinstance(value, float) and not isfinite(value)) or (
            type(value) is int and value not in BITS64
        ):
            raise InputError("is a number out of range; give a finite one of 64 bits", file=name, field=field)


def check_entries(document: Any, entries: dict[str, Any], path: str | Path, remedy: str) -> None:
    """Refuse a document in which an entry is there and does not have its shape in ``entries``."""
    if not isinstance(document, dict):
        raise InputError(f"is no table of entries; {remedy}", file=path)
    for key, shape in entries.items():
        if key in document and not fits(document[key], shape):
            raise InputError(f"is not what it should be; {remedy}", file=path, field=key)
