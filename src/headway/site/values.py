"""Values as Slurm writes them: times, counts, sizes, lists of resources. A ValueError says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping

NOTHING = ("", "(null)", "N/A", "NONE", "None", "none", "n/a", "Unknown")
ENDLESS = ("UNLIMITED", "INFINITE", "-1")

_TIME = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")
_UNIT = re.compile(r"(\d+(?:\.\d+)?)\s*(usec|sec|seconds|min|minutes|hours|percent)?(?:\s*\(.*\))?")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGTP]?)B?", re.IGNORECASE)
_WEIGHT = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)([KMGTP]?)B?", re.IGNORECASE)
_MB = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}
_COUNT = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4, "P": 1024**5}


def nothing(text: str) -> bool:
    """Whether a value says that there is none."""
    return text.strip() in NOTHING


def endless(text: str) -> bool:
    """Whether a value says that there is no limit."""
    return text.strip().upper() in ENDLESS


def seconds(text: str, bare: int = 60) -> int:
    """Seconds of a time: 30, 30:00, 8:00:00, 1-12, 1-12:30, 1-12:30:00; a bare number counts `bare` seconds.

    >>> seconds("30"), seconds("8:00:00"), seconds("1-12"), seconds("90 sec"), seconds("5 min")
    (1800, 28800, 129600, 90, 300)
    """
    text = text.strip()
    unit = _UNIT.fullmatch(text)
    if unit is not None:
        scale = {"usec": 1e-6, "sec": 1, "seconds": 1, "min": 60, "minutes": 60, "hours": 3600}.get(
            unit[2] or "", bare
        )
        return int(float(unit[1]) * scale)
    time = clock_time(text)
    if time is None:
        raise ValueError(f"{text!r} is not a time such as 30, 8:00:00 or 1-12:00:00 (days-hours)")
    return time


def clock_time(text: str) -> int | None:
    """Seconds of a time such as 30 (minutes), 8:00:00 or 1-12:30; None where it is none.

    >>> clock_time("30"), clock_time("1:30:00"), clock_time("1-12"), clock_time("soon")
    (1800, 5400, 129600, None)
    """
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    days, first, second, third = (None if part is None else int(part) for part in match.groups())
    if days is not None:
        return ((days * 24 + (first or 0)) * 60 + (second or 0)) * 60 + (third or 0)
    if third is not None:
        return ((first or 0) * 60 + (second or 0)) * 60 + third
    return (first or 0) * 60 + (second or 0)


def minutes(text: str) -> int | None:
    """Whole minutes of a time limit, rounded up as Slurm does; None where there is no limit.

    >>> minutes("6:00:00"), minutes("0:30"), minutes("INFINITE")
    (360, 1, None)
    """
    return None if endless(text) or nothing(text) else -(-seconds(text) // 60)


def whole(text: str) -> int:
    """A whole number from 0 up."""
    match = _UNIT.fullmatch(text.strip())
    if match is None or "." in match[1]:
        raise ValueError(f"{text!r} is not a whole number")
    return int(match[1])


def limit(text: str) -> int | None:
    """A whole number, or None where there is no limit."""
    return None if endless(text) or nothing(text) else whole(text)


def megabytes(text: str) -> int:
    """MB of 4000, 4000M, 4G or 1T."""
    return _sized(text, _MB, "an amount of memory such as 4000 (MB), 4G or 1T")


def yes(text: str) -> bool:
    """YES or NO, in any of the ways in which people write it."""
    word = text.strip().upper()
    if word in ("YES", "Y", "TRUE", "1", "UP"):
        return True
    if word in ("NO", "N", "FALSE", "0", "DOWN", *(name.upper() for name in NOTHING)):
        return False
    raise ValueError(f"{text!r} is neither YES nor NO")


def names(text: str) -> tuple[str, ...]:
    """The names of a list between commas; none where it says so."""
    return () if nothing(text) else tuple(part.strip() for part in text.split(",") if part.strip())


def everyone(text: str) -> tuple[str, ...] | None:
    """The names of a list, or None where it is ALL."""
    return None if nothing(text) or text.strip().upper() == "ALL" else names(text)


def tres(text: str) -> dict[str, int]:
    """Resources and their counts, memory in MB: cpu=80,mem=1G,gres/gpu=2; a count of -1 is no limit.

    >>> tres("cpu=80,mem=2G,GRES/gpu=4,node=-1")
    {'cpu': 80, 'mem': 2048, 'gres/gpu': 4}
    """
    found: dict[str, int] = {}
    for part in names(text):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"{part!r} is not a resource and its count, such as cpu=80")
        name = tres_name(name)
        if value.strip() == "-1":
            continue
        found[name] = megabytes(value) if name == "mem" else _sized(value, _COUNT, "a count")
    return found


def _sized(text: str, units: Mapping[str, float], wanted: str) -> int:
    """A number with a unit behind it; ``wanted`` says what the text should be."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not {wanted}")
    return int(float(match[1]) * units[match[2].upper()])


def tres_name(name: str) -> str:
    """A resource's name as it is compared: types in lower case, names as they are."""
    kind, slash, rest = name.strip().partition("/")
    return kind.lower() + slash + rest


def weights(text: str) -> dict[str, float]:
    """Weights of resources, of one MB for memory; one below 0 is a malus.

    >>> weights("CPU=1.0,Mem=.25G,GRES/gpu=-2e3")
    {'cpu': 1.0, 'mem': 0.000244140625, 'gres/gpu': -2000.0}
    """
    found: dict[str, float] = {}
    for part in names(text):
        name, equals, value = part.partition("=")
        match = _WEIGHT.fullmatch(value.strip())
        if not equals or match is None:
            raise ValueError(f"{part!r} is not a resource and its weight, such as CPU=1.0")
        unit = match[2].upper()
        name = tres_name(name)
        found[name] = float(match[1]) / (_MB[unit] if name == "mem" else _COUNT[unit])
    return found


def gres(text: str) -> dict[str, int]:
    """Generic resources of a node: by name, and by name:type where a type is given.

    >>> gres("gpu:a100:2,gpu:v100:1(S:0-1),craynetwork:4")
    {'gpu': 3, 'gpu:a100': 2, 'gpu:v100': 1, 'craynetwork': 4}
    """
    found: dict[str, int] = {}
    for part in names(re.sub(r"\([^)]*\)", "", text)):
        words = [word for word in part.split(":") if word != "no_consume"]
        count = 1
        if len(words) > 1 and _SIZE.fullmatch(words[-1]) and words[-1][0].isdigit():
            count = _sized(words.pop(), _COUNT, "a count")
        found[words[0]] = found.get(words[0], 0) + count
        if len(words) > 1:
            kind = ":".join(words[:2])
            found[kind] = found.get(kind, 0) + count
    return found
