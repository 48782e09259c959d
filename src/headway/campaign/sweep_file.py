"""Sweep files: a campaign in TOML.

tau = 60
baseline = "easy"

[[workload]]
trace = "KTH-SP2-1996-2.1-cln.swf.gz"
apply = ["weeks(count=20)", "exact"]

[[policy]]
policy = "redirection"
grid = { theta = [1, 10, 100], alpha = [0.1, 0.2] }
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headway.documents import read_toml
from headway.errors import InputError
from headway.values import fits

KEYS = (
    "name", "workload", "policy", "platform", "apply", "seeds", "replications", "baseline", "tau", "trim",
    "metrics", "measures", "classes", "schedules",
)  # fmt: skip
"""Keys of a sweep file; all but workload, policy and platform are those of `Campaign`."""

TYPES: dict[str, tuple[type, ...]] = {
    "name": (str,), "apply": (str, list), "seeds": (list,), "replications": (int,), "baseline": (str,),
    "tau": (int, float), "trim": (int, float), "metrics": (list,), "measures": (list,), "classes": (bool,),
    "schedules": (bool,),
}  # fmt: skip


def arguments_of(path: Path) -> dict[str, Any]:
    """The arguments of `Campaign` in a sweep file; relative paths in it start from its folder."""
    document = read_toml(path)
    for key, value in document.items():
        if key not in KEYS:
            raise InputError(f"there is no such key; there are {', '.join(KEYS)}", file=str(path), field=key)
        if key in TYPES and not fits(value, TYPES[key]):
            words = " or ".join(_WORDS[kind] for kind in TYPES[key])
            raise InputError(f"must be {words}, not {value!r}", file=str(path), field=key)
    for key in ("workload", "policy"):
        if key not in document:
            raise InputError(f"give at least one [[{key}]]", file=str(path), field=key)
    return {
        "workloads": document["workload"],
        "policies": document["policy"],
        "platforms": document.get("platform"),
        "folder": path.parent,
        "name": path.stem,
    } | {key: value for key, value in document.items() if key in TYPES}


_WORDS: dict[type, str] = {
    str: "a text", list: "a list", int: "a whole number", float: "a number", bool: "true or false",
}  # fmt: skip
