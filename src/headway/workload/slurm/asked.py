"""What submit lines ask for, as rows of numbers and texts.

Counts are -1 where nothing is asked, but for the columns of ABSENT.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.arrays import Ints
from headway.site.values import clock_time
from headway.units import SECOND
from headway.workload.slurm import cells
from headway.workload.slurm.submit_line import options_and_script

if TYPE_CHECKING:
    import polars as pl


NUMBERS = (
    "min_nodes", "max_nodes", "tasks", "cpus_per_task", "tasks_per_node", "memory_node_mb",
    "memory_cpu_mb", "exclusive", "time_min", "nice", "array_limit", "held", "requeue", "contiguous",
    "kill_invalid", "oversubscribe", "exclusive_user", "switches", "switch_wait", "one_thread",
    "one_task_core", "gres_units", "gres_by_task", "cpus_per_gpu", "memory_gpu_mb",
)  # fmt: skip
"""Columns of whole numbers that a submit line gives; `time_min` and `switch_wait` in µs.

A job of `one_thread` uses one thread of each core that it has; one of `one_task_core` has a core for each
task. What a job of `gres_units` asks for in `gres` is a unit, of which it wants so many on all of its nodes
together; with `gres_by_task` one for each task. `cpus_per_gpu` are then the CPUs for a unit."""

TEXTS = (
    "partition", "constraint", "gres", "licenses", "reservation", "dependency", "required_nodes",
    "excluded_nodes", "begin", "end_by", "name", "further",
)  # fmt: skip
"""Columns of text that a submit line gives; `further` are options of FURTHER."""

FURTHER = frozenset((
    "bb", "bbf", "consolidate-segments", "core-spec", "cores-per-socket", "extra-node-info",
    "gpus-per-socket", "mincpus", "nodefile",
    "ntasks-per-gpu", "ntasks-per-socket", "overcommit", "prefer", "priority", "reboot", "resources",
    "segment", "sockets-per-node", "spread-job", "spread-segments", "thread-spec", "tmp", "tres-per-task",
    "use-min-nodes",
))  # fmt: skip
"""Options that change when or where a job starts and are only noted by name."""
ONE_THREAD = frozenset(("nomultithread", "compute_bound"))
"""What --hint says of jobs that use one thread of each core."""

ABSENT = dict.fromkeys(
    ("max_nodes", "exclusive", "nice", "array_limit", "held", "contiguous", "oversubscribe",
     "exclusive_user", "switches", "one_thread", "one_task_core", "gres_units", "gres_by_task",
     "cpus_per_gpu", "memory_gpu_mb"), 0
)  # fmt: skip
"""Columns in which nothing asked is 0; in all others it is -1."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGT]?)B?", re.IGNORECASE)

WITHOUT_EFFECT = ("chdir", "comment", "error", "export", "input", "mail-type", "mail-user", "output")
"""Options that often differ from job to job, and on which nothing here depends."""


class Lines:
    """Submit lines read so far, and what they ask for, as rows of numbers and texts."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, str]] = {}
        """By line: the place of what it asks for, and the job's name."""
        self._places: dict[frozenset[tuple[str, str]], int] = {}
        self._asked: list[dict[str, Any]] = []

    def rows(self, lines: list[str]) -> tuple[Ints, list[pl.Series]]:
        """Numbers by line and NUMBERS, and the texts for each of TEXTS."""
        import polars as pl

        places, names = zip(*map(self._at, lines), strict=True) if lines else ((), ())
        used, row = np.unique(np.array(places, np.int64), return_inverse=True)
        asked = [self._asked[place] for place in used.tolist()]
        numbers = [[each.get(name, ABSENT.get(name, -1)) for name in NUMBERS] for each in asked]
        texts = [
            pl.Series(names, dtype=pl.String)
            if name == "name"
            else pl.Series([each.get(name, "") for each in asked], dtype=pl.String).gather(row)
            for name in TEXTS
        ]
        return np.array(numbers, np.int64).reshape(-1, len(NUMBERS))[row], texts

    def _at(self, line: str) -> tuple[int, str]:
        known = self._known.get(line)
        if known is None:
            given, script = options_and_script(line)
            name = given.pop("job-name", "") or script
            for option in WITHOUT_EFFECT:
                given.pop(option, None)
            place = self._places.setdefault(frozenset(given.items()), len(self._asked))
            if place == len(self._asked):
                self._asked.append(_asked(given))
            known = self._known[line] = place, name
        return known


COUNTS = {"ntasks": "tasks", "cpus-per-task": "cpus_per_task", "ntasks-per-node": "tasks_per_node"}
MEMORY = {"mem": "memory_node_mb", "mem-per-cpu": "memory_cpu_mb"}
AS_WRITTEN = {
    "partition": "partition", "constraint": "constraint", "licenses": "licenses",
    "reservation": "reservation", "dependency": "dependency", "nodelist": "required_nodes",
    "exclude": "excluded_nodes", "begin": "begin", "deadline": "end_by",
}  # fmt: skip
"""Options that are a count, an amount of memory or a text, and their columns."""


