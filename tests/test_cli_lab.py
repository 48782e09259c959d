"""Commands around logs: convert, generate, weeks, anonymise, datasets and replay."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
from pathlib import Path

import pytest

from commands import SWF, Headway
from headway.workload import read, read_annotations
from headway.workload.models import generate
from sacct_texts import Export
from traces import trace


@pytest.fixture
def headway(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Headway:
    monkeypatch.setenv("HEADWAY_DATA_DIR", str(tmp_path / "data"))
    command = Headway(tmp_path, capsys, monkeypatch)
    command.write("log.swf", SWF)
    command.write("short.key", "short\n")
    return command


def test_generate_by_words_and_by_spec_are_one(headway: Headway) -> None:
    words = headway("generate", "lublin", "jobs=50", "procs=16", "--seed", "3", "-o", "a.swf")
    spec = headway("generate", "lublin(jobs=50, procs=16, seed=3)", "-o", "b.swf.gz")
    assert words.status == spec.status == 0 and "50 jobs written to a.swf" in words.out
    plain = (headway.folder / "a.swf").read_bytes()
    assert gzip.decompress((headway.folder / "b.swf.gz").read_bytes()) == plain
    assert (
        read(headway.folder / "a.swf").submit.tolist() == generate("lublin(50, 16, seed=3)").submit.tolist()
    )
    assert headway("generate", "lublin", "jobs=50", "procs=16", "--seed", "4", "-o", "c.swf").status == 0
    assert (headway.folder / "c.swf").read_bytes() != plain


def test_generate_applies_and_writes_batsim(headway: Headway) -> None:
    result = headway("generate", "lublin", "jobs=40", "procs=8", "-o", "w.json", "--apply", "first(jobs=10)")
    assert result.status == 0 and len(read(headway.folder / "w.json")) == 10


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("generate", "dublin", "jobs=3", "-o", "x.swf"), "no model dublin (did you mean 'lublin'?)"),
        (("generate", "lublin", "jobs=many", "-o", "x.swf"), "jobs must be a whole number, not many"),
        (("generate", "lublin", "jobs=3", "procs=4", "seed=1", "--seed", "2", "-o", "x.swf"), "given twice"),
        (("generate", "lublin(jobs=3)", "procs=4", "-o", "x.swf"), "not both"),
        (("generate", "lublin", "jobs=3", "procs=4", "-o", "log.swf"), "log.swf exists"),
        (("convert", "log.swf", "out.swf", "--apply", "weeks(at_least=0)"), "name a folder"),
        (("convert", "log.swf", "out", "--apply", "dance"), "no transformation dance"),
        (("convert", "log.swf", "out_jobs.csv"), "is not a folder that 'simulate --out' wrote"),
        (("convert", "log.swf", "log.swf"), "exists"),
        (("convert", "log.swf", "log.parquet"), "(.swf or .swf.gz) or as Batsim's .json, not as .parquet"),
        (("convert", "log.swf", "log.2.JSON.gz"), "not as .json.gz; give a name that ends so"),
        (("generate", "lublin", "jobs=3", "-o", "log.swf.xz"), "not as .xz; give a name that ends so"),
        (("weeks", "log.swf", "--procs", "4", "--procs", "5"), "2 times for 1 log;"),
        (("weeks", "log.swf", "--placing", "diagonal"), "aligned or sliding"),
        (("anonymise", "log.swf", "log.swf"), "exists"),
        (("anonymise", "log.swf", "x.swf", "--key-file", "short.key"), "at least 8 characters"),
        (("datasets", "atlantis"), "there is no dataset atlantis"),
        (("datasets", "add", "log.swf"), "see 'headway datasets add --help'"),
        (("datasets", "download", "gwa"), "where gwa lies is not known; its page is"),
        (("datasets", "add", "log.swf", "x", "--sha256", "0" * 64), "copy the file again"),
        (("replay", "log.swf", "--policy", "fcfs"), "records no waits"),
        (("inspect", "kth-sp2"), "no local copy is registered"),
    ],
)
def test_mistakes_are_one_sentence_and_write_nothing(
    headway: Headway, words: tuple[str, ...], sentence: str
) -> None:
    before = headway.files()
    result = headway(*words)
    assert result.status == 2 and sentence in result.err and result.out == ""
    assert len(result.err.splitlines()) == 1 and result.err.startswith("headway: ")
    assert headway.files() == before


def test_convert_writes_several_workloads_with_their_table(headway: Headway) -> None:
    headway("generate", "lublin", "jobs=200", "procs=64", "-o", "g.swf", "--quiet")
    weeks = "weeks(at_least=0.2, utilization=submitted, length=36000)"
    result = headway("convert", "g.swf", "parts", "--apply", weeks, "--apply", "deadlines(every=3)")
    assert result.status == 0
    with (headway.folder / "parts" / "parts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 2 and all(float(row["utilization"]) >= 0.2 for row in rows)
    for row in rows:
        work = read(headway.folder / "parts" / row["file"])
        assert len(work) == int(row["jobs"])
        assert work.submit.min() >= 0 and work.submit.max() < 36000 * 10**6
        marks = headway.folder / "parts" / row["file"].replace(".swf", ".annotations.csv")
        assert (read_annotations(work, marks).deadline >= 0).sum() == len(work) // 3
        assert f"{float(row['utilization']):.2%}" in result.out
    again = headway("convert", "g.swf", "parts", "--apply", weeks)
    assert again.status == 2 and "not empty" in again.err


def test_convert_writes_annotations_beside(headway: Headway) -> None:
    result = headway("convert", "log.swf", "d.swf.gz", "--apply", "deadlines(every=2)")
    assert "deadline written to d.annotations.csv" in result.out
    work = read_annotations(read(headway.folder / "d.swf.gz"), headway.folder / "d.annotations.csv")
    assert (work.deadline >= 0).tolist() == [False, True, False, True]


def test_convert_from_slurm_to_swf_and_batsim(headway: Headway) -> None:
    headway.write("jobs.txt", Export().text(3_000))
    slurm = read(headway.folder / "jobs.txt")
    result = headway("convert", "jobs.txt", "jobs.swf")
    assert "steps" in result.out and "Not modelled" in result.out and "GPUs" in result.out
    assert headway("convert", "jobs.txt", "jobs.json").status == 0
    for name in ("jobs.swf", "jobs.json"):
        back = read(headway.folder / name)
        for column in ("job", "submit", "procs", "walltime", "runtime", "user", "partition"):
            assert back.columns[column].tolist() == slurm.columns[column].tolist(), (name, column)


def test_convert_takes_the_jobs_of_a_site(headway: Headway) -> None:
    headway("site", "example", "cluster")
    assert headway("convert", "cluster", "jobs.swf").status == 0
    site = read(headway.folder / "cluster" / "jobs.txt.gz")
    assert read(headway.folder / "jobs.swf").submit.tolist() == site.submit.tolist()
    refused = headway("anonymise", "cluster", "-")
    assert refused.status == 2 and "a site has several files" in refused.err


@pytest.mark.parametrize(
    "words", [("convert", "log.swf", "-", "--apply", "first(jobs=1)"), ("anonymise", "log.swf", "-")]
)
def test_a_log_is_printed_to_standard_output(
    headway: Headway, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """A file of that name has nothing to do with it."""
    headway.write("-", "a file")
    written = io.BytesIO()
    stream = io.TextIOWrapper(written)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        assert headway(*words).status == 0
    jobs = [line for line in written.getvalue().decode().splitlines() if not line.startswith(";")]
    assert len(jobs) == (1 if words[0] == "convert" else 4) and jobs[0].startswith("1 0 -1 10")
    assert (headway.folder / "-").read_text() == "a file"


def test_a_schedule_becomes_batsims_file(headway: Headway) -> None:
    headway("simulate", "log.swf", "--policy", "easy", "--out", "result")
    result = headway("convert", "result", "out_jobs.csv")
    assert result.status == 0 and "4 jobs written" in result.out
    with (headway.folder / "out_jobs.csv").open(newline="") as file:
        rows = {row["job_id"]: row for row in csv.DictReader(file)}
    assert {job: row["starting_time"] for job, row in rows.items()} == {
        "1": "0",
        "2": "10",
        "3": "2",
        "4": "20",
    }
    assert rows["2"]["allocated_resources"] == "0-3"


def test_slurm_logs_run_and_say_what_is_not_modelled(headway: Headway) -> None:
    headway.write("jobs.txt", Export().text(2_000))
    result = headway("simulate", "jobs.txt", "--procs", "200000", "--policy", "fcfs", "--out", "run")
    assert result.status == 0 and "Not modelled" in result.out
    run = json.loads((headway.folder / "run" / "run.json").read_text())
    counts = run["trace"]["not_modelled"]
    assert counts["GPUs"] > 0 and run["jobs_in_log"] == run["jobs"] + run["dropped"]
    document = json.loads(headway("inspect", "jobs.txt", "--json").out)
    assert document["not_modelled"] == counts
    assert "processors were in use at once" in headway("inspect", "jobs.txt").out
    bare = headway("simulate", "jobs.txt", "--policy", "fcfs")
    assert bare.status == 2 and "give --procs N" in bare.err and "were in use at once" in bare.err


def test_inspect_of_a_site_lists_what_its_rules_do_not_model(headway: Headway) -> None:
    """QOS and GPUs are not modelled where processors are counted; on a site Slurm's rules know them."""
    headway("site", "example", "plant", "--quiet")
    (headway.folder / "plant" / "jobs.txt.gz").unlink()
    headway.write("plant/jobs.txt", Export().text(2_000))
    log = json.loads(headway("inspect", "plant/jobs.txt", "--json").out)["not_modelled"]
    site = json.loads(headway("inspect", "plant", "--json").out)["not_modelled"]
    assert {"QOS", "GPUs"} <= set(log) and not {"QOS", "GPUs"} & set(site)
    assert set(site) < set(log) and site
    shown = headway("inspect", "plant").out.partition("Not modelled")[2]
    assert all(name in shown for name in site) and "GPUs" not in shown


