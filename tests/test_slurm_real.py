"""Real output of Slurm where a reader may go wrong; each text is the smallest for its fault."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headway.errors import InputError
from headway.site import Site
from headway.site.model import Node, Partition
from headway.units import SECOND
from headway.workload import Workload, read
from headway.workload.ledger import LedgerEntry
from headway.workload.read import read_requests
from headway.workload.slurm.cells import waiting_tasks
from slurm_files import slurm_file

HEAD = (
    "Cluster|JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw"
    "|ReqCPUS|AllocCPUS|NNodes|ReqMem|ReqTRES|AllocTRES|Reservation|Constraints|Flags|Suspended|TotalCPU"
)
T = 1_700_000_000


def record(job: str = "7", **cells: object) -> str:
    """A line of the export of a job that ran on 2 CPUs for a minute; keywords change cells."""
    plain: dict[str, object] = dict.fromkeys(HEAD.split("|"), "") | {
        "Cluster": "a", "JobID": job, "JobIDRaw": job.split("_")[0], "User": "ann", "Account": "chem",
        "Partition": "batch", "QOS": "normal", "State": "COMPLETED", "Submit": T, "Eligible": T,
        "Start": T + 30, "End": T + 90, "ElapsedRaw": 60, "TimelimitRaw": 2, "ReqCPUS": 2, "AllocCPUS": 2,
        "NNodes": 1, "ReqMem": "400M", "ReqTRES": "billing=2,cpu=2,mem=400M,node=1",
        "AllocTRES": "billing=2,cpu=2,mem=400M,node=1", "Flags": "SchedMain,StartReceived",
        "Suspended": "00:00:00", "TotalCPU": "00:00:00",
    }  # fmt: skip
    return "|".join(str((plain | cells)[name]) for name in HEAD.split("|"))


def text(*lines: str, head: str = HEAD) -> io.BytesIO:
    return io.BytesIO("\n".join((head, *lines, "")).encode())


def asked(folder: Path, *lines: str, head: str = HEAD, **rules: str) -> Workload:
    """The workload with what jobs asked for."""
    file = folder / "jobs.txt"
    file.write_bytes(text(*lines, head=head).getvalue())
    return read_requests(str(file), rules)


def actions(workload: Workload) -> dict[str, int]:
    return {entry.rule: entry.count for entry in workload.ledger}


def seconds(workload: Workload, name: str) -> list[int]:
    return [int(value) // SECOND for value in workload.columns[name]]


def test_features_with_a_separator_between_them(tmp_path: Path) -> None:
    workload = asked(
        tmp_path, record("7", Constraints="intel|amd"), record("8"), record("9", Constraints="[a|b]&c")
    )
    assert list(workload.job) == [7, 8, 9] and actions(workload)["extra_fields"] == 2
    assert [workload.labels["constraint"][code] for code in workload.constraint if code >= 0] == [
        "intel|amd",
        "[a|b]&c",
    ]


def test_line_ends_and_separators_in_several_texts(tmp_path: Path) -> None:
    head = "JobID|JobIDRaw|JobName|State|Submit|Start|End|ElapsedRaw|ReqCPUS|Comment"
    lines = [
        f"1|1|plain|COMPLETED|{T}|{T}|{T + 5}|5|1|",
        f"2|2|a|b|c|COMPLETED|{T}|{T}|{T + 5}|5|1|d|e",
        f"3|3|na\nme|x|FAILED|{T}|{T}|{T + 5}|5|2|note\nthat goes\non | and on",
        f"4|4|COMPLETED|COMPLETED|{T}|{T}|{T + 5}|5|3|4|4",
    ]
    workload = asked(tmp_path, *lines, head=head)
    assert list(workload.job) == [1, 2, 3, 4] and list(workload.procs) == [1, 1, 2, 3]
    assert workload.ledger.total == 4 and actions(workload)["extra_fields"] == 3


def test_a_broken_record_at_the_end_of_a_block_is_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    from headway.workload.slurm import text as reader

    head = "JobID|JobName|State|Submit|Start|End|ElapsedRaw|ReqCPUS"
    lines = [f"{job}|na\nme{job}|COMPLETED|{T}|{T}|{T + 5}|5|1" for job in range(1, 400)]
    document = text(*lines, head=head)
    monkeypatch.setattr(reader, "BLOCK", 64)
    monkeypatch.setattr("headway.workload.stream.CHUNK", 100)
    assert len(read(document)) == 399


def test_a_line_that_fits_no_columns_is_refused() -> None:
    with pytest.raises(InputError, match=r":3: has 26 fields and the first line names 25"):
        read(text(record("7"), record("8") + "|more"))


def test_a_deadline_that_passed_before_any_run() -> None:
    never = record("8", State="DEADLINE", Start=T, End=T, ElapsedRaw=0, AllocTRES="")
    workload = read(text(record("7"), never, record("9", State="DEADLINE")))
    assert list(workload.job) == [7, 9]
    assert [entry.action for entry in workload.ledger if entry.dropped] == [
        "its deadline passed before it ran: dropped"
    ]


def test_whole_nodes_occupy_more_than_was_asked_for() -> None:
    whole = record("8", ReqCPUS=2, AllocCPUS=8)
    workload = read(text(record("7"), whole))
    assert list(workload.procs) == [2, 8] and actions(workload)["whole_nodes"] == 1
    assert list(read(text(record("7"), whole), whole_nodes="requested").procs) == [2, 2]
    assert workload.source.not_modelled["exclusive nodes"] == 1


def test_a_year_is_no_limit() -> None:
    workload = read(text(record("7", TimelimitRaw=525600), record("8")))
    assert seconds(workload, "walltime") == [60, 120] and actions(workload)["no_limit"] == 1


def test_a_resized_job_has_its_first_submission_and_processors(tmp_path: Path) -> None:
    """4 CPUs for 16 s and 2 for 45 s are 154 CPU s in 61 s: 3 in the mean, rounded up."""
    first = record("8", State="RESIZING", Start=T, End=T + 16, ElapsedRaw=16, ReqCPUS=4, AllocCPUS=4)
    rest = record(
        "8", Submit=T + 16, Eligible=T + 16, Start=T, End=T + 61, ElapsedRaw=61, ReqCPUS=4, AllocCPUS=2
    )
    workload = asked(tmp_path, first, rest)
    assert (list(workload.job), seconds(workload, "submit"), seconds(workload, "wait")) == ([8], [0], [0])
    assert (list(workload.procs), list(workload.allocated), seconds(workload, "runtime")) == ([4], [3], [61])
    assert workload.ledger.total == 2 and workload.ledger.dropped == 1


def test_tasks_that_never_started_count_as_so_many_jobs() -> None:
    cancelled = record("42_[0-1,4-5]", State="CANCELLED by 0", Start="None", ElapsedRaw=0)
    waiting = record("50_[1-50%4]", State="PENDING", Start="Unknown", End="Unknown", ElapsedRaw=0)
    workload = read(text(record("7"), cancelled, waiting))
    dropped = {entry.rule: entry.count for entry in workload.ledger if entry.dropped}
    assert (workload.ledger.total, dropped) == (55, {"unfinished": 50, "cancelled": 4})


@pytest.mark.parametrize("later_first", [False, True])
def test_tasks_that_an_earlier_export_saw_waiting_wait_no_more(later_first: bool) -> None:
    """Tasks 2 to 4 waited then. Now 2 is over, 3 was requeued, 4 waits still; 5 is of an older array 50."""
    waited = {"State": "PENDING", "Start": "Unknown", "End": "Unknown", "ElapsedRaw": 0}
    earlier = [record("7"), record("50_[2-5]", JobIDRaw=50, Submit=T + 9, Eligible=T + 9, **waited)]
    later = [
        record("50_2", JobIDRaw=51, Submit=T + 9),
        record("50_3", JobIDRaw=52, Submit=T + 40),
        record("50_5", JobIDRaw=40, Submit=T),
    ]
    workload = read(text(*(later + earlier if later_first else earlier + later)), unfinished="open")
    assert sorted(seconds(workload, "submit")) == [0, 0, 9, 9, 9, 40]
    stale = [entry.count for entry in workload.ledger if "exported before it was over" in entry.action]
    assert (stale, workload.ledger.total, workload.ledger.dropped) == ([2], 8, 2)


def test_time_suspended_is_no_run_time() -> None:
    head = HEAD.replace("ElapsedRaw|", "")
    line = record("7", Suspended="00:00:15").split("|")
    del line[HEAD.split("|").index("ElapsedRaw")]
    assert seconds(read(text("|".join(line), head=head)), "runtime") == [45]
    assert seconds(read(text(record("7", ElapsedRaw=45, Suspended="00:00:15"))), "runtime") == [45]


def test_earlier_runs_of_a_requeued_job() -> None:
    lines = (
        record("7", State="PREEMPTED", Start="None", End=T + 3, ElapsedRaw=0),
        record("7", State="PREEMPTED", Submit=T + 4, Start=T + 10, End=T + 30, ElapsedRaw=20),
        record("7", Submit=T + 31, Eligible=T + 40, Start=T + 50, End=T + 110),
    )
    last = read(text(*lines))
    assert (seconds(last, "submit"), seconds(last, "wait"), last.ledger.dropped) == ([0], [19], 2)
    first = read(text(*lines), requeues="first")
    assert (seconds(first, "submit"), seconds(first, "wait")) == ([0], [50])
    assert len(read(text(*lines), requeues="each")) == 3


def test_jobs_of_one_second_stay_in_order_though_one_was_requeued() -> None:
    """Slurm puts the one with the lower number first."""
    lines = (
        record("7", State="PREEMPTED", Start=T + 5, End=T + 30, ElapsedRaw=25),
        record("8", Start=T + 5, End=T + 65),
        record("7", Submit=T + 31, Eligible=T + 40, Start=T + 50, End=T + 110),
    )
    assert read(text(*lines), requeues="first").job.tolist() == [7, 8]


def test_tasks_of_an_array_stand_where_it_was_submitted(tmp_path: Path) -> None:
    """All of one second; the last task has the array's number, the others get theirs when they start.

    One that was never eligible, by what Slurm wrote down, is at the end of an export.
    """
    numbers = ("54", 54), ("53_0", 55), ("53_2", 53), ("52", 52), ("53_1", 56)
    rows = [record(name, JobIDRaw=raw, Submit=T) for name, raw in numbers]
    workload = asked(tmp_path, *rows, head=HEAD)
    assert workload.job.tolist() == [52, 55, 56, 53, 54]


def test_partitions_as_they_were_submitted(tmp_path: Path) -> None:
    head = f"{HEAD}|SubmitLine"
    lines = (
        record("1") + "|sbatch -p big,batch job.sh",
        record("2") + "|sbatch -p long job.sh",  # moved since
        record("3") + "|sbatch job.sh -p long",
    )
    workload = asked(tmp_path, *lines, head=head)
    assert [workload.labels["partition"][code] for code in workload.partition] == [
        "big,batch",
        "batch",
        "batch",
    ]


def test_requests_from_the_submit_line(tmp_path: Path) -> None:
    line = (
        "sbatch --parsable -N2-4 -n 24 -c2 -t 90 --mem=4G --exclusive -C intel|amd --gres=gpu:a100:2 --nice "
        "--time-min=30 -d afterok:5,singleton -J one -a 0-9%3 -L matlab:1 -w n[1-2] -x n9 --hold -q high "
        "--reservation=course --wrap srun -n 7 sleep 1"
    )
    head = f"{HEAD}|SubmitLine"
    workload = asked(tmp_path, f"{record('7_3', JobIDRaw='12')}|{line}", head=head)
    numbers = {
        "min_nodes": 2, "max_nodes": 4, "tasks": 24, "cpus_per_task": 2, "memory_node_mb": 4096,
        "memory_cpu_mb": -1, "exclusive": 1, "nice": 100, "time_min": 1800 * SECOND, "array": 7,
        "array_task": 3, "array_limit": 3, "held": 1, "eligible": 0, "recorded_start": 30 * SECOND,
    }  # fmt: skip
    assert {name: int(workload.columns[name][0]) for name in numbers} == numbers
    texts = {
        "constraint": "intel|amd", "gres": "gpu:a100:2", "dependency": "afterok:5,singleton", "name": "one",
        "licenses": "matlab:1", "required_nodes": "n[1-2]", "excluded_nodes": "n9", "reservation": "course",
    }  # fmt: skip
    found = {name: workload.labels[name][int(workload.columns[name][0])] for name in texts}
    assert found == texts


@pytest.mark.parametrize(
    ("memory", "node", "cpu"),
    [("400M", -1, 200), ("4Gn", 4096, -1), ("200Mc", -1, 200), ("0", -1, -1), ("401M", 401, -1)],
)
def test_memory_per_node_or_per_cpu(tmp_path: Path, memory: str, node: int, cpu: int) -> None:
    workload = asked(tmp_path, record("7", ReqMem=memory))
    assert (int(workload.memory_node_mb[0]), int(workload.memory_cpu_mb[0])) == (node, cpu)


@pytest.mark.parametrize(
    ("allocated", "line", "node", "cpu"),
    [
        ("cpu=8,mem=400M,node=1", "", 400, -1),  # it has no more memory than it asked for on eight CPUs
        ("cpu=8,mem=1600M,node=1", "", -1, 200),
        ("cpu=8,node=1", "sbatch --exclusive job.sh", 400, -1),  # memory is not counted
        ("cpu=8,node=1", "sbatch --mem-per-cpu=200 job.sh", -1, 200),
        ("cpu=8,mem=400M,node=1", "sbatch --hint=nomultithread job.sh", -1, 200),  # it does not use them all
    ],
)
def test_memory_of_a_job_that_had_more_cpus(
    tmp_path: Path, allocated: str, line: str, node: int, cpu: int
) -> None:
    """Memory for each CPU grows with the CPUs, memory of a node does not."""
    row = record("7", AllocCPUS=8, AllocTRES=allocated)
    workload = asked(tmp_path, f"{row}|{line}", head=f"{HEAD}|SubmitLine")
    assert (int(workload.memory_node_mb[0]), int(workload.memory_cpu_mb[0])) == (node, cpu)


@pytest.mark.parametrize(
    ("memory", "line", "default", "asked_for"),
    [
        ("400M", "", (None, 400), (-1, -1)),
        ("400M", "", (200, None), (-1, -1)),
        ("400M", "", (None, 800), (-1, 200)),
        ("8000M", "", (None, None), (-1, -1)),  # all of a node
        ("400M", "sbatch --mem-per-cpu=200 job.sh", (None, 400), (-1, 200)),
        ("400Mc", "", (None, 400), (-1, 400)),  # an older Slurm, which says it
    ],
)
def test_a_job_with_the_memory_that_its_partition_gives_asked_for_none(
    tmp_path: Path, memory: str, line: str, default: tuple[int | None, int | None], asked_for: tuple[int, int]
) -> None:
    """sacct shows the sum of what a job has; in another of its partitions it may be another."""
    file = tmp_path / "jobs.txt"
    file.write_bytes(text(f"{record('7', ReqMem=memory)}|{line}", head=f"{HEAD}|SubmitLine").getvalue())
    by_cpu, by_node = default
    batch = Partition("batch", (0,), def_mem_per_cpu_mb=by_cpu, def_mem_per_node_mb=by_node)
    site = Site("one", (Node("n1", 4, memory_mb=8000),), (batch,))
    workload = site.read_jobs(str(file))
    assert (int(workload.memory_node_mb[0]), int(workload.memory_cpu_mb[0])) == asked_for


@pytest.mark.parametrize(
    ("cpus", "line", "node", "cpu"),
    [
        (2, "", 400, -1),  # twice the memory on two nodes, and the two CPUs that it asked for
        (4, "", -1, 200),
        (2, "sbatch --mem-per-cpu=200 job.sh", -1, 200),
    ],
)
def test_memory_of_a_job_that_had_more_nodes(
    tmp_path: Path, cpus: int, line: str, node: int, cpu: int
) -> None:
    """Memory that grew without CPUs is of each node, of which there were more."""
    row = record("7", AllocCPUS=cpus, NNodes=2, AllocTRES=f"cpu={cpus},mem=800M,node=2")
    workload = asked(tmp_path, f"{row}|{line}", head=f"{HEAD}|SubmitLine")
    assert (int(workload.memory_node_mb[0]), int(workload.memory_cpu_mb[0])) == (node, cpu)


@pytest.mark.parametrize(
    ("line", "most"), [("sbatch job.sh", 3), ("sbatch -n 2 job.sh", 0), ("sbatch -N 2 job.sh", 2), ("", 3)]
)
def test_a_job_takes_as_many_nodes_as_it_had_where_its_script_may_say_how_many(
    tmp_path: Path, line: str, most: int
) -> None:
    """What stands in a script is not in the log; who says on the line how many tasks it has may be spread."""
    workload = asked(tmp_path, f"{record('7', NNodes=3)}|{line}", head=f"{HEAD}|SubmitLine")
    assert int(workload.max_nodes[0]) == most


@pytest.mark.parametrize(
    ("nodes", "least", "most"), [("2-8", 2, 3), ("4", 3, 3), ("1-2", 1, 2), ("4-8", 3, 3), ("3", 3, 3)]
)
def test_sbatch_asks_for_no_more_nodes_than_tasks(tmp_path: Path, nodes: str, least: int, most: int) -> None:
    """So MaxNodes of a partition does not keep a job of three tasks out that accepts eight nodes."""
    row = f"{record('7', NNodes=3)}|sbatch -N {nodes} -n 3 job.sh"
    workload = asked(tmp_path, row, head=f"{HEAD}|SubmitLine")
    assert (int(workload.min_nodes[0]), int(workload.max_nodes[0])) == (least, most)


def job(number: int = 7, **more: Any) -> dict[str, Any]:
    """A job of `sacct --json`."""
    return {
        "job_id": number, "user": "ann", "account": "chem", "partition": "batch", "qos": "normal",
        "cluster": "a", "association": {"user": "ann"}, "state": {"current": ["COMPLETED"]},
        "time": {"submission": T, "eligible": T, "start": T, "end": T + 60, "elapsed": 60, "limit": 2},
        "required": {"CPUs": 2, "memory": 200}, "allocation_nodes": 1,
        "tres": {"requested": [{"type": "cpu", "count": 2}, {"type": "mem", "count": 400},
                               {"type": "node", "count": 1}],
                 "allocated": [{"type": "cpu", "count": 2}]},
    } | more  # fmt: skip


def of_json(folder: Path, *jobs: dict[str, Any]) -> Workload:
    file = folder / "jobs.json"
    file.write_text(json.dumps({"meta": {}, "jobs": list(jobs)}))
    return read_requests(str(file), {})


def test_json_states_are_lists_whose_first_is_not_the_state(tmp_path: Path) -> None:
    again = job(7, state={"current": ["PENDING", "REQUEUED"]})
    later = job(7)
    later["time"] = {**later["time"], "submission": T + 60, "start": T + 70, "end": T + 130}
    workload = of_json(tmp_path, again, later)
    assert len(workload) == 1 and actions(workload)["requeues"] == 1


@pytest.mark.parametrize(
    ("required", "total", "node", "cpu"),
    [
        ({"CPUs": 2, "memory": 200}, 400, -1, 200),
        ({"CPUs": 2, "memory": 200}, 200, 200, -1),
        ({"CPUs": 2, "memory": 0}, 8000, 0, -1),
        ({"CPUs": 2, "memory": (1 << 63) + 300}, 600, -1, 300),
        ({"CPUs": 2, "memory_per_cpu": {"set": True, "number": 300}}, 600, -1, 300),
        ({"CPUs": 2, "memory_per_cpu": {"set": False, "number": 0},
          "memory_per_node": {"set": True, "number": 0}}, 8000, 0, -1),
    ],
)  # fmt: skip
def test_json_memory(tmp_path: Path, required: dict[str, Any], total: int, node: int, cpu: int) -> None:
    one = job(required=required)
    one["tres"] = {"requested": [{"type": "mem", "count": total}, {"type": "node", "count": 1}]}
    workload = of_json(tmp_path, one)
    assert (int(workload.memory_node_mb[0]), int(workload.memory_cpu_mb[0])) == (node, cpu)
    assert int(workload.memory_kb[0]) == total * 1024 // 2


def test_json_reservations_by_number_and_array_tasks_as_bits(tmp_path: Path) -> None:
    array = {
        "job_id": 9,
        "task_id": {"set": False},
        "task": "0xD",
        "limits": {"max": {"running": {"tasks": 2}}},
    }
    workload = of_json(
        tmp_path,
        job(7, reservation={"id": 2, "name": 3859584144}),
        job(9, array=array, state={"current": ["CANCELLED"]}, time={"submission": T, "elapsed": 0}),
    )
    assert workload.labels["reservation"] == ["#2"] and workload.source.not_modelled["reservations"] == 1
    assert (workload.ledger.total, workload.ledger.dropped) == (4, 3)


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ('{"jobs": [{"job_id": 1, "array_task_string": ""}]}', "the output of squeue or scontrol show job"),
        ('{"meta": {}, "nodes": [{"architecture": "x86"}]}', "the output of sinfo or scontrol show node"),
        ('{"partitions": [{"nodes": {}}]}', "the output of scontrol show partition"),
        ("---\njobs:\n- account: a\n", "is YAML"),
        ("jobs:\n- account: a\n", "is YAML"),
    ],
)
def test_what_other_commands_write_is_refused_by_name(document: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read(io.BytesIO(document.encode()))


def submitted(version: str) -> dict[int, int]:
    """Job -> how many tasks it was submitted with, as the recorded truth of an export has it."""
    import gzip
    import re

    found: dict[int, int] = {}
    if version == "22.05":
        file = slurm_file("sacct/22.05/truth.jsonl.gz")
        for line in gzip.decompress(file.read_bytes()).decode().split("\n")[:-1]:
            event = json.loads(line)
            if event["ev"] == "submit" and event["id"]:
                options = [str(word) for word in event["opt"]]
                array = options[options.index("-a") + 1] if "-a" in options else ""
                found[int(event["id"])] = waiting_tasks(f"1_[{array}]") if array else 1
            elif event.get("what") == "het" and event["rc"] == 0:
                found[int(event["out"])] = 1 + event["cmd"].count(":")
        return found
    for line in slurm_file(f"sacct/{version}/truth").read_text().splitlines():
        words = line.split()
        if len(words) > 1 and words[1].isdigit():
            given = re.search(r"-a (\S+)", line)
            parts = 2 if words[0] == "het" else 1
            found[int(words[1])] = waiting_tasks(f"1_[{given[1]}]") if given else parts
    return found


NEVER_ELIGIBLE = {"22.05": {8, 9, 40}, "24.11": {18}, "26.05": {18}}
"""Held or waiting for what never came: sacct leaves them out when it is given a time window."""


@pytest.mark.parametrize("version", ["22.05", "24.11", "26.05"])
@pytest.mark.parametrize("kind", ["text", "json"])
def test_every_submitted_job_is_accounted_for(version: str, kind: str) -> None:
    """Every task of every submission stands in the ledger once: kept, or dropped under a rule."""
    truth = submitted(version)
    name = "doc.txt" if kind == "text" else "sacct.json.gz"
    workload = read_requests(str(slurm_file(f"sacct/{version}/{name}")), {"unfinished": "keep"})
    if kind == "json" and version == "22.05":
        truth = {}  # that document is a choice of the jobs
    ledger = workload.ledger
    runs = ("requeues", "resized", "duplicates")  # records of a job that another record stands for
    again = sum(entry.count for entry in ledger if entry.dropped and entry.rule in runs)
    dropped = [int(job) for entry in ledger if entry.rule not in runs for job in _every(entry)]
    leader = np.where(workload.array >= 0, workload.array, workload.job)
    assert len(workload) + len(dropped) + again == ledger.total
    counts: dict[int, int] = {}
    for number in [*leader.tolist(), *dropped]:
        counts[number] = counts.get(number, 0) + 1
    missing = {job for job, tasks in truth.items() if counts.get(job, 0) == 0}
    assert missing <= NEVER_ELIGIBLE[version]
    heterogeneous = {job for job in truth if job + 1 in counts and job + 1 not in truth}
    for number, tasks in truth.items():
        if number not in missing | heterogeneous:
            assert counts[number] >= tasks - CANCELLED_ALONE.get((version, number), 0), number


def _every(entry: LedgerEntry) -> list[int]:
    return [] if entry.every is None else entry.every.tolist()


CANCELLED_ALONE = {("22.05", 42): 2, ("24.11", 21): 1, ("26.05", 21): 1}
"""Tasks of an array that were cancelled by themselves before it started: Slurm keeps no record of them."""
