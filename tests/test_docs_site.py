"""The documentation site: builds without a warning, holds every page, and says what the code says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from commands import every_command
from documentation import pages
from headway.audit.laws import UNIVERSAL
from headway.audit.policy_laws import FIXED
from headway.metrics.catalogue import METRICS
from headway.metrics.own_numbers import OWN
from headway.policies.catalogue import POLICIES
from headway.schedule import ENDED, STATES, WHY
from headway.workload.models import MODELS
from headway.workload.rules import RULES
from headway.workload.transform.registry import TRANSFORMATIONS
from surroundings import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return folder


def words(site: Path, page: str) -> str:
    """A page as text, without tags."""
    return re.sub(r"<[^>]+>", "", (site / f"{page}.html").read_text("utf-8"))


def test_every_page_is_built_and_in_the_navigation(site: Path) -> None:
    index = (site / "index.html").read_text("utf-8")
    linked = set(re.findall(r'href="([^"#]+\.html)"', index))
    for page in pages()[1:]:
        name = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert (site / name).is_file()
        assert name in linked or name == "index.html"


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    text = (site / "index.html").read_text("utf-8")
    assert re.findall(r'(?:src|href)="(https?://[^"]+\.(?:js|css|woff2?))"', text) == []


def test_a_number_of_a_table_stays_beside_its_unit(site: Path) -> None:
    assert "<td>94.8\u00a0%</td>" in (site / "explanation" / "forecast.html").read_text("utf-8")
    assert "<td>jobs/CPU\u00a0s</td>" in (site / "reference" / "speed.html").read_text("utf-8")


def test_the_reference_is_the_code(site: Path) -> None:
    policies = words(site, "reference/policies")
    for info in POLICIES.values():
        assert info.name in policies
        assert all(parameter.name in policies for parameter in info.parameters)
        assert all(reference.split(",")[0] in policies for reference in info.citation)
    metrics = words(site, "reference/metrics")
    assert all(metric.name in metrics for metric in METRICS)
    assert all(name in metrics for name in OWN)
    shown = words(site, "reference/commands")
    assert all(f"headway {name}" in shown for name in every_command())
    assert "--policy SPEC" in shown
    assert all(rule in words(site, "reference/reading-rules") for rule in RULES)
    assert all(name in words(site, "reference/transformations") for name in TRANSFORMATIONS)
    assert all(name in words(site, "reference/models") for name in MODELS)
    assert "rackham" in words(site, "reference/platforms")
    assert "headway.simulate" in words(site, "reference/python")
    assert all(law.demands in words(site, "reference/laws") for law in (*UNIVERSAL, FIXED["easy head"]))


def test_the_page_on_files_names_every_column_and_code() -> None:
    text = (ROOT / "docs/reference/files.md").read_text("utf-8")
    source = (ROOT / "src/headway/schedule/table.py").read_text("utf-8")
    columns = set(re.findall(r'(?:pl\.Series|times|_names|_workload_names)\((?:schedule, )?"(\w+)"', source))
    assert {"job", "wait", "state", "ended", "promise"} <= columns
    for name in (*columns, *WHY, *STATES, *ENDED, "trace_procs", "processors"):
        assert f"`{name}`" in text, name


def test_the_map_of_the_papers_names_what_exists() -> None:
    page = (ROOT / "docs" / "papers" / "index.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:4] for line in page.split("## Where each part is")[1].splitlines()[5:]]
    assert len(rows) > 20
    for part, code, test in rows:
        for name in re.findall("`([^`]+)`", code):
            assert (ROOT / "src" / "headway" / name).exists(), (part, name)
        for name in re.findall("`([^`]+)`", test):
            assert (ROOT / "tests" / name).is_file(), (part, name)
