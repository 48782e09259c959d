"""An export of Slurm's accounting with every oddity, and what a reader should make of it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime

COLUMNS = (
    "JobID", "JobIDRaw", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible", "Start", "End",
    "Elapsed", "Timelimit", "ReqCPUS", "AllocCPUS", "NNodes", "ReqMem", "ReqTRES", "AllocTRES", "NodeList",
    "Reservation", "Constraints", "MaxRSS", "NTasks", "JobName",
)  # fmt: skip
T0 = 1_700_000_000
"""2023-11-14T22:13:20 UTC."""


def clock(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def duration(seconds: int) -> str:
    days, rest = divmod(seconds, 86400)
    text = f"{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
    return f"{days}-{text}" if days else text


@dataclass
class Expected:
    """What was put in, counted while it was made."""

    records: int = 0
    steps: int = 0
    jobs: int = 0
    """Records that are no steps."""
    kept: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """JobIDRaw -> submit (s since T0), run (s), requested processors, of every job to be scheduled."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Rule -> records left out."""
    gpus: int = 0
    tasks: int = 0
    pipes: int = 0

    def drop(self, rule: str) -> None:
        self.dropped[rule] = self.dropped.get(rule, 0) + 1


class Export:
    """Lines of an export; `columns` may be any of COLUMNS in any order."""

    def __init__(self, columns: tuple[str, ...] = COLUMNS, seed: int = 1, epoch: bool = False) -> None:
        self.columns, self.random, self.epoch = columns, random.Random(seed), epoch
        self.expected = Expected()
        self.lines = ["|".join(columns)]
        self._next, self._now = 1000, 0

    def text(self, records: int) -> str:
        """At least so many records, ended by a line end."""
        while self.expected.records < records:
            self._job()
        return "\n".join(self.lines) + "\n"

    def _put(self, **cells: object) -> None:
        self.expected.records += 1
        self.lines.append("|".join(str(cells.get(name, "")) for name in self.columns))

    def _time(self, since: int | None) -> str:
        if since is None:
            return "Unknown"
        return str(T0 + since) if self.epoch else clock(T0 + since)

    def _job(self) -> None:
        rng, expected = self.random, self.expected
        self._now += rng.randrange(0, 20)
        number, self._next = self._next, self._next + 1
        procs = rng.choice((1, 1, 2, 4, 8, 16, 64))
        run, wait = rng.randrange(1, 200_000), rng.randrange(0, 5000)
        limit = rng.choice(("UNLIMITED", "Partition_Limit", "1-00:00:00", "3-00:00:00", "02:00:00", "30:00"))
        user = f"u{rng.randrange(40)}"
        gpu = rng.random() < 0.05
        tres = f"billing={procs},cpu={procs},mem={procs * 2}G,node=1"
        if gpu:
            tres += ",gres/gpu:a100=1,gres/gpu=1"
        cells: dict[str, object] = {
            "JobID": number, "JobIDRaw": number, "User": user, "Account": f"a{rng.randrange(9)}",
            "Partition": rng.choice(("short", "long", "gpu,long")), "QOS": rng.choice(("normal", "high")),
            "Submit": self._time(self._now), "Eligible": self._time(self._now),
            "Start": self._time(self._now + wait), "End": self._time(self._now + wait + run),
            "Elapsed": duration(run), "Timelimit": limit, "State": "COMPLETED", "ReqCPUS": procs,
            "AllocCPUS": procs, "NNodes": 1, "ReqMem": rng.choice(("4G", "4Gn", "4Gc", "16000M", "0")),
            "ReqTRES": tres, "AllocTRES": tres, "NodeList": f"cn{rng.randrange(100):03d}",
            "Reservation": "maint" if rng.random() < 0.01 else "", "Constraints": "", "JobName": "job",
        }  # fmt: skip
        expected.jobs += 1
        kind = rng.random()
        kept = True
        if kind < 0.10:  # a task of an array
            cells["JobID"] = f"{number - 1}_{rng.randrange(1000)}"
        elif kind < 0.12:  # six tasks that never started, in one record
            cells |= self._never("PENDING") | {"JobID": f"{number}_[5-9,12%3]"}
            expected.jobs += 5
            for _ in range(6):
                expected.drop("unfinished")
            kept = False
        elif kind < 0.16:  # cancelled before it ran
            cells |= self._never(f"CANCELLED by {rng.randrange(1000, 2000)}")
            expected.drop("cancelled")
            kept = False
        elif kind < 0.18:  # cancelled while it ran
            cells["State"] = "CANCELLED by 0"
        elif kind < 0.20:
            cells |= {"State": "RUNNING", "End": "Unknown"}
            expected.drop("unfinished")
            kept = False
        elif kind < 0.22:
            cells |= self._never("PENDING")
            expected.drop("unfinished")
            kept = False
        elif kind < 0.26:  # a node failed; the job ran again under the same number
            failed = cells | {"State": rng.choice(("NODE_FAIL", "PREEMPTED", "REQUEUED"))}
            self._put(**failed)
            expected.jobs += 1
            expected.drop("requeues")
            again = self._now + wait + run
            cells |= {"Submit": self._time(again), "Eligible": self._time(again),
                      "Start": self._time(again + 60), "End": self._time(again + 60 + run)}  # fmt: skip
            self._record_kept(number, again, run, procs, gpu)
            self._put(**cells)
            self._steps(number, number)
            return
        elif kind < 0.28:  # in two exports that overlap
            self._put(**cells)
            expected.jobs += 1
            expected.drop("duplicates")
        elif kind < 0.32:
            cells["State"] = rng.choice(("TIMEOUT", "FAILED", "OUT_OF_MEMORY"))
        elif kind < 0.33 and "JobName" in self.columns:
            cells["JobName"] = "a|b"
            expected.pipes += 1
        if kept:
            self._record_kept(number, self._now, run, procs, gpu)
            expected.tasks += "_" in str(cells["JobID"])
        self._put(**cells)
        if kept:
            self._steps(cells["JobID"], number)

    def _never(self, state: str) -> dict[str, object]:
        """Cells of a job that has not started."""
        return {"State": state, "Start": "Unknown", "End": "Unknown", "Elapsed": "00:00:00", "AllocCPUS": 0,
                "AllocTRES": "", "NodeList": "None assigned"}  # fmt: skip

    def _record_kept(self, number: int, submit: int, run: int, procs: int, gpu: bool) -> None:
        self.expected.kept[number] = (submit, run, procs)
        self.expected.gpus += gpu

    def _steps(self, shown: object, raw: int) -> None:
        for name in ("batch", "extern", "0")[: self.random.randrange(0, 4)]:
            self.expected.steps += 1
            now = self._time(self._now)
            self._put(
                JobID=f"{shown}.{name}", JobIDRaw=f"{raw}.{name}", State="COMPLETED", MaxRSS="2048K",
                NTasks=1, Submit=now, Start=now, End=now, Elapsed="00:00:05", AllocCPUS=1, NNodes=1,
                JobName=name,
            )  # fmt: skip
