"""What jobs asked Slurm for: nodes, tasks, memory, features and the like, as columns of a workload.

Counts are -1 where nothing was asked. What the submit line says goes before what sacct's columns say, which
Slurm has worked out from it; options inside a job script are only in the latter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headway.arrays import Ints, Mask
from headway.workload.slurm import cells
from headway.workload.slurm.asked import NUMBERS, TEXTS, Lines, count_of
from headway.workload.slurm.job_ids import array_and_task, shown_ids

if TYPE_CHECKING:
    import polars as pl


SHAPE = ("min_nodes", "tasks", "cpus_per_task", "tasks_per_node")
"""What a line says of nodes and tasks. Where it says nothing, the job script may, which is not in the log:
then a job takes as many nodes as it had at most."""
FROM_RECORD = ("cpus", "array", "array_task", "node_list", "memory_job_mb", "any_tasks", "cpus_with_gpus")
COLUMNS = (*NUMBERS, *FROM_RECORD, *(name for name in TEXTS if name != "partition"))
"""Every column made here; `partition` is put in the place of the recorded one.

`memory_job_mb` is the memory of the whole job where nothing says whether it is by CPU or by node. A job of
`any_tasks` leaves open how many tasks it has; `cpus_with_gpus` are those of its GPUs, which Slurm counts only
when it starts."""


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
    found["array"], found["array_task"] = array_and_task(shown_ids(frame))
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
    return sum(count_of(words[-1]) or 1 for words in parts if words[0] == "gpu")


def _with_gpus(found: dict[str, Ints], gpus: Ints, told: Mask) -> None:
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
    found["cpus_per_gpu"] = np.where(units > 0, per_gpu * gpus, 0)
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
    spread: Mask,
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