def _asked(given: dict[str, str]) -> dict[str, Any]:
    """What options ask for, by the names of our columns."""
    asked: dict[str, Any] = _size(given) | _switched_on(given)
    asked |= {name: given[option] for option, name in AS_WRITTEN.items() if given.get(option)}
    if (least := _duration(given.get("time-min", ""))) is not None:
        asked["time_min"] = least
    if given.get("switches"):
        most, _, wait = given["switches"].partition("@")
        asked["switches"] = count_of(most) or 0
        if (longest := _duration(wait)) is not None:
            asked["switch_wait"] = longest
    if "nice" in given:
        text = given["nice"] or "100"
        nice = count_of(text.removeprefix("-").removeprefix("+")) or 0
        asked["nice"] = -nice if text.startswith("-") else nice
    if "array" in given and (limit := re.search(r"%(\d+)", given["array"])):
        asked["array_limit"] = count_of(limit[1]) or 0
    asked["further"] = _further(given)
    asked["gres"] = _gres(given)
    return asked | _of_gpus(given, asked["gres"])


def _size(given: dict[str, str]) -> dict[str, int]:
    """Nodes, tasks and memory."""
    tasks = count_of(given.get("ntasks", ""))
    asked = _nodes(given.get("nodes", ""), tasks)
    for option, name in COUNTS.items():
        if (count := count_of(given.get(option, ""))) is not None:
            asked[name] = count
    for option, name in MEMORY.items():
        if (megabytes := _megabytes(given.get(option, ""))) is not None:
            asked[name] = megabytes
    return asked


def _switched_on(given: dict[str, str]) -> dict[str, int]:
    """What a job is, or is not: 1 or 0."""
    hints = set(given.get("hint", "").lower().split(","))
    asked = {
        "exclusive": given.get("exclusive") in ("", "exclusive"),
        "exclusive_user": given.get("exclusive") == "user",
        "contiguous": "contiguous" in given,
        "oversubscribe": "oversubscribe" in given or "share" in given,
        "held": "hold" in given,
        "one_thread": bool(hints & ONE_THREAD) or given.get("threads-per-core") == "1",
        "one_task_core": given.get("ntasks-per-core") == "1",
    }
    if "requeue" in given or "no-requeue" in given:
        asked["requeue"] = "requeue" in given
    if (answer := given.get("kill-on-invalid-dep", "").lower()) in ("yes", "no"):
        asked["kill_invalid"] = answer == "yes"
    return {name: int(it_is) for name, it_is in asked.items()}


def _further(given: dict[str, str]) -> str:
    """Options that are only noted by name."""
    noted = [name for name in given if name in FURTHER]
    if "memory_bound" in given.get("hint", "").lower().split(","):
        noted.append("hint=memory_bound")
    noted += [name for name in ("threads-per-core", "ntasks-per-core") if given.get(name, "1") != "1"]
    if given.get("exclusive", "") not in ("", "exclusive", "user"):
        noted.append(f"exclusive={given['exclusive']}")
    noted += ["qos with several names"] if "," in given.get("qos", "") else []
    noted += [f"requeue={given['requeue']}"] if given.get("requeue") else []
    return ",".join(sorted(noted))


def _duration(text: str) -> int | None:
    """A time as Slurm writes it, in µs."""
    seconds = clock_time(text) if text else None
    return None if seconds is None else min(seconds, cells.LARGEST_SECONDS) * SECOND


def count_of(text: str) -> int | None:
    """A count that Slurm could have taken; what it could not have, the line does not ask for."""
    return int(text) if text.isdecimal() and len(text) <= 10 and int(text) <= cells.LARGEST_COUNT else None


def _nodes(text: str, tasks: int | None) -> dict[str, int]:
    """-N 3 is exactly three, -N 2-4 is a range; sbatch itself asks for no more nodes than tasks."""
    match = re.fullmatch(r"(\d{1,9})([kK]?)(?:-(\d{1,9})([kK]?))?", text)
    if match is None:
        return {}
    least = int(match[1]) * (1024 if match[2] else 1)
    most = int(match[3]) * (1024 if match[4] else 1) if match[3] else least
    asked = {"min_nodes": least, "max_nodes": most}
    return {name: min(nodes, tasks) for name, nodes in asked.items()} if tasks else asked


def _gres(given: dict[str, str]) -> str:
    """Generic resources for each node, in the words of --gres."""
    parts = [
        part.removeprefix("gres/").removeprefix("gres:") for part in given.get("gres", "").split(",") if part
    ]
    if given.get("gpus-per-node"):
        parts += [f"gpu:{part}" for part in given["gpus-per-node"].split(",")]
    return ",".join(part for part in parts if part not in ("none", "NONE"))


def _of_gpus(given: dict[str, str], each_node: str) -> dict[str, Any]:
    """What is asked for with GPUs, and GPUs for the whole job or for each task, where none are for a node."""
    found: dict[str, Any] = {
        "cpus_per_gpu": count_of(given.get("cpus-per-gpu", "")) or 0,
        "memory_gpu_mb": _megabytes(given.get("mem-per-gpu", "")) or 0,
    }
    if "gpu" in (part.split(":")[0] for part in each_node.split(",")):
        return found
    of_task, of_job = given.get("gpus-per-task", ""), given.get("gpus", "")
    kind, _, count = (of_task or of_job).rpartition(":")
    number, kind = count_of(count) or 0, f"gpu:{kind}" if kind else "gpu"
    if not number or "," in kind:
        return found
    unit = f"{kind}:{number if of_task else 1}"
    found["gres"] = f"{each_node},{unit}" if each_node else unit
    found["gres_units"], found["gres_by_task"] = (1, 1) if of_task else (number, 0)
    return found


def _megabytes(text: str) -> int | None:
    match = _SIZE.fullmatch(text)
    scale = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024**2}
    if match is None or len(match[1]) > 15:
        return None
    # Slurm rounds KB up to whole MB.
    return -int(-float(match[1]) * scale[match[2].upper()] // 1)
