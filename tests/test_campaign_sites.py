"""Campaigns on Slurm sites: cells are what `simulate` gives, and are known by the site's content."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import headway
from headway.campaign import Campaign
from headway.campaign.judging import OTHER_JOBS, TOO_FEW
from headway.campaign.measure import Cell
from headway.changes import Case, changed
from headway.site import Site
from headway.site.described import digest
from headway.site.example import write_example
from headway.workload.transform import apply

WIDE = "nodes=+25%"
FEW = ["mean_wait", "mean_bsld"]


@pytest.fixture
def plant(tmp_path: Path) -> Path:
    """The example site with the first 40 jobs of one or two nodes, on four of its nodes."""
    folder = tmp_path / "plant"
    write_example(folder)
    packed = folder / "jobs.txt.gz"
    lines = gzip.decompress(packed.read_bytes()).decode().splitlines(keepends=True)
    packed.unlink()
    nodes = lines[0].split("|").index("NNodes")
    small = [line for line in lines[1:] if int(line.split("|")[nodes]) <= 2]
    (folder / "jobs.txt").write_text("".join([lines[0], *small[:40]]))
    config = (folder / "slurm.conf").read_text()
    for before, after in (("n[1-20]", "n[1-4]"), ("n[1-14]", "n[1-3]"), ("n[19-20]", "n4")):
        config = config.replace(before, after)
    (folder / "slurm.conf").write_text(config)
    return folder


def of(site: object, *policies: object, **more: Any) -> Campaign:
    return Campaign(site, policies or "easy", **({"metrics": FEW} | more))


def labels(cells: list[Cell]) -> list[str]:
    return [cell.columns["label"] for cell in cells]


def ids(site: object) -> list[str]:
    return [cell.id for cell in of(site, "easy", {"policy": "slurm", "changes": WIDE}).cells()]


def slurm(changes: object) -> dict[str, object]:
    return {"policy": "slurm", "changes": changes}


def never(chunk: object) -> Any:
    raise AssertionError("a finished cell was run again")


def test_a_cell_is_what_simulate_gives_on_the_site(plant: Path, tmp_path: Path) -> None:
    """Job for job, with and without changes of the site, its rules and the jobs, on a part of the log."""
    texts = ["", WIDE, "bf_max_job_test=1 limits=none", "jobs=+50%", "partition.long.maxtime=4h"]
    policies = [{"policy": "slurm(seed=2)", "changes": texts}, "easy", "conservative(nodes=shared)"]
    part = "window(from=0, to=30000)"
    run = of({"site": str(plant), "apply": part}, *policies, schedules=True).run(tmp_path / "out", workers=1)
    site = Site.load(plant)
    jobs = apply(site.read_jobs(), part)
    assert 10 < len(jobs) < 40
    rows = run.frame.rows(named=True)
    assert [row["changes"] for row in rows if "slurm" in row["policy"]] == [None, *texts[1:]]
    for row in rows:
        case = Case(jobs, site.platform(), row["policy"])
        for text in (row["changes"] or "").split():
            case = changed(case, text)
        alone = headway.simulate(case.workload, case.platform, case.policy)
        assert run.schedule(row["cell"]).equals(alone.frame()), row["label"]
        assert row["mean_wait"] == alone.summary()["mean_wait"] and row["jobs"] == len(alone)
    assert run.frame["mean_wait"].n_unique() > 4


def test_a_site_may_be_given_in_every_way_a_log_is(plant: Path, tmp_path: Path) -> None:
    """Its folder for a log, a log on it, jobs read from it, the site itself: all are the same cells."""
    site = Site.load(plant)
    elsewhere = shutil.copytree(plant, tmp_path / "elsewhere")
    (elsewhere / "jobs.txt").rename(tmp_path / "other.txt")
    given: list[object] = [
        str(plant), plant, {"trace": str(plant)}, site, {"site": site},
        {"workload": site.read_jobs(), "site": site},
        {"site": str(elsewhere), "trace": str(tmp_path / "other.txt")},
    ]  # fmt: skip
    assert len({tuple(ids(each)) for each in given}) == 1
    assert [source.name for each in given[:4] for source in of(each).sources] == ["plant"] * 3 + [site.name]
    by_platform = of(site.read_jobs(), "slurm", platforms=[site.platform()]).cells()
    assert by_platform[0].id == of(site, "slurm").cells()[0].id


def test_a_site_by_hand_is_called_like_its_folder(tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "site.toml").write_text(
        "[[node]]\nname = 'n[1-2]'\nCPUs = 4\n[[partition]]\nname = 'main'\nNodes = 'ALL'\nDefault = true\n"
    )
    model = {"model": "lublin(jobs=20, procs=8, seed=1)", "site": str(tmp_path / "tiny" / "site.toml")}
    [cell] = of(model).cells()
    assert cell.platform.site is not None and cell.platform.total_procs == 8
    (tmp_path / "tiny" / "jobs.swf").write_text("1 0 0 60 1 -1 -1 1 60 -1 1 1 1 -1 1 -1 -1 -1\n")
    assert of(str(tmp_path / "tiny" / "site.toml")).sources[0].name == "tiny"


@pytest.mark.parametrize(
    ("file", "before", "after", "stale"),
    [
        ("slurm.conf", "PriorityWeightAge=", "PriorityWeightAge=1", True),
        ("slurm.conf", "ClusterName", "DisableRootJobs=YES\nClusterName", True),
        ("slurm.conf", "ClusterName", "# another comment\n\nClusterName", False),
        ("associations.cfg", "Fairshare=", "Fairshare=1", True),
        ("qos.txt", "high|", "high|1", True),
        ("jobs.txt", "|60|", "|61|", True),
    ],
)
def test_cells_are_stale_when_a_file_of_the_site_says_something_else(
    plant: Path, file: str, before: str, after: str, stale: bool
) -> None:
    first, path = ids(plant), plant / file
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    shared = set(first) & set(ids(plant))
    assert shared == (set() if stale else set(first))


def test_the_name_of_a_folder_is_no_input(tmp_path: Path) -> None:
    """A site that has no name is called like its folder."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "slurm.conf").write_text(
            "NodeName=n[1-4] CPUs=4\nPartitionName=main Nodes=ALL Default=YES\n"
        )
        (tmp_path / name / "jobs.swf").write_text("1 0 0 60 1 -1 -1 1 60 -1 1 1 1 -1 1 -1 -1 -1\n")
    assert Site.load(tmp_path / "here").name != Site.load(tmp_path / "there").name
    assert ids(tmp_path / "here") == ids(tmp_path / "there")