def test_weeks_of_two_logs_from_one_command(headway: Headway) -> None:
    for seed in (1, 2):
        headway("generate", "lublin", "jobs=2000", "procs=64", "--seed", seed, "-o", f"{seed}.swf", "--quiet")
    words = ("weeks", "1.swf", "2.swf", "--utilization", "submitted", "--at-least", "0.1", "--procs", "64")
    documents = json.loads(headway(*words, "--json").out)
    assert [document["trace"] for document in documents] == ["1.swf", "2.swf"]
    shown = headway(*words).out
    for document in documents:
        assert document["weeks"] and f"{len(document['weeks'])} weeks of at least 10%" in shown
        assert all(f"{week['utilization']:.2%}" in shown for week in document["weeks"])
    # Where no week is so busy, it says how busy they are.
    quiet = headway("weeks", "1.swf", "--utilization", "submitted", "--procs", "64000").out
    assert "0 weeks of at least 70%" in quiet
    assert "has a utilization of 0." in quiet and "--at-least 0 lists it" in quiet
    line = "{} {} 5 60 4 -1 -1 4 100 -1 1 1 1 -1 1 -1 -1 -1\n"
    headway.write("far.swf", line.format(1, 0) + line.format(2, 10**12))  # none of 1.6 million weeks is cut
    assert "The busiest week has" in headway("weeks", "far.swf", "--procs", "4000").out


