"""What jobs asked Slurm for: nodes, tasks, memory, features and the like, as columns of a workload.

Counts are -1 where nothing was asked. What the submit line says goes before what sacct's columns say, which
Slurm has worked out from it; options inside a job script are only in the latter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from headway.site.values import clock_time
from headway.units import SECOND
from headway.workload.slurm import cells
from headway.workload.slurm.job_ids import array_and_task
from headway.workload.slurm.submit_line import options_and_script

if TYPE_CHECKING:
    import polars as pl

Ints = npt.NDArray[np.int64]

NUMBERS = (
    "min_nodes", "max_nodes", "tasks", "cpus_per_task", "tasks_per_node", "memory_node_mb",
    "memory_cpu_mb", "exclusive", "time_min", "nice", "array_limit", "held", "requeue", "contiguous",
    "kill_invalid", "oversubscribe", "exclusive_user", "switches", "switch_wait", "one_thread",
    "one_task_core", "gres_units", "gres_by_task", "cpus_per_gpu", "memory_gpu_mb",
)  # fmt: skip
"""Columns of whole numbers that a submit line gives; `time_min` and `switch_wait` in µs.

A job of `one_thread` uses one thread of each core that it has; one of `one_task_core` has a core for each
task. What a job of `gres_units` asks for in `gres` is a unit, of which it wants so many on all of its nodes
together; with `gres_by_task` one for each task."""

TEXTS = (
    "partition", "constraint", "gres", "licenses", "reservation", "dependency", "required_nodes",
    "excluded_nodes", "begin", "end_by", "name", "further",
)  # fmt: skip
"""Columns of text that a submit line gives; `further` are options of FURTHER."""

FURTHER = frozenset((
    "bb", "bbf", "core-spec", "cores-per-socket", "extra-node-info", "gpus-per-socket", "mincpus", "nodefile",
    "ntasks-per-gpu", "ntasks-per-socket", "overcommit", "prefer", "priority", "reboot", "segment",
    "sockets-per-node", "spread-job", "thread-spec", "tmp", "tres-per-task",
    "use-min-nodes",
))  # fmt: skip
"""Options that change when or where a job starts and are only noted by name."""
ONE_THREAD = frozenset(("nomultithread", "compute_bound"))
"""What --hint says of jobs that use one thread of each core."""

SHAPE = ("min_nodes", "tasks", "cpus_per_task", "tasks_per_node")
"""What a line says of nodes and tasks. Where it says nothing, the job script may, which is not in the log:
then a job takes as many nodes as it had at most."""
FROM_RECORD = ("cpus", "array", "array_task", "node_list", "memory_job_mb", "any_tasks", "cpus_with_gpus")
COLUMNS = (*NUMBERS, *FROM_RECORD, *(name for name in TEXTS if name != "partition"))
"""Every column made here; `partition` is put in the place of the recorded one.

