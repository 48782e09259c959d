"""Ways to damage bytes: blind ones, ones that know numbers and lines, and ones that know JSON."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
import re
import sqlite3
import zlib
from collections.abc import Callable
from typing import Any

NUMBERS = (
    b"0", b"-0", b"-1", b"1", b"00", b"0.5", b"-0.000001", b"1e3", b"1e18", b"1e308", b"1e309", b"1e-400", b"nan",
    b"NaN", b"inf", b"-inf", b"Infinity", b"2147483648", b"4294967296", b"9223372036854775807",
    b"9223372036854775808", b"-9223372036854775809", b"18446744073709551616", b"1152921504606846975",
    b"9" * 30, b"9" * 400, b"9" * 5000, b"1." + b"3" * 500, b"0x10", b"1_000", b"1,5", b"+", b"-", b".", b"e5",
    b"", b" ", b"\xd9\xa3", b"true", b"null", b"1/0", b"1/3",
)  # fmt: skip
"""What stands where a number should."""

TEXTS = (
    b"\x00", b"\x1b[31m\x07", b"\r", b"\n", b"\n\n\n", b"\t", b"|", b"||||", b",", b",,,,,", b'"', b"'", b";", b"#",
    b"=1+1", b"@x", b"../../x", b"/dev/null", b"\xff\xfe", b"\xc3", b"\xef\xbb\xbf", "é".encode(), "\u202e".encode(),
    "\U0001f600".encode(), b"%s%n{0}", b"[[bold]]", b"A" * 3000, b"[" * 2000, b"(" * 500, b"{" * 300, b"{}", b"[]",
    b"]", b"}", b")", b"(", b"\\", b"//", b"-->", b"<script>", b"headway", b"None", b"easy(", b"./x.py:Y",
    b"\\ud800", b"\\udfffx", b"\xed\xa0\x80",
)  # fmt: skip
"""What stands anywhere."""

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**30, 0.5, -0.5, 1e300, 1e18, "", "x", "\x1b[2J", "\u202e",
    "9" * 5000, "-1", "nan", [], {}, [[]], [None], {"": None}, [1, 2, 3], ["x"], {"x": 1}, "A" * 5000, "=1+1",
    "\ud800", "x\udfff\ud800", ["\udc80"],
)  # fmt: skip
"""What stands in the place of any value of a JSON document."""

SEPARATORS = (b"|", b",", b";", b":", b"=", b" ", b"\t", b"\n", b"[", b"(", b"-", b"_", b'"', b"}")

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def flip(data: bytes, rng: random.Random) -> bytes:
    """Some bytes become others."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def cut(data: bytes, rng: random.Random) -> bytes:
    """The end is missing."""
    return data[: rng.randrange(len(data) + 1)]


def remove(data: bytes, rng: random.Random) -> bytes:
    """A part is missing."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.choice((1, 2, 5, 20, 200)) :]


def repeat(data: bytes, rng: random.Random) -> bytes:
    """A part stands there several times."""
    at = rng.randrange(len(data) + 1)
    part = data[at : at + rng.choice((1, 3, 20, 200))]
    return data[:at] + part * rng.choice((2, 3, 50)) + data[at:]


def insert(data: bytes, rng: random.Random) -> bytes:
    """Something hostile stands between."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(TEXTS + NUMBERS) + data[at:]


def number(data: bytes, rng: random.Random) -> bytes:
    """Some numbers are others."""
    found = list(_NUMBER.finditer(data))
    for place in sorted(
        rng.sample(found, min(len(found), rng.choice((1, 1, 2, 5)))), key=lambda m: -m.start()
    ):
        data = data[: place.start()] + rng.choice(NUMBERS) + data[place.end() :]
    return data


def lines(data: bytes, rng: random.Random) -> bytes:
    """Lines are shuffled, missing, doubled or split."""
    parts = data.split(b"\n")
    at, other = rng.randrange(len(parts)), rng.randrange(len(parts))
    how = rng.randrange(4)
    if how == 0:
        parts[at], parts[other] = parts[other], parts[at]
    elif how == 1:
        del parts[at]
    elif how == 2:
        parts.insert(other, parts[at])
    else:
        fields = re.split(rb"([ ,|=])", parts[at])
        rng.shuffle(fields)
        parts[at] = b"".join(fields)
    return b"\n".join(parts)


