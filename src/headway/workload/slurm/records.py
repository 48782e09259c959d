"""Tables of text into arrays of numbers: the records of an export, before any is taken for a job."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from headway.arrays import Ints
from headway.errors import InputError
from headway.workload.slurm import cells, states
from headway.workload.slurm.asked import Lines
from headway.workload.slurm.job_ids import TASK, WAITING_TASKS, array_and_task, identified, shown_ids
from headway.workload.slurm.not_modelled import feature_bits
from headway.workload.slurm.requests import request_columns

if TYPE_CHECKING:
    import polars as pl

    from headway.workload.slurm.text import Table

_LABELLED = {"user": ("User", "UID"), "account": ("Account",), "partition": ("Partition",), "qos": ("QOS",),
             "cluster": ("Cluster",)}  # fmt: skip
_SOURCES: dict[str, tuple[tuple[str, Callable[[pl.Series], pl.Series]], ...]] = {
    "elapsed": tuple((name, lambda text: cells.duration(text, 1)) for name in ("ElapsedRaw", "Elapsed")),
    "limit": tuple((name, lambda text: cells.duration(text, 60)) for name in ("TimelimitRaw", "Timelimit")),
    "requested": (("ReqCPUS", cells.whole), ("ReqTRES", lambda text: cells.tres(text, "cpu"))),
    "allocated": (("AllocCPUS", cells.whole), ("AllocTRES", lambda text: cells.tres(text, "cpu")),
                  ("NCPUS", cells.whole)),
    "nodes": (("AllocNodes", cells.whole), ("NNodes", cells.whole),
              ("AllocTRES", lambda text: cells.tres(text, "node")), ("ReqNodes", cells.whole)),
    "billing": (("AllocTRES", lambda text: cells.tres(text, "billing")),),
    "cpu": (("TotalCPU", lambda text: cells.duration(text, 1)),),
    "memory": (("ReqMem", lambda text: cells.memory_kb(text, "M")),),
    "suspended": (("Suspended", lambda text: cells.duration(text, 1)),),
}  # fmt: skip
"""What gives each number: the first of these columns that is there and says something."""
CLOCKS = {"submit": "Submit", "eligible": "Eligible", "start": "Start", "end": "End"}
UNKNOWN = np.iinfo(np.int64).min
"""Stands for an unknown value until rules are applied."""


class Records:
    """Every record of an export but its steps, gathered table by table; times in µs since 1970.

    With `requests` also what each job asked for, in columns called `request:` and a name.
    """

    def __init__(self, name: str, zone: str, *, requests: bool = False) -> None:
        self.name, self.zone = name, zone
        self.labels: dict[str, dict[str, int]] = {kind: {} for kind in _LABELLED}
        self._lines = Lines() if requests else None
        self.clock_times = 0
        """Clock times without an offset that were read."""
        self._parts: list[dict[str, npt.NDArray[Any]]] = []
        self._steps: list[dict[str, npt.NDArray[Any]]] = []
        self._node_counts: dict[str, int] = {}
        self.task_lists: list[list[int]] = []
        """Tasks of records that stand for several; their column `listed` has the place."""

    def add(self, table: Table) -> None:
        """Take the records of one table."""
        if not table.frame.height:
            return
        frame = table.frame
        ids = identified(frame)
        self._check_ids(frame, ids["key"], table.line)
        step = ids.pop("step")
        part: dict[str, npt.NDArray[Any]] = {"line": table.line, "repaired": table.repaired}
        part |= {name: column.to_numpy() for name, column in ids.items()}
        part |= _tasks(frame, part["kind"])
        if np.isin(part["kind"], (TASK, WAITING_TASKS)).any():
            part |= self._array_tasks(frame, part["kind"])
        if step.any():
            is_step = step.to_numpy()
            self._add_steps(frame.filter(step), part["key"][is_step], part["number"][is_step])
            frame = frame.filter(~step)
            part = {name: values[~is_step] for name, values in part.items()}
        if not frame.height:
            return
        numbers = self._numbers(frame)
        self._check(frame, numbers, part["line"])
        part |= {name: _array(numbers[name]) for name in numbers.columns}
        part |= self._labels(frame)
        part["state"] = self._states(frame)
        if "NodeList" in frame.columns:
            part["no_nodes"] = (frame["NodeList"].str.to_lowercase() == "none assigned").to_numpy()
        if self._lines is not None:
            part |= self._requests(frame, self._lines)
        self._parts.append(part)

    def _array_tasks(self, frame: pl.DataFrame, kind: npt.NDArray[np.uint8]) -> dict[str, Ints]:
        """The array of each record and its task, or where the tasks of a record of several are listed."""
        shown = shown_ids(frame)
        array, task = array_and_task(shown)
        place = np.full(frame.height, UNKNOWN, np.int64)
        for row in np.flatnonzero(kind == WAITING_TASKS).tolist():
            place[row] = len(self.task_lists)
            self.task_lists.append(cells.task_numbers(shown[row]))
        return {"array": array, "task": task, "listed": place}

    def _requests(self, frame: pl.DataFrame, lines: Lines) -> dict[str, npt.NDArray[Any]]:
        """What jobs asked for; a list of partitions stands where the recorded partition would."""
        numbers, texts = request_columns(frame, lines)
        part: dict[str, npt.NDArray[Any]] = {f"request:{name}": values for name, values in numbers.items()}
        for name, values in texts.items():
            part["partition" if name == "partition" else f"request:{name}"] = self._coded(name, values)
        return part

    def _add_steps(self, frame: pl.DataFrame, key: Ints, number: Ints) -> None:
        """Keep what steps say of their job: who it is and the memory they used."""
        part: dict[str, npt.NDArray[Any]] = {"key": key, "number": number}
        if "MaxRSS" in frame.columns:
            part["max_rss"] = _array(cells.memory_kb(frame["MaxRSS"], "bytes"))
        if "NTasks" in frame.columns:
            part["tasks"] = _array(cells.whole(frame["NTasks"]))
        if "Cluster" in frame.columns:
            part["cluster"] = self._labels(frame.select("Cluster"))["cluster"]
        self._steps.append(part)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """All records that are no steps, as columns in file order."""
        return _joined(self._parts)

    def steps(self) -> dict[str, npt.NDArray[Any]]:
        """Keys of the steps and what they used."""
        return _joined(self._steps)

    def _numbers(self, frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        columns: dict[str, pl.Series] = {}
        for target, column in CLOCKS.items():
            if column in frame.columns:
                columns[target] = cells.epoch(frame[column])
        for target, choices in _SOURCES.items():
            for column, read in choices:
                found = columns.get(target)
                if column not in frame.columns or (found is not None and not found.null_count()):
                    continue
                read_here = read(frame[column])
                if found is not None:
                    read_here = pl.select(pl.coalesce(found, read_here)).to_series()
                columns[target] = read_here
        names = frame.columns
        if "ReqMem" in names:
            per = frame["ReqMem"].str.slice(-1)
            columns["per"] = per.replace_strict({"c": 1, "n": 2}, default=0, return_dtype=pl.UInt8)
            if "ReqTRES" in names and (frame["ReqMem"] == "0n").any():
                # All the memory of its nodes: what that came to is in the list.
                whole = cells.memory_kb(frame["ReqTRES"].str.extract(r"(?:^|,)mem=([^,]+)"), "M")
                all_of_it = frame["ReqMem"] == "0n"
                columns["memory"] = pl.select(
                    pl.when(all_of_it).then(whole).otherwise(columns["memory"])
                ).to_series()
                columns["per"] = pl.select(
                    pl.when(all_of_it).then(0).otherwise(columns["per"]).cast(pl.UInt8)
                ).to_series()
        limits = [pl.col(name) for name in ("TimelimitRaw", "Timelimit") if name in names]
        words = [*cells.NO_LIMIT, *cells.A_YEAR]
        no_limit = pl.any_horizontal([limit.is_in(words) for limit in limits or [pl.lit("")]])
        more = frame.with_columns(no_limit=no_limit, bits=feature_bits(names)).select("no_limit", "bits")
        numbers = pl.DataFrame(columns | more.to_dict(as_series=True))
        numbers = self._on_the_clock(frame, numbers)
        return self._with_node_lists(frame, numbers)

    def _on_the_clock(self, frame: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
        """The times that are written as a clock shows them, in the zone of the rule."""
        import polars as pl

        wanted: dict[str, pl.Expr | pl.Series] = {}
        odd = pl.zeros(frame.height, pl.Boolean, eager=True)
        gap = odd
        for target, column in CLOCKS.items():
            if column not in frame.columns or not numbers[target].null_count():
                continue
            if not frame[column].str.contains("T", literal=True).any():
                continue
            shown = cells.clock(frame[column])
            self.clock_times += len(shown) - shown.null_count()
            if self.zone in ("UTC", "none"):
                wanted[target] = pl.coalesce(target, shown.dt.timestamp("us"))
                continue
            try:
                early = shown.dt.replace_time_zone(self.zone, ambiguous="earliest", non_existent="null")
                late = shown.dt.replace_time_zone(self.zone, ambiguous="latest", non_existent="null")
                # An hour that was skipped: the clock had not been put forward yet.
                moved = shown.dt.offset_by("1h").dt.replace_time_zone(
                    self.zone, ambiguous="earliest", non_existent="null"
                )
            except (pl.exceptions.PolarsError, ValueError):
                sentence = f"there is no time zone {self.zone!r}; give one such as zone=Europe/Berlin"
                raise InputError(sentence, file=self.name) from None
            twice = (early != late).fill_null(False)
            never = early.is_null() & shown.is_not_null()
            wanted[target] = pl.coalesce(target, early.dt.timestamp("us"), moved.dt.timestamp("us"))
            if target == "start":
                wanted["late_start"] = late.dt.timestamp("us")
            odd, gap = odd | twice, gap | never
        return numbers.with_columns(**wanted).with_columns(twice=odd, skipped=gap)

    def _with_node_lists(self, frame: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
        """The number of nodes from their names, where no column gives it."""
        import polars as pl

        if "nodes" in numbers.columns or "NodeList" not in frame.columns:
            return numbers
        lists = frame["NodeList"]
        fresh = [text for text in lists.unique().to_list() if text not in self._node_counts]
        if len(self._node_counts) > 200_000:
            self._node_counts.clear()
        for text in fresh if self._node_counts else lists.unique().to_list():
            self._node_counts[text] = 0 if text in cells.NOTHING else cells.nodes_of(text)
        counts = lists.replace_strict(self._node_counts, return_dtype=pl.Int64)
        return numbers.with_columns(nodes=counts)

    def _check(self, frame: pl.DataFrame, numbers: pl.DataFrame, line: Ints) -> None:
        """Complain about the first cell that is neither a value nor a word for none."""
        import polars as pl

        silent = [*cells.NOTHING, *cells.NO_LIMIT, "0"]
        sources = {
            **{target: (column,) for target, column in CLOCKS.items()},
            "elapsed": ("ElapsedRaw", "Elapsed"), "limit": ("TimelimitRaw", "Timelimit"),
            "requested": ("ReqCPUS",), "allocated": ("AllocCPUS",), "memory": ("ReqMem",),
        }  # fmt: skip
        worst: tuple[int, str] | None = None
        for target, columns in sources.items():
            if target not in numbers.columns or not numbers[target].null_count():
                continue
            for column in (column for column in columns if column in frame.columns):
                bad = frame.select(
                    pl.Series(numbers[target].is_null()) & ~pl.col(column).str.strip_chars().is_in(silent)
                ).to_series()
                row = bad.arg_max() if bad.any() else None
                if row is not None and (worst is None or row < worst[0]):
                    worst = (row, column)
        if worst is not None:
            raise self._unreadable(frame, *worst, line)

    def _check_ids(self, frame: pl.DataFrame, key: pl.Series, line: Ints) -> None:
        if key.null_count():
            row = int(key.is_null().arg_max() or 0)
            raise self._unreadable(frame, row, "JobIDRaw" if "JobIDRaw" in frame.columns else "JobID", line)

    def _unreadable(self, frame: pl.DataFrame, row: int, column: str, line: Ints) -> InputError:
        text = str(frame[column][row])
        shown = ascii(text[:30]) + ("..." if len(text) > 30 else "")
        message = f"{shown} cannot be read; "
        if column in CLOCKS.values() and any(sign.isdigit() for sign in text):
            message += "times are as sacct shows them by itself: export with SLURM_TIME_FORMAT=%s"
        else:
            message += "are the columns mixed up, or is the line damaged? export again"
        return InputError(message, file=self.name, line=int(line[row]), field=column)

    def _labels(self, frame: pl.DataFrame) -> dict[str, npt.NDArray[np.int32]]:
        columns = {
            kind: next((name for name in choices if name in frame.columns), None)
            for kind, choices in _LABELLED.items()
        }
        return {kind: self._coded(kind, frame[name]) for kind, name in columns.items() if name is not None}

    def _coded(self, kind: str, texts: pl.Series) -> npt.NDArray[np.int32]:
        """Texts as places among the labels of a kind; -1 for none."""
        import polars as pl

        codes = self.labels.setdefault(kind, {})
        unique = texts.unique(maintain_order=True).to_list()
        coded = [-1 if text in cells.NOTHING else codes.setdefault(text, len(codes)) for text in unique]
        return texts.replace_strict(unique, coded, return_dtype=pl.Int32).to_numpy()

    def _states(self, frame: pl.DataFrame) -> npt.NDArray[np.uint8]:
        import polars as pl

        if "State" not in frame.columns:
            return np.full(frame.height, states.COMPLETED, np.uint8)
        # `CANCELLED by 1001` names a user: the first word is enough, and keeps the list of states short.
        words = frame["State"].str.extract(r"^(\S*)").fill_null("")
        unique = words.unique().to_list()
        kinds = [states.COMPLETED if not word else states.kind(word) for word in unique]
        return words.replace_strict(unique, kinds, return_dtype=pl.UInt8).to_numpy()


def _tasks(frame: pl.DataFrame, kind: npt.NDArray[np.uint8]) -> dict[str, npt.NDArray[Any]]:
    """How many jobs each record stands for, the tasks of an array that has not started; whether some lack."""
    tasks = np.ones(frame.height, np.int64)
    cut, beyond = np.zeros(frame.height, np.bool_), np.zeros(frame.height, np.bool_)
    waiting = np.flatnonzero(kind == WAITING_TASKS)
    if len(waiting):
        shown = shown_ids(frame).gather(waiting)
        tasks[waiting] = [cells.waiting_tasks(job) for job in shown.to_list()]
        cut[waiting] = shown.str.contains("...", literal=True).to_numpy()
        beyond[waiting] = [cells.tasks_named(job) > cells.MOST_TASKS for job in shown.to_list()]
    return {"tasks": tasks, "cut": cut, "beyond": beyond}


def _array(column: pl.Series) -> npt.NDArray[Any]:
    """A column as an array, with UNKNOWN where a number is null."""
    import polars as pl

    return column.fill_null(UNKNOWN).to_numpy() if column.dtype == pl.Int64 else column.to_numpy()


def _joined(parts: list[dict[str, npt.NDArray[Any]]]) -> dict[str, npt.NDArray[Any]]:
    """Columns of all tables, which are given up; a table without a column has nothing known in it."""
    rows = [len(part["key"]) for part in parts]
    joined: dict[str, npt.NDArray[Any]] = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        dtype = next(part[name].dtype for part in parts if name in part)
        blank = UNKNOWN if dtype == np.int64 else -1 if dtype == np.int32 else 0
        pieces = [
            part[name] if name in part else np.full(count, blank, dtype)
            for part, count in zip(parts, rows, strict=True)
        ]
        joined[name] = np.concatenate(pieces)
        for part in parts:
            part.pop(name, None)
    return joined
