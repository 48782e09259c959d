"""Usage of a site when its log begins, computed back from what sshare showed at the export."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from headway.policies.slurm.setup.holders import usage_rows
from headway.site import Site
from headway.site.usage import usage_at

HOUR = 3600
BEGAN = 1_700_000_000
EXPORTED = BEGAN + 8 * HOUR
LEFT = 1 - 0.693 / (4 * HOUR)
"""What a second leaves of usage, with a half-life of four hours."""
CONF = """\
ClusterName=c
PriorityType=priority/multifactor
PriorityDecayHalfLife=0-4
PriorityWeightFairshare=1000
AccountingStorageType=accounting_storage/slurmdbd
NodeName=n[1-4] CPUs=4
PartitionName=main Nodes=ALL Default=YES
"""
NAMES = "JobID|User|Account|QOS|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS|AllocTRES"
ROWS = [
    # number, user, state, start and length in hours, CPUs, what is billed
    (1, "ann", "COMPLETED", 0, 2, 4, "billing=8,cpu=4"),
    (2, "bob", "PREEMPTED", 1, 1, 8, ""),
    (2, "bob", "COMPLETED", 3, 4, 8, ""),
    (3, "ann", "RUNNING", 7.5, 0.5, 2, "billing=2,cpu=2"),
    (4, "gone", "COMPLETED", 1, 1, 1, ""),
]
TRUE = {("root", ""): 26_000.0, ("chem", ""): 26_000.0, ("chem", "ann"): 20_000.0, ("chem", "bob"): 5_000.0}
"""What had been used when the log begins."""


def second_by_second(hours: float, length: float, rate: int) -> float:
    """What is left at the export of a run, by adding each second and letting it decay."""
    start = BEGAN + int(hours * HOUR)
    return sum(rate * LEFT ** (EXPORTED - t) for t in range(start, start + int(length * HOUR)))


def folder(path: Path, **more: str) -> Path:
    """A site's folder as it was exported."""
    used = {who: usage * LEFT ** (EXPORTED - BEGAN) for who, usage in TRUE.items()}
    lines = [NAMES]
    for number, user, state, hours, length, cpus, tres in ROWS:
        start = BEGAN + int(hours * HOUR)
        end = "Unknown" if state == "RUNNING" else start + int(length * HOUR)
        row = (number, user, "chem", "normal", state, BEGAN, start, end, int(length * HOUR), 600, cpus, cpus)
        lines.append("|".join(map(str, (*row, tres))))
        added = second_by_second(hours, length, int(tres[8]) if tres else cpus)
        for who in (("chem", user), ("chem", ""), ("root", "")):
            used[who] = used.get(who, 0.0) + added
    shares = [f" {account}|{user}|{usage:.0f}" for (account, user), usage in used.items()]
    tree = ["Account|User|ParentName|Share|QOS", "root|||1|normal", "chem||root|1|normal"]
    tree += [f"chem|{user}||1|normal" for user in ("ann", "bob")]
    files = {
        "slurm.conf": CONF, "jobs.txt": "\n".join(lines) + "\n", "associations.txt": "\n".join(tree) + "\n",
        "shares.txt": "\n".join(["Account|User|RawUsage", *shares]) + "\n",
        "sdiag.txt": f"***\nsdiag output at Tue Nov 14 22:13:20 2023 ({EXPORTED})\nData since ...\n",
        "qos.txt": "Name|Priority|UsageFactor\nnormal|0|1.0\n", **more,
    }  # fmt: skip
    path.mkdir(exist_ok=True)
    for name, text in files.items():
        (path / name).write_text(text)
    return path