def doubled(data: bytes, rng: random.Random) -> bytes:
    """Lines stand there twice or more often: behind each other, at the end, or all of them."""
    parts = data.split(b"\n")
    chosen = rng.sample(parts, rng.choice((1, 1, 2, len(parts))) % (len(parts) + 1))
    if rng.random() < 0.5:
        return b"\n".join(line for line in parts for _ in range(rng.choice((2, 30)) if line in chosen else 1))
    return b"\n".join((*parts[:-1], *chosen * rng.choice((1, 30)), *parts[-1:]))


def flood(data: bytes, rng: random.Random) -> bytes:
    """A separator stands there by the thousand."""
    at = rng.randrange(len(data) + 1)
    part = rng.choice(SEPARATORS) + rng.choice((b"", b"x", b" ", b"1"))
    return data[:at] + part * rng.choice((300, 24_000)) + data[at:]


def splice(data: bytes, rng: random.Random) -> bytes:
    """The beginning with another end of itself."""
    return data[: rng.randrange(len(data) + 1)] + data[rng.randrange(len(data) + 1) :]


def document(data: bytes, rng: random.Random) -> bytes:
    """A value, an entry or a key of a JSON document is another; the document stays sound."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return flip(data, rng)
    places: list[tuple[Any, Any]] = []
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict | list):
            entries = list(node.items()) if isinstance(node, dict) else list(enumerate(node))
            places += [(node, key) for key, _ in entries]
            waiting += [value for _, value in entries]
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not places:
            return json.dumps(rng.choice(VALUES)).encode()
        node, key = rng.choice(places)
        try:
            how = rng.randrange(6)
            if how == 0:
                del node[key]
            elif how == 1 and isinstance(node, dict):
                node[str(rng.choice(VALUES))] = node.pop(key)
            elif how == 2:
                node[key] = [node[key]]
            elif how == 3 and isinstance(node, list):
                node.insert(rng.randrange(len(node) + 1), node[key])
            else:
                node[key] = rng.choice(VALUES)
        except (KeyError, IndexError):
            continue
    return json.dumps(tree).encode()


def deep(data: bytes, rng: random.Random) -> bytes:
    """A value is nested very deeply."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return b"[" * 100_000
    place = rng.choice(found)
    opening, closing = rng.choice(
        ((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"), (b"f(", b")"), (b"{a=", b"}"))
    )
    depth = rng.choice((40, 900, 20_000))
    return data[: place.start()] + opening * depth + place[0] + closing * depth + data[place.end() :]


Mutation = Callable[[bytes, random.Random], bytes]
BLIND: tuple[Mutation, ...] = (flip, cut, remove, repeat, insert, splice)
TEXT: tuple[Mutation, ...] = (*BLIND, number, number, number, lines, lines, deep, flood, doubled)
JSON: tuple[Mutation, ...] = (*TEXT, document, document, document, document)


def packed(data: bytes, rng: random.Random) -> bytes:
    """Gzip data damaged before or after it was packed."""
    if rng.random() < 0.5:
        with contextlib.suppress(OSError, EOFError, zlib.error):  # it was damaged already
            return gzip.compress(rng.choice(TEXT)(gzip.decompress(data), rng), 1)
    return rng.choice(BLIND)(data, rng)


def cell(data: bytes, rng: random.Random) -> bytes:
    """A cell of an SQLite database holds something else; the database stays sound."""
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        try:
            database.deserialize(data)
            _change(database, rng)
            database.commit()
            return bytes(database.serialize())
        except (sqlite3.Error, OverflowError, UnicodeError):  # it was damaged already, or takes no such value
            return flip(data, rng)


def _change(database: sqlite3.Connection, rng: random.Random) -> None:
    named = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    filled = [name for (name,) in named.fetchall() if database.execute(f"SELECT 1 FROM {name}").fetchone()]
    table = rng.choice(filled)
    row, *old = rng.choice(database.execute(f"SELECT rowid, * FROM {table}").fetchall())
    columns = [about[1] for about in database.execute(f"PRAGMA table_info({table})")]
    place = rng.randrange(len(columns))
    value = rng.choice(VALUES)
    if isinstance(old[place], str) and rng.random() < 0.7:
        value = rng.choice(JSON)(old[place].encode(), rng).decode("utf-8", "replace")
    if isinstance(value, dict | list):
        value = json.dumps(value)
    if rng.random() < 0.1:
        database.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
    else:
        database.execute(f"UPDATE {table} SET {columns[place]} = ? WHERE rowid = ?", (value, row))