def test_the_busy_weeks_of_curie_and_ricc(headway: Headway) -> None:
    curie, ricc = trace("CEA-Curie"), trace("RICC")
    words = ("weeks", curie, ricc, "--procs", "80640", "--procs", "8192", "--json")
    first, second = json.loads(headway(*words).out)
    assert (len(first["weeks"]), len(second["weeks"])) == (26, 20)
    assert all(week["utilization"] >= 0.7 for week in first["weeks"] + second["weeks"])


def test_anonymise(headway: Headway) -> None:
    headway.write("jobs.txt", Export().text(500))
    headway.write("key", "a long secret\n")
    result = headway("anonymise", "jobs.txt", "out.txt.gz", "--key-file", "key")
    assert result.status == 0 and "replaced: 40 user" in result.out
    assert len(read(headway.folder / "out.txt.gz")) == len(read(headway.folder / "jobs.txt"))


def test_datasets_registered_names_work_everywhere(headway: Headway) -> None:
    listed = headway("datasets").out
    assert "kth-sp2" in listed and "Other public data" in listed and "gwa" in listed
    added = headway("datasets", "add", "log.swf", "kth-sp2")
    assert added.status == 0 and "sha256" in added.out
    assert "traps: limits differed" in headway("datasets", "kth-sp2").out
    assert headway("inspect", "KTH-SP2").status == 0
    assert headway("convert", "kth-sp2", "copy.swf").status == 0
    assert headway("simulate", "kth-sp2", "--policy", "fcfs", "--quiet").status == 0
    documents = json.loads(headway("datasets", "--json").out)
    [mine] = [document for document in documents if document["name"] == "kth-sp2"]
    assert mine["copy"]["path"] == str(headway.folder / "log.swf")
    assert headway("datasets", "remove", "kth-sp2").status == 0
    assert headway("inspect", "kth-sp2").status == 2


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("words.txt", "hello world\n", "words.txt:1: field 1 (job number): 'hello' is not a number"),
        ("empty.swf", "", "empty.swf: has no job lines"),
        ("none.json", '{"nb_res": 8, "jobs": [], "profiles": {}}', "none.json: has no jobs"),
        ("table.csv", "job,submit,start,end,procs\n", "table.csv: is a schedule"),
    ],
)
def test_what_is_no_log_is_not_registered(headway: Headway, name: str, text: str, sentence: str) -> None:
    headway.write(name, text)
    result = headway("datasets", "add", name, "mine")
    assert (result.status, result.out) == (2, "") and sentence in result.err
    assert "there is no dataset mine" in headway("datasets", "mine").err