def test_the_logs_own_runs_are_taken_off_and_the_rest_is_as_it_was(tmp_path: Path) -> None:
    """Earlier runs, runs that are not over and those of users who are gone count; billing as Slurm billed."""
    site = Site.load(folder(tmp_path / "site"))
    assert site.exported == EXPORTED
    found = usage_at(site, BEGAN)
    for who, usage in TRUE.items():
        assert found[who] == pytest.approx(usage, rel=0.01), who
    rows = usage_rows(site, BEGAN).raw[len(site.qos) :]
    charged = {(one.account, one.user): rows[k] for k, one in enumerate(site.associations)}
    assert charged["chem", "bob"] == pytest.approx(5_000, rel=0.01)
    assert usage_at(site, EXPORTED) == site.usage


def test_at_a_later_instant_the_runs_before_it_are_in_it(tmp_path: Path) -> None:
    """Ann had run for two hours by then, which the log has, too; as a forecast of that instant begins."""
    site, then = Site.load(folder(tmp_path / "site")), BEGAN + 2 * HOUR
    of_ann = sum(8 * LEFT ** (then - t) for t in range(BEGAN, then)) + 20_000 * LEFT ** (2 * HOUR)
    assert usage_at(site, then)["chem", "ann"] == pytest.approx(of_ann, rel=0.01)


@pytest.mark.parametrize(
    "more",
    [
        {"sdiag.txt": "nothing of a time\n"},
        {"sdiag.txt": f"sdiag output at some time ({EXPORTED + 2 * HOUR})\n"},  # nobody knows of two hours
        {"slurm.conf": CONF + "PriorityUsageResetPeriod=DAILY\n"},
    ],
)
def test_where_nobody_can_tell_it_stays_as_exported(tmp_path: Path, more: dict[str, str]) -> None:
    site = Site.load(folder(tmp_path / "site", **more))
    assert usage_at(site, BEGAN) == site.usage


@pytest.mark.parametrize("hours", [0, 1.5])
def test_of_a_long_log_what_follows_its_beginning_stands_for_what_was_before(
    tmp_path: Path, hours: float
) -> None:
    """Of four half-lives: a run of hours 1 to 2 counts at 0 as one from -2 to -1. At 1.5 what ran until then
    is in it as it was, and what is later is not known."""
    site = Site.load(folder(tmp_path / "site", **{"slurm.conf": CONF.replace("0-4", "0-2")}))
    left, then = 1 - 0.693 / (2 * HOUR), int(hours * HOUR)

    def by_seconds(*runs: tuple[float, float, int]) -> float:
        seconds = [(t, rate) for a, b, rate in runs for t in range(int(a * HOUR), int(b * HOUR))]
        past = sum(rate * left ** (then - t) for t, rate in seconds if t < then)
        return past + sum(rate * left ** (then + t) for t, rate in seconds if t < then or not hours)

    found = usage_at(site, BEGAN + then)
    ann, bob = by_seconds((0, 2, 8), (7.5, 8, 2)), by_seconds((1, 2, 8), (3, 7, 8))
    assert found["chem", "ann"] == pytest.approx(ann, rel=0.01)
    assert found["chem", "bob"] == pytest.approx(bob, rel=0.01)
    assert found["root", ""] == pytest.approx(ann + bob + by_seconds((1, 2, 1)), rel=0.01)


def test_without_decay_all_of_it_is_taken_off(tmp_path: Path) -> None:
    site = Site.load(folder(tmp_path / "site", **{"slurm.conf": CONF.replace("0-4", "0")}))
    whole = replace(site, usage={("chem", "ann"): 20_000 + 2.0 * HOUR * 8 + 0.5 * HOUR * 2})
    assert usage_at(whole, BEGAN)["chem", "ann"] == pytest.approx(20_000)


def test_a_log_is_read_again_when_it_is_another_one(tmp_path: Path) -> None:
    site = Site.load(folder(tmp_path / "site"))
    before = usage_at(site, BEGAN)["chem", "bob"]
    log = tmp_path / "site" / "jobs.txt"
    log.write_text("\n".join(line for line in log.read_text().splitlines() if "PREEMPTED" not in line) + "\n")
    os.utime(log, ns=(1, 1))
    assert usage_at(site, BEGAN)["chem", "bob"] > before + 10_000
