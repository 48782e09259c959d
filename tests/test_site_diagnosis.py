"""What sdiag tells of a controller's delays, and a simulation that takes them from there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import headway
from headway.changes.site_changes import scheduling
from headway.site import Site
from headway.site.anonymise import anonymise_site
from slurm_by_hand import UNDISTURBED, log, site
from slurm_by_hand import starts as undisturbed

CONF = "ClusterName=c\nNodeName=n[1-4] CPUs=4\nPartitionName=main Nodes=ALL Default=YES\n"
SDIAG = """\
*******************************************************
sdiag output at Tue Nov 14 22:13:20 2023 (1700000000)
Data since      Tue Nov 14 12:13:20 2023 (1699964000)
*******************************************************
Server thread count:  3

Jobs submitted: {jobs}
Jobs started:   {jobs}
Jobs completed: {jobs}
Jobs canceled:  0
Jobs failed:    0

Main schedule statistics (microseconds):
\tLast cycle:   1200
\tTotal cycles: 7000
\tMean cycle:   1500

Backfilling stats
\tTotal backfilled jobs (since last slurm start): 500
\tTotal cycles: {cycles}
\tLast cycle when: Tue Nov 14 22:13:00 2023 (1699999980)
\tMean cycle: 2500000
\tDepth Mean: 90

Remote Procedure Call statistics by user
\tann             (    1001) count:9      ave_time:100    total_time:900
"""


def folder(where: Path, jobs: int, cycles: int) -> Path:
    (where / "slurm.conf").write_text(CONF)
    (where / "sdiag.txt").write_text(SDIAG.format(jobs=jobs, cycles=cycles))
    return where


@pytest.mark.parametrize(
    ("jobs", "cycles", "late"),
    [
        (12_000, 1000, 3.5),  # 36 s from cycle to cycle, 30 of sleep and 2.5 of work; a change each second
        (12_000, 1108, 0),
        (120, 1000, 3.5 / 0.2592),  # where one interval in four has a change, they may be later
        (120, 600, 20),  # most of the time nothing changed: as in the recorded runs
        (0, 1000, 20),
    ],
)
def test_how_late_backfill_is_at_most(tmp_path: Path, jobs: int, cycles: int, late: float) -> None:
    found = Site.load(folder(tmp_path, jobs, cycles))
    assert found.exported == 1_700_000_000
    assert found.delays == {"cycle": 2.5, "late": pytest.approx(late, abs=0.01)}
    assert scheduling(found, "bf_interval", "60").delays == found.delays  # seen under the interval of before


def test_too_few_cycles_tell_nothing(tmp_path: Path) -> None:
    assert Site.load(folder(tmp_path, 100, 99)).delays == {}
    (tmp_path / "sdiag.txt").write_text(
        "sdiag output at noon (1700000000)\nBackfilling stats\n\tTotal cycles: x\n"
    )
    found = Site.load(tmp_path)
    assert found.exported == 1_700_000_000 and found.delays == {}


def test_a_simulation_takes_the_delays_of_its_site() -> None:
    """What the policy is told goes first. A job that does not fit at once shows how late backfill is."""
    jobs = log((0, 3, 20, 20), (10, 4, 60, 30), *((20 + 90 * k, 1, 5, 2) for k in range(12)))

    def starts(policy: str, on: Site) -> list[int]:
        return [int(t) // 10**6 for t in headway.simulate(jobs, on.platform(), policy).start]

    prompt = replace(site(), delays={"cycle": 0.0, "late": 0.0})
    slow = replace(site(), delays={"cycle": 0.0, "late": 20.0})
    assert starts("slurm(epilog=0, drift=0)", prompt) == undisturbed(jobs, site())
    assert starts("slurm(epilog=0, drift=0)", slow) == starts(
        "slurm(epilog=0, drift=0, cycle=0, late=20)", site()
    )
    assert starts("slurm(epilog=0, drift=0)", slow) != undisturbed(jobs, site())
    assert slow.platform().describe()["site"]["delays"] == {"cycle": 0.0, "late": 20.0}
    assert starts(UNDISTURBED, slow) == undisturbed(jobs, site())


def test_an_anonymous_copy_keeps_the_figures_and_no_names(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    source = folder(tmp_path / "site", 12_000, 1000)
    anonymise_site(source, tmp_path / "copy", "key")
    assert Site.load(tmp_path / "copy").delays == Site.load(source).delays != {}
    assert "ann" not in (tmp_path / "copy" / "sdiag.txt").read_text()