def test_what_is_registered_tells_its_ledger(headway: Headway, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large one is read from its beginning, to the end of a line, packed or not; JSON not at all."""
    job = "{0} {0} 0 10 1 -1 -1 1 {1} -1 1 1 1 -1 1 -1 -1 -1\n"
    text = "; MaxProcs: 2\n" + job.format(1, 10) + job.format(2, 5)
    headway.write("two.swf", text)
    whole = headway("datasets", "add", "two.swf", "two").out
    assert "killed at the requested time" in whole.replace("\n", " ") and "2 jobs in the log = 2 sch" in whole
    assert "were read" not in whole
    (headway.folder / "two.swf.gz").write_bytes(gzip.compress(text.encode() * 99_999))
    (headway.folder / "cut.swf.gz").write_bytes(gzip.compress(text.encode() * 99_999)[:-9])
    headway.write("two.json", '{"meta": {}, "jobs": [' + " " * (2 << 20) + "]}")
    monkeypatch.setattr("headway.cli.datasets.LOOKED_INTO", 2 << 20)
    large = headway("datasets", "add", "two.swf.gz", "large").out
    assert "Its first 2 MiB of text were read; headway inspect reads all of it" in large
    total = int(re.findall(r"([\d,]+) jobs in the log = ", large)[0].replace(",", ""))
    assert 0 < 2 * 99_999 - total < 199_998 - (2 << 20) // 60
    assert "larger than 2 MiB: what it holds was not read" in headway("datasets", "add", "two.json", "j").out


def test_replay_shows_one_number_and_the_reasons(headway: Headway) -> None:
    log = "; MaxProcs: 2\n" + "".join(
        f"{job} {job} {wait} 10 1 -1 -1 1 10 -1 1 {job % 2} 1 -1 1 -1 -1 -1\n"
        for job, wait in ((1, 0), (2, 30), (3, 9))
    )
    headway.write("waits.swf", log)
    result = headway("replay", "waits.swf", "--policy", "fcfs", "--out", "fidelity.json")
    assert result.status == 0
    # FCFS starts jobs 1 and 2 at once and job 3 when job 1 ends, at 11: waits 0, 0, 8.
    assert "mean absolute error 10.33 s, 79% of the mean recorded wait" in result.out
    assert "Why they may differ" in result.out
    document = json.loads((headway.folder / "fidelity.json").read_text())
    assert document["mean_absolute_error"] == pytest.approx(31 / 3)
    assert json.loads(headway("replay", "waits.swf", "--policy", "fcfs", "--json").out) == document
    assert "exists" in headway("replay", "waits.swf", "--policy", "fcfs", "--out", "fidelity.json").err
    asked = ("replay", "waits.swf", "--policy", "fcfs", "--report", "near.html")
    assert "written to near.html" in headway(*asked).out
    assert "How near fcfs comes to waits" in (headway.folder / "near.html").read_text("utf-8")
    assert "near.html exists" in headway(*asked).err
    assert headway(*asked[:-1], "near.txt").status == 2


def test_a_paper_whose_log_is_cut_leaves_nothing(headway: Headway) -> None:
    (headway.folder / "cut.swf.gz").write_bytes(gzip.compress(b"1 0 0 9 1 -1 -1 1 9\n" * 99)[:-9])
    before = headway.files()
    result = headway("reproduce", "deadline", "--quick", "--trace", "hpc2n=cut.swf.gz", "--out", "pages")
    assert (result.status, headway.files()) == (2, before)
    assert "cut.swf.gz: has gzip data that end early" in result.err
    assert not (headway.folder / "pages").exists()