`memory_job_mb` is the memory of the whole job where nothing says whether it is by CPU or by node. A job of
`any_tasks` leaves open how many tasks it has; `cpus_with_gpus` are those of its GPUs, which Slurm counts only
when it starts."""

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


def _asked(given: dict[str, str]) -> dict[str, Any]:
    """What options ask for, by the names of our columns."""
    asked: dict[str, Any] = {}
    if "nodes" in given:
        asked |= _nodes(given["nodes"])
        asked |= _at_most_tasks(asked, _number(given.get("ntasks", "")))
    for option, name in (
        ("ntasks", "tasks"), ("cpus-per-task", "cpus_per_task"), ("ntasks-per-node", "tasks_per_node"),
    ):  # fmt: skip
        if (count := _number(given.get(option, ""))) is not None:
            asked[name] = count
    for option, name in (("mem", "memory_node_mb"), ("mem-per-cpu", "memory_cpu_mb")):
        if option in given and (megabytes := _megabytes(given[option])) is not None:
            asked[name] = megabytes
    asked["exclusive"] = int("exclusive" in given and given["exclusive"] in ("", "exclusive"))
    asked["exclusive_user"] = int(given.get("exclusive") == "user")
    asked["contiguous"] = int("contiguous" in given)
    asked["oversubscribe"] = int("oversubscribe" in given or "share" in given)
    if "time-min" in given and (time := clock_time(given["time-min"])) is not None:
        asked["time_min"] = min(time, cells.LARGEST_SECONDS) * SECOND
    if given.get("switches"):
        most, at, wait = given["switches"].partition("@")
        asked["switches"] = _number(most) or 0
        if at and (time := clock_time(wait)) is not None:
            asked["switch_wait"] = min(time, cells.LARGEST_SECONDS) * SECOND
    if "nice" in given:
        text = given["nice"] or "100"
        nice = _number(text.removeprefix("-").removeprefix("+")) or 0
        asked["nice"] = -nice if text.startswith("-") else nice
    if "array" in given and (limit := re.search(r"%(\d+)", given["array"])):
        asked["array_limit"] = _number(limit[1]) or 0
    asked["held"] = int("hold" in given)
    if "requeue" in given or "no-requeue" in given:
        asked["requeue"] = int("requeue" in given)
    for option, name in (
        ("partition", "partition"), ("constraint", "constraint"), ("licenses", "licenses"),
        ("reservation", "reservation"), ("dependency", "dependency"), ("nodelist", "required_nodes"),
        ("exclude", "excluded_nodes"), ("begin", "begin"), ("deadline", "end_by"),
    ):  # fmt: skip
        if given.get(option):
            asked[name] = given[option]
    if given.get("kill-on-invalid-dep", "").lower() in ("yes", "no"):
        asked["kill_invalid"] = int(given["kill-on-invalid-dep"].lower() == "yes")
    further = [name for name in given if name in FURTHER]
    hints = set(given.get("hint", "").lower().split(","))
    asked["one_thread"] = int(bool(hints & ONE_THREAD) or given.get("threads-per-core") == "1")
    asked["one_task_core"] = int(given.get("ntasks-per-core") == "1")
    further += [f"hint={hint}" for hint in hints & {"memory_bound"}]
    for option in {"threads-per-core", "ntasks-per-core"} & given.keys():
        if given[option] != "1":
            further.append(option)
    if given.get("exclusive", "") not in ("", "exclusive", "user"):
        further.append(f"exclusive={given['exclusive']}")
    asked["further"] = ",".join(sorted(further))
    asked["gres"] = _gres(given)
    asked |= _of_gpus(given, asked["gres"])
    return asked


def _number(text: str) -> int | None:
    """A count that Slurm could have taken; what it could not have, the line does not ask for."""
    return int(text) if text.isdecimal() and len(text) <= 10 and int(text) <= cells.LARGEST_COUNT else None


def _nodes(text: str) -> dict[str, int]:
    """-N 3 is exactly three, -N 2-4 is a range."""
    match = re.fullmatch(r"(\d{1,9})([kK]?)(?:-(\d{1,9})([kK]?))?", text)
    if match is None:
        return {}
    least = int(match[1]) * (1024 if match[2] else 1)
    most = int(match[3]) * (1024 if match[4] else 1) if match[3] else least
    return {"min_nodes": least, "max_nodes": most}


def _at_most_tasks(asked: dict[str, Any], tasks: int | None) -> dict[str, int]:
    """No more nodes than tasks: sbatch itself asks for so many."""
    if not tasks or "max_nodes" not in asked:
        return {}
    return {name: min(asked[name], tasks) for name in ("min_nodes", "max_nodes")}


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
        "cpus_per_gpu": _number(given.get("cpus-per-gpu", "")) or 0,
        "memory_gpu_mb": _megabytes(given.get("mem-per-gpu", "")) or 0,
    }
    if "gpu" in (part.split(":")[0] for part in each_node.split(",")):
        return found
    of_task, of_job = given.get("gpus-per-task", ""), given.get("gpus", "")
    kind, _, count = (of_task or of_job).rpartition(":")
    number, kind = _number(count) or 0, f"gpu:{kind}" if kind else "gpu"
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


def request_columns(frame: pl.DataFrame, lines: Lines) -> tuple[dict[str, Ints], dict[str, pl.Series]]:
    """Numbers and texts of every record of a table."""
    import polars as pl

    nothing = pl.repeat("", frame.height, eager=True)
    written = (frame["SubmitLine"] if "SubmitLine" in frame.columns else nothing).to_list()
    numbers, texts = lines.rows(written)
    found = {name: numbers[:, place].copy() for place, name in enumerate(NUMBERS)}
    asked = dict(zip(TEXTS, texts, strict=True))
    found["cpus"] = _first(
        frame, ("ReqCPUS", cells.whole), ("ReqTRES", _tres("cpu")), ("AllocCPUS", cells.whole)
    )
    least = _first(frame, ("ReqNodes", cells.whole), ("ReqTRES", _tres("node")), ("NNodes", cells.whole))
    unsaid = np.logical_and.reduce([found[name] < 0 for name in SHAPE]) & (found["gres_units"] == 0)
    most = np.maximum(_first(frame, ("NNodes", cells.whole)), 0)
    found["max_nodes"] = np.where(unsaid, np.where(most > 0, np.maximum(most, least), 0), found["max_nodes"])
    found["min_nodes"] = np.where(found["min_nodes"] >= 0, found["min_nodes"], np.maximum(least, 1))
    kinds = asked["gres"].unique()
    gpus = (
        asked["gres"].replace_strict(kinds, [_gpus(text) for text in kinds], return_dtype=pl.Int64).to_numpy()
    )
    told = (found["tasks"] > 0) | (found["tasks_per_node"] > 0)
    found["any_tasks"] = (~told & (~unsaid | (gpus > 0))).astype(np.int64)
    _tasks(found)
    _with_gpus(found, gpus, told)
    _memory(frame, found)
    _arrays(frame, found)
    for name, column in (
        ("constraint", "Constraints"), ("reservation", "Reservation"), ("licenses", "Licenses"),
        ("dependency", "Dependency"), ("partition", "Partition"),
    ):  # fmt: skip
        if column in frame.columns:
            filled = _listed if name == "partition" else _filled
            asked[name] = filled(asked[name], frame[column])
    if "JobName" in frame.columns:
        asked["name"] = _filled(frame["JobName"], asked["name"])
    if "ReservationId" in frame.columns:
        number = frame["ReservationId"]
        asked["reservation"] = _filled(
            asked["reservation"],
            pl.select(pl.when(~number.is_in(["", "0"])).then("#" + number).otherwise(pl.lit(""))).to_series(),
        )
    if "ArrayLimit" in frame.columns:
        found["array_limit"] = np.maximum(found["array_limit"], _first(frame, ("ArrayLimit", cells.whole)))
    asked["node_list"] = frame["NodeList"] if "NodeList" in frame.columns else nothing
    if "ReqTRES" in frame.columns:
        had = frame["AllocTRES"] if "AllocTRES" in frame.columns else nothing
        _gres_from_tres(frame["ReqTRES"], had, most > found["min_nodes"], found, asked)
        _licences_from_tres(frame["ReqTRES"], asked)
    return found, asked


def _first(frame: pl.DataFrame, *sources: tuple[str, Any]) -> Ints:
    """The first of several columns that gives a number; -1 where none does."""
    found = np.full(frame.height, -1, np.int64)
    for column, read in sources:
        if column in frame.columns and (found < 0).any():
            values = read(frame[column]).fill_null(-1).to_numpy()
            found = np.where(found >= 0, found, values)
    return found


def _tres(name: str) -> Any:
    return lambda text: cells.tres(text, name)


def _memory_of(text: pl.Series) -> pl.Series:
    """MB in a list of resources."""
    return cells.memory_kb(text.str.extract(r"(?:^|,)mem=([^,]+)"), "M") // 1024


def _tasks(found: dict[str, Ints]) -> None:
    """Tasks and CPUs of each: what was asked, else what the CPUs of the request come to."""
    each = np.maximum(found["cpus_per_task"], 1)
    per_node = np.where(found["tasks_per_node"] > 0, found["tasks_per_node"] * found["min_nodes"], -1)
    worked_out = np.where(per_node > 0, per_node, np.maximum(found["cpus"] // each, 1))
    found["tasks"] = np.where(found["tasks"] > 0, found["tasks"], worked_out)
    found["cpus_per_task"] = each
    found["cpus"] = np.where(found["cpus"] > 0, found["cpus"], found["tasks"] * each)


def _gpus(text: str) -> int:
    """GPUs in a request for generic resources."""
    parts = [part.replace("=", ":").split(":") for part in text.split(",")]
    return sum(_number(words[-1]) or 1 for words in parts if words[0] == "gpu")


def _with_gpus(found: dict[str, Ints], gpus: Ints, told: npt.NDArray[np.bool_]) -> None:
    """CPUs and memory for each GPU, and how many nodes a job may have whose GPUs are not counted by node.

    ``told`` are jobs that say how many tasks they have. One that wants CPUs for each GPU has tasks of so many
    CPUs, one for each node, unless its GPUs are for tasks or for the whole job.
    """
    by_task, units, per_gpu = found["gres_by_task"] > 0, found["gres_units"], found["cpus_per_gpu"]
    groups = np.where(by_task, found["tasks"], np.where(units > 0, units, found["min_nodes"]))
    cpus = groups * gpus * per_gpu
    more = (cpus > found["cpus"]) & (by_task | (units == 0))
    for name, value in (("tasks", groups), ("cpus_per_task", gpus * per_gpu), ("tasks_per_node", -1)):
        found[name] = np.where(more, value, found[name])
    found["cpus_with_gpus"] = cpus
    found["cpus_per_gpu"] = np.where((units > 0) & ~by_task, per_gpu, 0)
    units = np.where(by_task, found["tasks"], units)
    found["gres_units"] = units
    most = np.where(told & (units > 0), np.minimum(units * gpus, found["tasks"]), units * gpus)
    most = np.where(found["max_nodes"] > 0, np.minimum(most, found["max_nodes"]), most)
    found["max_nodes"] = np.where(units > 0, np.maximum(most, found["min_nodes"]), found["max_nodes"])
    by_node = (found["memory_gpu_mb"] > 0) & (units == 0) & (gpus > 0)
    found["memory_node_mb"] = np.where(by_node, found["memory_gpu_mb"] * gpus, found["memory_node_mb"])
    found["memory_gpu_mb"] = np.where(units > 0, found["memory_gpu_mb"] * gpus, 0)


def _memory(frame: pl.DataFrame, found: dict[str, Ints]) -> None:
    """Memory per node or per CPU where the submit line does not say it.

    ReqMem ends in n or c in older versions and in JSON; since 21.08 it is the memory of the whole job, which
    is taken per CPU where it divides: that is how it comes about unless --mem was in the job script. A job
    that had more CPUs than it asked for tells which it was: memory per CPU grew with them, unless they are
    threads that it does not use. One that had more memory and no more CPUs had more nodes, with as much each.
    """
    found["memory_job_mb"] = np.full(frame.height, -1, np.int64)
    if "ReqMem" not in frame.columns:
        return
    text = frame["ReqMem"]
    total = cells.memory_kb(text, "M").fill_null(-1).to_numpy() // 1024
    suffix = text.str.slice(-1).to_numpy()
    open_ = (found["memory_node_mb"] < 0) & (found["memory_cpu_mb"] < 0) & (found["memory_gpu_mb"] == 0)
    cpus, nodes = np.maximum(found["cpus"], 1), np.maximum(found["min_nodes"], 1)
    per_node, per_cpu = suffix == "n", suffix == "c"
    whole = ~per_node & ~per_cpu & (total > 0)
    found["memory_job_mb"][open_ & whole] = total[open_ & whole]
    allocated = _first(frame, ("AllocCPUS", cells.whole))
    grew = _first(frame, ("AllocTRES", _memory_of)) > total
    as_asked = (allocated <= cpus) | (found["one_thread"] > 0)
    divides = whole & (total % cpus == 0) & ((as_asked & (found["exclusive"] == 0)) | grew)
    divides &= ~(grew & (allocated > 0) & (allocated <= cpus))
    found["memory_node_mb"] = np.where(
        open_ & per_node & (total >= 0),
        total,
        np.where(open_ & whole & ~divides, -(-total // nodes), found["memory_node_mb"]),
    )
    found["memory_cpu_mb"] = np.where(
        open_ & per_cpu & (total > 0), total, np.where(open_ & divides, total // cpus, found["memory_cpu_mb"])
    )


def _arrays(frame: pl.DataFrame, found: dict[str, Ints]) -> None:
    """The array a task belongs to and its place in it."""
    column = "JobID" if "JobID" in frame.columns else "JobIDRaw"
    found["array"], found["array_task"] = array_and_task(frame[column])


def _filled(asked: pl.Series, recorded: pl.Series) -> pl.Series:
    """Texts of submit lines, and the recorded ones where there is none."""
    import polars as pl

    known = pl.when(~recorded.is_in(cells.NOTHING)).then(recorded).otherwise(pl.lit(""))
    return pl.select(pl.when(asked != "").then(asked).otherwise(known)).to_series()


def _listed(asked: pl.Series, recorded: pl.Series) -> pl.Series:
    """Partitions as they were submitted, unless the job was moved to one that is not among them."""
    import polars as pl

    stands = (asked != "").to_numpy().copy()
    rows = np.flatnonzero(stands & ((recorded != asked) & ~recorded.is_in(cells.NOTHING)).to_numpy())
    pairs = zip(asked.gather(rows).to_list(), recorded.gather(rows).to_list(), strict=True)
    stands[rows] = [set(had.split(",")) <= set(listed.split(",")) for listed, had in pairs]
    return pl.select(pl.when(pl.Series(stands)).then(asked).otherwise(recorded)).to_series()


def _gres_from_tres(
    lists: pl.Series,
    had: pl.Series,
    spread: npt.NDArray[np.bool_],
    found: dict[str, Ints],
    asked: dict[str, pl.Series],
) -> None:
    """Generic resources for each node, from the job's totals where they are all there is.

    A job that had more nodes than it asked for (``spread``) and no more of a resource wanted that many on all
    of them together.
    """
    rows = _lacking(lists, "gres/", asked["gres"])
    units = []
    for row in rows.tolist():
        text = lists[row]
        unit = _each_node(text, int(found["min_nodes"][row]))
        name, _, count = unit.rpartition(":")
        if spread[row] and "," not in name and _counts(text, "gres/") == _counts(had[row], "gres/"):
            unit, found["gres_units"][row] = f"{name}:1", int(count)
        units.append(unit)
    asked["gres"] = asked["gres"].scatter(rows, units)


def _licences_from_tres(lists: pl.Series, asked: dict[str, pl.Series]) -> None:
    """The same of licences."""
    rows = _lacking(lists, "license/", asked["licenses"])
    counts = [_counts(text, "license/") for text in lists.gather(rows)]
    texts = [",".join(f"{name}:{count}" for name, count in each.items()) for each in counts]
    asked["licenses"] = asked["licenses"].scatter(rows, texts)


def _lacking(lists: pl.Series, kind: str, asked: pl.Series) -> Ints:
    """Rows with resources of a kind whose submit line asks for none."""
    return np.flatnonzero((lists.str.contains(kind, literal=True) & (asked == "")).to_numpy())


def _each_node(text: str, nodes: int) -> str:
    """gpu:a100:2 of gres/gpu=4,gres/gpu:a100=4 on two nodes; a name goes where one of its types is given."""
    counts = _counts(text, "gres/")
    typed = {name.split(":")[0] for name in counts if ":" in name}
    return ",".join(
        f"{name}:{-(-int(count) // max(nodes, 1))}"
        for name, count in counts.items()
        if name not in typed and count.isdecimal()
    )


def _counts(text: str, kind: str) -> dict[str, str]:
    """Names and counts of one kind in a list of resources, as gpu=4 of gres/gpu=4,mem=8G."""
    parts = (part.removeprefix(kind).split("=") for part in text.split(",") if part.startswith(kind))
    return {part[0]: part[1] for part in parts if len(part) == 2}
