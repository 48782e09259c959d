"""Gantt charts of Slurm runs: what was reserved and which nodes were lost is drawn on their bands."""

from __future__ import annotations

from pathlib import Path

from matplotlib.collections import LineCollection

import headway
from headway import Schedule
from headway.figures.bands import Away, all_away, bands
from headway.figures.gantt import gantt
from headway.report.jobs import job_table, schedule_data, unpacked
from headway.site.model import NodeEvent, Reservation
from slurm_by_hand import BEGAN, log, simulated, site
from test_slurm_gang import gang

HOUR = 3600 * 10**6


def test_reservations_and_lost_nodes_stand_on_their_nodes() -> None:
    """Nodes have four CPUs each: n2 is processors 4 to 7, n3 and n4 are 8 to 15."""
    on = site(
        reservations=(
            Reservation("work", BEGAN + 3600, BEGAN + 7200, (2, 3), flags=("MAINT",)),
            Reservation("class", BEGAN, BEGAN + 3600, (0,), flags=("DAILY",)),
        ),
        events=(
            NodeEvent("n2", BEGAN + 600, BEGAN + 900, "DOWN"),
            NodeEvent("n1", BEGAN + 1800, None, "DRAIN"),
        ),
    )
    schedule = simulated(log((0, 1, 10, 10), (1, 2, 10, 10), (90_000, 1, 10, 10)), on)
    shown = bands(schedule)
    found = all_away(schedule, shown)
    day = 24 * HOUR
    assert Away("maintenance", 8, 16, HOUR, 2 * HOUR) in found
    assert [one for one in found if one.kind == "reserved"] == [
        Away("reserved", 0, 4, 0, HOUR), Away("reserved", 0, 4, day, day + HOUR)
    ]  # fmt: skip
    assert Away("down", 4, 8, 600 * 10**6, 900 * 10**6) in found
    assert [one.kind for one in found].count("drain") == 1
    axes = gantt(schedule).axes[0]
    legend = axes.get_legend()
    assert legend is not None
    assert {"maintenance", "reserved", "down", "drain"} <= {text.get_text() for text in legend.get_texts()}
    data = schedule_data(schedule, job_table([schedule]), job_table([schedule]).rows[0])
    assert ["down", 600.0, 900.0, 4, 4] in data["outages"]


def test_the_report_draws_each_job_on_its_own_nodes() -> None:
    """Two jobs of one node and one of two: four pieces of three jobs, each with its node."""
    schedule = simulated(log((0, 1, 10, 10), (0, 2, 10, 10), (0, 1, 10, 10)), site())
    data = schedule_data(schedule, table := job_table([schedule]), table.rows[0])
    row, band = (unpacked(data["columns"][name]).tolist() for name in ("piece_row", "band"))
    names = [one["name"] for one in data["bands"]]
    drawn = {(int(job), names[int(node)]) for job, node in zip(row, band, strict=True)}
    shares = schedule.shares
    assert shares is not None and len(shares) == 4
    held = zip(shares.job.tolist(), shares.node.tolist(), strict=True)
    assert drawn == {(job, shares.names[node]) for job, node in held}


def test_the_dotted_lines_of_a_suspended_job_stay_on_its_nodes() -> None:
    """A job on four nodes is suspended for one on two of them: four lines, each on the middle of its node."""
    given = log(
        (0, 4, 30, 30), (600, 2, 20, 10), partition=["low", "top"], memory_node_mb=[1000] * 2
    )  # fmt: skip
    schedule = simulated(given, gang())
    lines = [one for one in gantt(schedule).axes[0].collections if isinstance(one, LineCollection)]
    (dotted,) = [one.get_segments() for one in lines if len(one.get_segments()) == 4]
    assert sorted((a[1], b[1]) for a, b in dotted) == [(2.0, 2.0), (6.0, 6.0), (10.0, 10.0), (14.0, 14.0)]


def test_runs_that_were_lost_stand_on_the_nodes_that_they_had(tmp_path: Path) -> None:
    """n1 is lost while the job runs there, and it begins anew on n2: a rectangle on each, the first one lost.

    runs.csv says so, and a folder that is read back; the audit finds a run on a node that was down.
    """
    lost = NodeEvent("n1", BEGAN + 300, None, "DOWN")
    schedule = simulated(log((0, 1, 30, 20)), site(events=(lost,)))
    shown = bands(schedule)
    assert schedule.pieces is not None and len(schedule.pieces) == 2
    assert [shown.names[band] for band in shown.band] == ["n1", "n2"] and shown.lost.tolist() == [True, False]
    schedule.save(tmp_path / "run")
    loaded = Schedule.load(tmp_path / "run")
    for one in (schedule, loaded):
        rows = one.runs()
        assert rows["nodes"].to_list() == ["n1", "n2"] and rows["node_cpus"].to_list() == ["4", "4"]
        assert rows["ended"].to_list() == ["failed", "done"] and headway.audit(one).ok
    pieces = schedule.pieces
    assert pieces is not None and pieces.shares is not None
    pieces.end[0] += 10**6
    assert {fault.law for fault in headway.audit(schedule).faults} == {"nodes away"}
    pieces.end[0] -= 10**6
    pieces.shares.node[0] = 2
    assert headway.audit(schedule).ok  # n3 was there as well, and nobody had it
    pieces.shares.node[1] = 2
    (fault,) = headway.audit(schedule).faults
    assert (
        fault.law == "node shares" and "run 1 of job 1 has n3, and not the nodes of its job" in fault.message
    )


def test_the_cpus_of_a_run_that_was_lost_count() -> None:
    """One job on n1, one on the other nodes; n1 is lost, and its job waits for the other one to end. A run
    that was lost on n2 would have met that one there."""
    lost = NodeEvent("n1", BEGAN + 300, None, "DOWN")
    schedule = simulated(log((0, 1, 30, 20), (0, 3, 30, 20)), site(events=(lost,)))
    assert headway.audit(schedule).ok
    assert schedule.pieces is not None and schedule.pieces.shares is not None
    schedule.pieces.shares.node[0] = 1
    assert {fault.law for fault in headway.audit(schedule).faults} == {"node CPUs", "exclusive nodes"}


def test_without_any_nothing_is_drawn() -> None:
    schedule = simulated(log((0, 1, 10, 10)), site())
    assert all_away(schedule, bands(schedule)) == []