def test_finished_cells_never_run_again_and_workers_give_the_same_bytes(
    plant: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policies = [{"policy": "slurm(seed={seed})", "changes": WIDE}, "easy"]

    def campaign() -> Campaign:
        return of(plant, *policies, baseline="slurm(seed={seed})", replications=2)

    def done(out: str, **how: Any) -> bytes:
        campaign().run(tmp_path / out, **how)
        return (tmp_path / out / "results.parquet").read_bytes()

    first = done("one", workers=1)
    assert first == done("two", workers=2, processes=False) == done("three", workers=2, processes=True)
    monkeypatch.setattr("headway.campaign.workers.run_chunk", never)
    again = campaign().run(tmp_path / "one", workers=1)
    assert again.progress is not None and (again.progress.done, again.progress.skipped) == (0, 6)
    assert again.described["workloads"][0]["site_sha256"] == digest(Site.load(plant))


def test_seeds_in_a_policy_are_replications_of_it(plant: Path) -> None:
    """Every run is paired with the baseline of its seed, also where its policy draws nothing itself."""
    baseline = "slurm(seed={seed}, epilog=3)"
    cells = of(plant, "slurm(seed={seed})", "easy", baseline=baseline, seeds=[3, 5]).cells()
    by_id = {cell.id: cell for cell in cells}
    own = [cell for cell in cells if cell.columns["baseline"]]
    assert [(cell.columns["label"], cell.seed) for cell in own] == [
        ("slurm(seed={seed})", 3), ("slurm(seed={seed})", 5), ("easy", 3), ("easy", 5)
    ]  # fmt: skip
    for cell in own:
        base = by_id[cell.columns["baseline"]]
        assert base.seed == cell.seed == base.spec.whole("seed") and base.spec.number("epilog") == 3
        assert base.columns["label"] == baseline
    assert len({cell.columns["block"] for cell in cells}) == 1
    assert not any("seed" in cell.parameters for cell in cells)
    named = of(plant, {"policy": "slurm(seed={seed})", "label": "Slurm", "changes": ["", WIDE]}, seeds=[3, 5])
    assert labels(named.cells()) == ["Slurm", "Slurm", f"Slurm, {WIDE}", f"Slurm, {WIDE}"]


def test_seeds_of_model_and_policy_go_together(plant: Path) -> None:
    model = {"model": "lublin(jobs=20, procs=8, seed={seed})", "site": plant}
    cells = of(model, "slurm(seed={seed})", "easy", replications=2).cells()
    assert [(cell.spec.brief, cell.seed) for cell in cells] == [
        ("slurm", 0), ("easy", 0), ("slurm(seed=1)", 1), ("easy", 1)
    ]  # fmt: skip


def test_a_smaller_machine_is_compared_on_the_jobs_that_it_can_run(tmp_path: Path) -> None:
    """A change that leaves no job out has the baseline that is there; else both leave the widest out."""
    jobs = headway.Workload.from_arrays(
        unit="s", submit=[0, 1, 2, 3], procs=[2, 6, 8, 4], runtime=[60] * 4, walltime=[60] * 4
    )
    source = {"workload": jobs, "procs": 10}
    texts = ["nodes=-2", "nodes=-3", "nodes=+5"]
    campaign = of(source, "easy", {"policy": "easy", "changes": texts}, baseline="easy")
    run = campaign.run(tmp_path / "out", workers=1)
    shown = [(row["label"], row["procs"], row["jobs"]) for row in run.frame.rows(named=True)]
    assert shown == [
        ("easy", 10, 4), ("easy, nodes=-2", 8, 4), ("easy", 10, 3), ("easy, nodes=-3", 7, 3),
        ("easy, nodes=+5", 15, 4),
    ]  # fmt: skip
    by_id = {row["cell"]: row for row in run.frame.rows(named=True)}
    assert [by_id[row["baseline"]]["jobs"] for row in by_id.values() if row["changes"]] == [4, 3, 4]


def test_nobody_is_better_where_the_jobs_are_not_the_same(plant: Path, tmp_path: Path) -> None:
    """Fewer jobs wait less: a limit that turns jobs away is no improvement."""
    few = "qos.normal.maxsubmitjobsperuser=0"
    run = of(plant, {"policy": "slurm", "changes": [few, WIDE]}, baseline="slurm", classes=True).run(
        tmp_path / "out", workers=1
    )
    counts = dict(run.frame.select("label", "jobs").iter_rows())
    assert counts[f"slurm, {few}"] < counts["slurm"] == counts[f"slurm, {WIDE}"]
    judged = run.against_baseline("mean_wait", by="label")
    said = dict(judged.select("label", "verdict").iter_rows())
    assert said == {f"slurm, {few}": OTHER_JOBS, f"slurm, {WIDE}": TOO_FEW}
    winners = run.winners("size", "mean_wait").filter(pl.col("label") == f"slurm, {few}")
    assert OTHER_JOBS in winners["verdict"].to_list()
    assert set(run.against_baseline("jobs", by="label")["verdict"]) == {TOO_FEW}


def test_jobs_are_counted_wherever_policies_are_paired(tmp_path: Path) -> None:
    """A policy that refuses jobs is not better, though the campaign asked for nothing but waits."""
    jobs = headway.Workload.from_arrays(
        unit="s",
        submit=[0, 1, 2],
        procs=[4, 4, 4],
        runtime=[60] * 3,
        walltime=[60] * 3,
        deadline=[-1, 70, -1],
    )
    run = Campaign(
        {"workload": jobs, "procs": 4}, "dbf(late=refuse)", baseline="conservative", metrics=["mean_wait"]
    ).run(tmp_path / "out", workers=1)
    assert run.frame["jobs"].to_list() == [3, 2]
    assert run.against_baseline("mean_wait")["verdict"].to_list() == [OTHER_JOBS]


@pytest.mark.parametrize(
    ("text", "noticed"),
    [
        ("bf_max_job_test=100", False), ("limits=none", False), ("nodes=+1 limits=none", False),
        ("partition.long.allowaccounts=bio", False), ("nodes=+1", True), ("nodes=+0", True),
        ("partition.long.maxtime=1h", True), ("jobs=+10%", True),
    ],
)  # fmt: skip
def test_a_change_that_a_policy_cannot_notice_is_refused(plant: Path, text: str, noticed: bool) -> None:
    """A policy that counts processors would show no difference at all."""
    counting = of(plant, {"policy": "easy", "changes": text})
    if noticed:
        assert len(counting.cells()) == 1
    else:
        with pytest.raises(headway.HeadwayError, match="easy counts processors and looks at no rules"):
            counting.cells()
    assert of(plant, slurm(text)).cells()[0].id != of(plant, "slurm").cells()[0].id or text == "nodes=+0"


@pytest.mark.parametrize(
    ("workload", "policy", "message"),
    [
        ({"site": "nowhere"}, "easy", "nowhere: there is no such folder; a site is a folder with slurm.conf"),
        ({"site": "plant", "procs": 4}, "easy", "give either procs or site, not both"),
        ({"site": "plant", "trace": "plant"}, "easy", "is a site itself; leave out site, or give a log"),
        ({"site": 5}, "easy", "site must be a text, not 5"),
        ({"site": "plant", "rules": {"overrun": "x"}}, "easy", "overrun"),
        ({"site": "plant", "rules": {"zone": "Mars"}}, "easy", "there is no time zone 'Mars'"),
        ({"site": "plant", "trace": "few.swf", "rules": {"requeues": "each"}}, "easy",
         "few.swf: the rule requeues is about Slurm's records, and this log is in the format swf"),
        ({"trace": "plant", "apply": "wks"}, "easy", "workload plant: no transformation wks"),
        ("broken", "easy", r"broken/slurm.conf:3: Nodes: partition batch has the node n5"),
        ("plant", slurm("nodes=+x"), "workload plant: changes: nodes=.x: '.x' is not a change"),
        ("plant", slurm("nodez=+1"), "changes: there is no change 'nodez=.1' .did you mean"),
        ("plant", slurm("partition.foo.maxtime=3h"), "the site has no partition foo; there are short"),
        ("plant", slurm(["'nodes=+1"]), "a quotation mark is not closed"),
        ("plant", slurm("policy=easy"), r"another policy gets a \[\[policy\]\] of its own"),
        ("plant", slurm(["nodes=+1", "nodes=+1"]), "changes must be different texts"),
        ("plant", slurm([]), "changes must be different texts"),
        ("plant", slurm(5), "changes must be a text or a list of texts"),
        ("plant", slurm(["nodes=+1"]) | {"label": "fcfs"}, "are both called 'fcfs'"),
        ("plant", "slurm(seed={sed})", "expected a name"),
        ("lublin(jobs=9, procs=4)", slurm("limits=none"), "changes a site, and this is a log"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(plant: Path, workload: object, policy: object, message: str) -> None:
    broken = plant.parent / "broken"
    broken.mkdir()
    (broken / "slurm.conf").write_text(
        "ClusterName=small\nNodeName=n[1-4] CPUs=8\nPartitionName=batch Nodes=n[1-5] Default=YES\n"
    )
    (plant.parent / "few.swf").write_text("1 0 0 60 1 -1 -1 1 60 -1 1 1 1 -1 1 -1 -1 -1\n")
    with pytest.raises(headway.HeadwayError, match=message):
        of(workload, "fcfs", policy, folder=plant.parent).cells()


def test_a_failing_cell_on_a_site_is_told(tmp_path: Path) -> None:
    run = of("lublin(jobs=9, procs=4)", "slurm").run(tmp_path / "out", workers=1)
    assert "slurm needs a site" in run.failed["error"][0]
