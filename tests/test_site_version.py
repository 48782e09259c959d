"""The version of Slurm is a fact of a site: read from its files, or given, and its defaults follow it."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from headway.changes.changed import Case, changed
from headway.cli.site import site_tables
from headway.errors import InputError
from headway.policies.slurm.setup.setup import settings_of
from headway.policies.slurm.setup.versions import version_remark
from headway.site import Site
from headway.site.anonymise import anonymise_site
from headway.site.export import script
from headway.site.version import shown
from headway.units import MINUTE
from headway.workload.slurm.asked import TEXTS, Lines
from slurm_by_hand import log, site, starts

CONF = "ClusterName=c\nNodeName=n[1-4] CPUs=4\nPartitionName=main Nodes=ALL Default=YES\n"


def folder(where: Path, conf: str = CONF, **files: str) -> Path:
    where.mkdir(exist_ok=True)
    (where / "slurm.conf").write_text(conf, "utf-8")
    for name, text in files.items():
        (where / name.replace("__", ".")).write_text(text, "utf-8")
    return where


def test_version_by_what_scontrol_shows(tmp_path: Path) -> None:
    text = "Configuration data as of 2025-01-01T00:00:00\nSLURM_VERSION           = 24.11.5\n"
    assert Site.load(folder(tmp_path, config__txt=text)).version == (24, 11, 5)


@pytest.mark.parametrize("packed", [False, True])
def test_version_by_a_log_in_json(packed: bool, tmp_path: Path) -> None:
    meta = {"slurm": {"version": {"major": "26", "minor": "05"}, "release": "26.05.5"}}
    text = json.dumps({"jobs": [{"name": "x" * 99}] * 2000, "meta": meta}).encode()
    name = "jobs.json.gz" if packed else "jobs.json"
    (folder(tmp_path) / name).write_bytes(gzip.compress(text) if packed else text)
    assert Site.load(tmp_path).version == (26, 5, 5)


def test_version_in_the_parameters_and_the_defaults_that_follow_it(tmp_path: Path) -> None:
    new, old = (Site.load(folder(tmp_path / v, CONF + f"SLURM_VERSION={v}\n")) for v in ("24.11", "23.02.7"))
    assert (shown(new.version), shown(old.version)) == ("24.11", "23.02.7")
    assert new.config.get("PriorityType") == "priority/multifactor" and not new.is_linear
    assert old.config.get("PriorityType") == "priority/basic" and old.is_linear
    assert settings_of(new).by_window == 1 and settings_of(old).by_window == 0
    assert version_remark(new) == ""


def test_an_unknown_version_is_the_oldest_and_said(tmp_path: Path) -> None:
    found, shows = Site.load(folder(tmp_path)), Console(file=io.StringIO(), width=300)
    assert found.version[:2] == (22, 5) and "those of 22.05" in version_remark(found)
    with shows.capture() as said:
        site_tables(shows, found)
    assert "version not known; rules and defaults are those of 22.05" in said.get()


def test_a_version_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"slurm.conf:4.*'newest' is not a version of Slurm, such as 24.11"):
        _ = Site.load(folder(tmp_path, CONF + "SLURM_VERSION=newest\n")).version


@pytest.mark.interpreted
def test_another_version_by_a_change_or_by_the_policy() -> None:
    """Of an array of which two tasks may run, two more are planned by the older rule: the last job fits."""
    import headway

    jobs = log(
        *[(0, 3, 30, 30)] * 4, (40, 4, 10, 10), (41, 1, 100, 100),
        array=[7, 7, 7, 7, -1, -1], array_task=[0, 1, 2, 3, -1, -1], array_limit=[2, 2, 2, 2, 0, 0],
    )  # fmt: skip
    case = changed(Case.of(jobs, site().platform()), "version=24.11")
    assert case.site is not None and case.site.version == (24, 11, 99)
    by_change = starts(jobs, case.site)
    policy = "slurm(epilog=0, cycle=0, late=0, drift=0, version=24.11)"
    by_policy = headway.simulate(jobs, site().platform(), policy).start
    assert np.array_equal(by_policy // 1_000_000, by_change)
    assert by_change[-1] > 10 * MINUTE // 1_000_000 > starts(jobs, site())[-1]


def test_the_export_and_an_anonymous_site_keep_the_version(tmp_path: Path) -> None:
    assert "|slurm_version|" in script()
    anonymise_site(folder(tmp_path / "site", CONF + "SLURM_VERSION=24.11.5\n"), tmp_path / "given")
    assert Site.load(tmp_path / "given").version == (24, 11, 5)


@pytest.mark.parametrize(("version", "told"), [("24.05.2", False), ("24.05.3", True), ("26.05", True)])
def test_rules_that_changed_and_are_still_those_of_before(version: str, told: bool, tmp_path: Path) -> None:
    tree = "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\nSwitchName=s3 Switches=s[1-2]\n"
    conf = CONF + f"SelectType=select/cons_tres\nTopologyPlugin=topology/tree\nSLURM_VERSION={version}\n"
    names = [one.name for one in Site.load(folder(tmp_path, conf, topology__conf=tree)).not_modelled]
    assert any("topology/tree since 24.05.3" in name for name in names) == told


@pytest.mark.parametrize(
    ("option", "noted"),
    [
        ("--segment=4", "segment"),
        ("--exclusive=topo", "exclusive=topo"),
        ("--qos=a,b", "qos with several names"),
        ("--requeue=expedite", "requeue=expedite"),
        ("--consolidate-segments", "consolidate-segments"),
        ("--resources 3", "resources"),
        ("--prefer=x", "prefer"),
        ("--qos=a --requeue --mem-update=20@5", ""),
    ],
)
def test_options_of_newer_versions_are_noted(option: str, noted: str) -> None:
    _, texts = Lines().rows([f"sbatch -N 2 {option} job.sh"])
    assert texts[TEXTS.index("further")].to_list() == [noted]
