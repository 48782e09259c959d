"""Outages from files and from a model; a run with them saved, read back, judged, explained and drawn."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import headway
from commands import Headway
from headway.errors import InputError, UsageError
from headway.platform import Outage, Outages, Platform
from headway.platform.absences import absences
from headway.platform.failures import Failures, parse_failures
from headway.platform.outages_file import outages_text
from headway.site.outages import load_outages
from headway.units import SECOND
from own_policies import fcfs
from small_schedules import workload

HOUR = 3600 * SECOND


def written(folder: Path, text: str, name: str = "events.csv") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_csv_of_events(tmp_path: Path) -> None:
    text = (
        "kind,start,end,procs,processors,announced,note\n"
        "maintenance,100,200.5,8,,50,cooling\n"
        'down,1970-01-01T01:00:00,,,"4-5,7",,\n'
        "\n"
        "drain,10,20,3,,,\n"
    )
    found = Outages.load(written(tmp_path, text), unix_start=600)
    assert found.outages == (
        Outage("maintenance", 100 * SECOND, 200_500_000, 8, (), 50 * SECOND, "cooling"),
        Outage("down", 3000 * SECOND, None, 3, ((4, 6), (7, 8))),
        Outage("drain", 10 * SECOND, 20 * SECOND, 3),
    )
    again = Outages.load(written(tmp_path, outages_text(found.outages), "again.csv"))
    assert again.outages == found.outages


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("repair,0,1,1,,,", "events.csv:2: kind: must be maintenance, down or drain, not 'repair'"),
        ("down,soon,1,1,,,", "events.csv:2: start: must be seconds or a date such as"),
        ("down,,1,1,,,", "events.csv:2: start: is empty"),
        ("down,5,1,1,,,", "events.csv:2: the end must be later than the start"),
        ("down,0,1,x,,,", "events.csv:2: procs: must be a whole number, not 'x'"),
        ("down,0,1,,,,", "events.csv:2: procs: is empty"),
        ("down,0,1,,3-1,,", "events.csv:2: processors: must be a set such as 0-3,7, not '3-1'"),
        ("down,0,1,5,0-3,,", "events.csv:2: procs: is 5, and the cell processors has 4"),
        ("down,4,5,1,,1,", "events.csv:2: only maintenance is announced, not down"),
        ("maintenance,4,5,1,,6,", "events.csv:2: announced must not be later than the start"),
        ("down,2024-01-01,5,1,,,", "events.csv:2: start: is a date, and the log does not say"),
        ("down,0,1,1,,,,,", "events.csv:2: has more cells than the header"),
    ],
)
def test_a_bad_row_is_told_with_its_line(tmp_path: Path, row: str, words: str) -> None:
    header = "kind,start,end,procs,processors,announced,note\n"
    with pytest.raises(InputError) as error:
        Outages.load(written(tmp_path, header + row + "\n"))
    assert words in str(error.value)


def test_bad_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no column 'node'"):
        Outages.load(written(tmp_path, "kind,start,node\n"))
    with pytest.raises(InputError, match="the column end is there twice; remove one"):
        Outages.load(written(tmp_path, "kind,start,end, end\ndown,1,2,9\n"))
    with pytest.raises(InputError, match="needs the columns kind and start"):
        Outages.load(written(tmp_path, "kind\n"))
    with pytest.raises(UsageError, match="8 processors, and the machine has 4"):
        Outages((Outage("maintenance", 0, 1, 8),)).on(4, 0)
    with pytest.raises(UsageError, match="more processors than the 4 of the machine"):
        Outages((Outage("down", 0, 9, 3), Outage("down", 5, 9, 2))).on(4, 0)
    with pytest.raises(UsageError, match="on_failure must be requeue or lost"):
        Outages((), "retry")


def test_counted_processors_get_the_highest_numbers_that_are_free() -> None:
    given = (
        Outage("down", 0, 9, 2),
        Outage("drain", 5, 7, 2),
        Outage("down", 9, None, 1),
        Outage("down", 6, 8, 1, ((0, 1),)),
    )
    found = Outages(given).on(6, 20)
    by_start = sorted((o.start, o.end, o.processors) for o in found.outages)
    assert by_start == [(0, 9, ((4, 6),)), (5, 7, ((2, 4),)), (6, 8, ((0, 1),)), (9, 20, ((5, 6),))]


def test_slurms_events_by_node(tmp_path: Path) -> None:
    text = (
        "ClusterName|NodeName|TimeStart|TimeEnd|State|Reason\n"
        "c|n10|1970-01-01T00:10:00|1970-01-01T00:20:00|DOWN*|broken\n"
        "c|n9|1970-01-01T00:05:00|Unknown|IDLE+DRAIN|\n"
        "c|n9|1970-01-01T00:06:00|1970-01-01T00:07:00|IDLE+POWERED_DOWN|\n"
    )
    from headway.platform import Cluster, NodeGroup

    platform = Platform((Cluster("c", nodes=(NodeGroup(2, 4),)),))
    found = load_outages(written(tmp_path, text, "events.txt"), platform, 0)
    assert found.outages == (
        Outage("drain", 300 * SECOND, None, 4, ((0, 4),)),
        Outage("down", 600 * SECOND, 1200 * SECOND, 4, ((4, 8),), note="broken"),
    )
    with pytest.raises(InputError, match="names nodes; give the site's folder"):
        load_outages(tmp_path / "events.txt", Platform.procs(8), 0)


def test_failures_are_drawn_the_same_whatever_the_time_and_the_machine() -> None:
    model = parse_failures("mtbf=10h, repair=30m, seed=3, procs_per_node=4")
    short = model.draw(16, 0, 1000 * HOUR)
    longer = model.draw(16, 0, 2000 * HOUR)
    assert longer[: len(short) - 4] == short[: len(short) - 4]
    assert all(o.kind == "down" and o.procs == 4 for o in short)
    other = parse_failures("mtbf=10h, repair=30m, seed=4, procs_per_node=4").draw(16, 0, 1000 * HOUR)
    assert other != short
    # A node's outages do not overlap, and the means are as asked for (some 95 failures of each of 4 nodes).
    for low in range(0, 16, 4):
        mine = [o for o in longer if o.processors[0][0] == low]
        assert all(a.end is not None and a.end < b.start for a, b in pairwise(mine))
    repairs = [o.end - o.start for o in longer if o.end is not None]
    assert 0.85 < np.mean(repairs) / (HOUR / 2) < 1.15
    assert 0.9 < len(longer) / (4 * 2000 / 10.5) < 1.1


def test_jobs_that_can_hardly_end_are_told_of(headway: Headway) -> None:
    """4 nodes for 2,000 s meet 8,000 s / mtbf failures: e^8 is more than 1,000 restarts, e^6 is less."""
    log = headway.write("log.swf", "1 0 -1 6 1 -1 -1 1 9\n2 0 -1 2000 4 -1 -1 4 9999\n3 0 -1 9 9 -1 -1 9 9\n")
    words = ("simulate", log, "--procs", 4, "--policy", "fcfs", "--failures")
    told = headway(*words, "mtbf=1000,repair=1")
    assert "failures: 1 job can hardly end, such as job 2: of its 4 nodes one fails every 250 s" in told.err
    assert told.status == 0
    for sane in ("mtbf=1334,repair=1", "mtbf=1000,repair=1,procs_per_node=2"):
        assert "hardly" not in headway(*words, sane).err
    assert "hardly" not in headway(*words, "mtbf=1000,repair=1", "--on-failure", "lost").err


def test_repairs_that_take_as_long_and_failures_that_age() -> None:
    found = Failures(36_000, 600, shape=0.7, repairs="constant").draw(50, 0, 2000 * HOUR)
    assert {o.end - o.start for o in found if o.end is not None} == {600 * SECOND}
    assert 0.9 < len(found) / (50 * 2000 / (10 + 1 / 6)) < 1.15


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mtbf=1d", "repair is missing"),
        ("mtbf=1d, repair=1h, nodes=3", "'nodes=3' is not KEY=VALUE; the keys are mtbf, repair"),
        ("mtbf=soon, repair=1h", "mtbf must be a number, such as 12h or 30d, not 'soon'"),
        ("mtbf=0, repair=1h", "mtbf must be greater than 0"),
        ("mtbf=1d, repair=1h, shape=1e-19", "shape must be at least 0.01, not 1e-19"),
        ("mtbf=1d, repair=1h, repairs=never", "repairs must be exponential or constant"),
        ("mtbf=1d, repair=1h, seed=1.5", "seed must be a whole number, not '1.5'"),
        ("mtbf=1d, mtbf=2d, repair=1h", "mtbf is given twice"),
    ],
)
def test_a_bad_model_is_told(text: str, words: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_failures(text)
    assert words in str(error.value)


def test_absences_of_one_processor_are_joined() -> None:
    found = absences(
        Outages(
            (
                Outage("down", 0, 10, 2, ((0, 2),)),
                Outage("maintenance", 5, 20, 1, ((1, 2),)),
                Outage("down", 20, 30, 1, ((1, 2),)),
                Outage("drain", 0, 99, 1, ((3, 4),)),
            )
        )
    )
    assert [column.tolist() for column in found] == [[0, 1], [0, 0], [10, 30]]


JOBS = [(0, 2, 50, 60), (1, 2, 30, 40), (2, 4, 20, 30), (3, 1, 5, 10)]
LOSSES = (
    Outage("down", 20 * SECOND, 40 * SECOND, 1, ((0, 1),)),
    Outage("maintenance", 200 * SECOND, 300 * SECOND, 4),
    Outage("drain", 45 * SECOND, 60 * SECOND, 1, ((3, 4),)),
)


def run(policy: Any = "easy", on_failure: str = "requeue") -> headway.Schedule:
    platform = Platform.procs(4).with_outages(Outages(LOSSES, on_failure))
    return headway.simulate(workload(JOBS), platform, policy)


@pytest.mark.parametrize("on_failure", ["requeue", "lost"])
def test_a_run_is_saved_and_read_back(tmp_path: Path, on_failure: str) -> None:
    made = run(on_failure=on_failure)
    made.save(tmp_path / "run")
    found = headway.Schedule.load(tmp_path / "run")
    assert found.platform.outages == made.platform.outages
    assert headway.audit(found).ok
    assert found.summary() == made.summary()
    assert found.summary()["lost_jobs"] == (1 if on_failure == "lost" else 0)
    assert headway.simulate(workload(JOBS), found.platform, "easy").start.tolist() == made.start.tolist()


def test_the_audit_sees_who_runs_where_nothing_is() -> None:
    made = run()
    laws = {row["law"]: row["faults"] for row in headway.audit(made).table()}
    assert laws["outages"] == 0 and laws["maintenance"] == 0
    assert made.pieces is not None
    last = int(np.argmax(made.pieces.end))
    row = int(made.pieces.job[last])
    shift = 210 * SECOND - int(made.pieces.start[last])
    made.pieces.start[last] += shift
    made.pieces.end[last] += shift
    made.start[row], made.end[row] = made.pieces.start[last], made.pieces.end[last]
    window = Outage("maintenance", 200 * SECOND, 300 * SECOND, 4, ((0, 4),))
    made.platform = made.platform.with_outages(Outages((*LOSSES[:1], window)))
    faults = [fault for fault in headway.audit(made).faults if fault.law == "outages"]
    job = int(made.workload.job[row])
    assert any(f"job {job} holds processor" in fault.message for fault in faults)
    assert any("0 are there" in fault.message for fault in faults)


def test_the_audit_sees_who_might_run_into_maintenance() -> None:
    plain = headway.simulate(workload([(0, 4, 10, 60)]), 4, "easy")
    plain.platform = plain.platform.with_outages(
        Outages((Outage("maintenance", 30 * SECOND, 40 * SECOND, 1),))
    )
    (fault,) = headway.audit(plain).faults
    assert fault.law == "maintenance"
    assert "job 1 starts at 0 for up to 60 s, into maintenance from 30" in fault.message


def test_who_follows_a_job_of_no_length_at_one_instant_has_its_place() -> None:
    # One of 2 processors is away from 10 on, so only one job may be planned beyond that. Job 1 is over at 0,
    # and in the next turn of that instant job 2 has its place.
    platform = Platform.procs(2).with_outages(Outages((Outage("maintenance", 10 * SECOND, 20 * SECOND, 1),)))
    made = headway.simulate(workload([(0, 1, 0, 30), (0, 1, 5, 30)]), platform, "conservative")
    assert made.start.tolist() == [0, 0]
    assert headway.audit(made).ok
    # Two that last may not both be there.
    plain = headway.simulate(workload([(0, 1, 10, 30), (0, 1, 5, 30)]), 2, "conservative")
    plain.platform = platform
    assert {fault.law for fault in headway.audit(plain).faults} == {"maintenance"}


def test_utilization_counts_what_is_there() -> None:
    # One job on 2 of 4 processors for 100 s; one processor is down for half of that time.
    platform = Platform.procs(4).with_outages(Outages((Outage("down", 0, 50 * SECOND, 1, ((3, 4),)),)))
    summary = headway.simulate(workload([(0, 2, 100, 100)]), platform, "easy").summary()
    assert summary["unavailable_area"] == 50
    assert summary["utilization"] == pytest.approx(200 / 350)


def test_explain_names_the_outages() -> None:
    made = run()
    told = str(headway.explain(made, 1, simulate_again=False))
    assert "stopped because its processors were lost" in told
    waited = headway.simulate(
        workload([(0, 4, 50, 60)]),
        Platform.procs(4).with_outages(Outages((Outage("maintenance", 30 * SECOND, 40 * SECOND, 1),))),
        "easy",
    )
    told = str(headway.explain(waited, 1, simulate_again=False)).replace("\n    ", " ")
    assert "maintenance of 1 processor was 30 s away, and it asked for 60 s" in told


def test_explain_counts_who_waits_again_and_what_takes_no_new_jobs() -> None:
    # Processors 2 and 3 drain. Job 1 runs on 0 and 1, loses 0 at 20, and begins anew at 40 when that is back.
    outages = (
        Outage("drain", 0, 100 * SECOND, 2, ((2, 4),)),
        Outage("down", 20 * SECOND, 40 * SECOND, 1, ((0, 1),)),
    )
    jobs = workload([(5, 2, 50, 60), (10, 2, 10, 10), (25, 1, 5, 5)])
    made = headway.simulate(jobs, Platform.procs(4).with_outages(Outages(outages)), "easy")
    assert (made.start // SECOND).tolist() == [40, 90, 25]
    first, second, third = (str(headway.explain(made, job, simulate_again=False)) for job in (1, 2, 3))
    assert "2 of the 4 processors were free, and it needed 2." in first
    for sentence in (
        "0 of the 4 processors were free, and it needed 2.",
        "the last was job 1, which took 2 processors at 40 s (30 s after it was submitted).",
        "Then it was the first in order of submission, and 0 of the 2 processors it needed were free; "
        "it waited another 50 s for others to end.",
        "From 0 s (10 s before it was submitted) to 100 s",
        "1 job that came later started before it, while fewer processors were there than it asked for (job",
    ):
        assert sentence in second.replace("\n    ", " ")
    for sentence in (
        "1 of the 4 processors were free, and it needed 1.",
        "2 jobs submitted before it waited already, for 4 processors in all: jobs 1 and 2.",
        "2 jobs submitted before it still waited: jobs 1 and 2.",
    ):
        assert sentence in third.replace("\n    ", " ")


def test_the_gantt_chart_draws_them(tmp_path: Path) -> None:
    for dense in (False, True):
        figure = run().gantt(dense=dense)
        legend = figure.axes[0].get_legend()
        assert legend is not None
        names = {text.get_text() for text in legend.get_texts()}
        assert names & {"down", "down or maintenance"}


def test_a_policy_in_python_sees_what_is_there() -> None:
    seen: list[tuple[int, int, int, list[int], int]] = []

    def watching(view: Any) -> list[Any]:
        known = len(view.maintenance)
        seen.append((view.now // SECOND, view.free, view.away, [job.id for job in view.returned], known))
        return fcfs(view)

    made = run(watching)
    assert headway.audit(made).ok
    assert (20, 1, 1, [1], 1) in seen
    assert [now for now, *_, back, _ in seen if back] == [20]


@pytest.mark.parametrize("policy", ["ujfb", "redirection", "reallocation", "easy(dialect=pyss)", "slurm"])
def test_other_policies_refuse_with_a_sentence(policy: str) -> None:
    with pytest.raises(UsageError) as error:
        run(policy)
    if policy not in ("reallocation", "slurm"):
        assert "processors that come and go" in str(error.value)


def test_a_sweep_on_a_machine_with_events(tmp_path: Path) -> None:
    from headway.campaign import Campaign

    written(tmp_path, "kind,start,end,procs\nmaintenance,0,50,4\n")
    platforms = [{"procs": 4}, {"procs": 4, "events": "events.csv", "on_failure": "lost"}]
    log = workload([(0, 4, 10, 60), (1, 1, 10, 10)])
    campaign = Campaign([{"workload": log, "name": "few"}], ["fcfs"], platforms=platforms, folder=tmp_path)
    plain, away = campaign.platforms
    assert plain is not None and plain.outages is None
    assert away is not None and away.outages is not None and away.outages.on_failure == "lost"
    assert plain.describe() != away.describe()
    with pytest.raises(UsageError, match="on_failure goes with events"):
        Campaign([log], ["fcfs"], platforms=[{"procs": 4, "on_failure": "lost"}])


def test_events_may_come_through_a_pipe(tmp_path: Path) -> None:
    """A FIFO is opened once and read forward, and what Slurm shows is asked for as a file."""
    os.mkfifo(tmp_path / "pipe")

    def send(text: str) -> Thread:
        thread = Thread(target=(tmp_path / "pipe").write_text, args=(text,))
        thread.start()
        return thread

    machine = Platform.procs(8)
    sender = send("kind,start,end,procs,processors,announced\ndown,3,12,2,,\n")
    assert len(load_outages(tmp_path / "pipe", machine, None).outages) == 1
    sender.join()
    sender = send("ReservationName=maint StartTime=2024-01-01T00:00:00\n")
    with pytest.raises(InputError, match="and a pipe; save it as a file first"):
        load_outages(tmp_path / "pipe", machine, 0)
    sender.join()


def test_a_packed_file_is_told_as_such(tmp_path: Path) -> None:
    """Its first bytes may look like a table of Slurm's."""
    (tmp_path / "events.csv.gz").write_bytes(b"\x1f\x8b\x08\x08|\x9d\xff|\n\x03\xfe")
    with pytest.raises(InputError, match="is not text in UTF-8"):
        load_outages(tmp_path / "events.csv.gz", Platform.procs(8), None)
