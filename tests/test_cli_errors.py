"""Every mistake on the command line: status 2, one sentence that names the culprit, nothing written."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from commands import SWF, Headway
from headway.schedule import files
from headway.schedule.files import refuse_occupied


@pytest.fixture
def headway(headway: Headway) -> Headway:
    headway.write("log.swf", SWF)
    return headway


def refused(headway: Headway, *words: object) -> str:
    """The sentence with which a command is refused; checks all that holds for every mistake."""
    before = headway.files()
    result = headway(*words)
    assert result.status == 2, result
    assert result.out == ""
    assert "Traceback" not in result.err
    [sentence] = result.err.splitlines()
    assert sentence.startswith("headway: ")
    assert headway.files() == before
    return sentence


POLICY = ("--policy", "easy")
OUT = ("--out", "result")


@pytest.mark.parametrize("command", ["simulate", "compare"])
@pytest.mark.parametrize(
    ("spec", "culprit"),
    [
        ("eazy", "there is no policy 'eazy' (did you mean 'easy'?); there are fcfs, sjf"),
        ("easy(ordr=sjf)", "easy has no parameter 'ordr' (did you mean 'order'?); it has order"),
        ("easy(depth=0)", "easy: depth must be all or a whole number of at least 1, not 0"),
        ("easy(order=random)", "easy: order must be fcfs, sjf"),
        ("easy(order=sjf", "'easy(order=sjf': expected ',' or ')' at the end"),
        ("", "the policy is empty"),
    ],
)
def test_bad_policies(headway: Headway, command: str, spec: str, culprit: str) -> None:
    second = () if command == "simulate" else ("--policy", "fcfs")
    assert culprit in refused(headway, command, "log.swf", *second, "--policy", spec, *OUT)


@pytest.mark.parametrize(
    ("words", "culprit"),
    [
        (["simulate"], "Missing argument 'TRACE'"),
        (["simulate", "log.swf"], "Missing option '--policy'"),
        (["simulate", "log.swf", *POLICY, "--procs", "many"], "--procs must be a whole number, not 'many'"),
        (["simulate", "log.swf", *POLICY, "--procs", "0"], "--procs must be at least 1, not 0"),
        (["simulate", "log.swf", *POLICY, "--procs", "-4"], "--procs must be at least 1, not -4"),
        (
            ["simulate", "log.swf", *POLICY, "--procs", "4", "--platform", "rackham"],
            "either --procs or --platform, not both",
        ),
        (["simulate", "log.swf", *POLICY, "--json", "--quiet"], "either --json or --quiet, not both"),
        (["simulate", "log.swf", *POLICY, "--rule", "overrun"], "--rule 'overrun' must be written KEY=VALUE"),
        (["simulate", "log.swf", *POLICY, "--rule", "overrun="], "must be written KEY=VALUE"),
        (["simulate", "log.swf", *POLICY, "--rule", "speed=high"], "there is no reading rule 'speed'"),
        (["simulate", "log.swf", *POLICY, "--rule", "format=swf"], "there is no reading rule 'format'"),
        (
            ["simulate", "log.swf", *POLICY, "--rule", "zone=Europe/Berlin"],
            "log.swf: the rule zone is about Slurm's records, and this log is in the format swf; leave",
        ),
        (["inspect", "log.swf", "--rule", "requeues=each"], "the rule requeues is about Slurm's records"),
        (["convert", "log.swf", "new.swf", "--rule", "submit=eligible"], "the rule submit is about Slurm's"),
        (["weeks", "log.swf", "--rule", "requeues=each"], "the rule requeues is about Slurm's records"),
        (["simulate", "log.swf", *POLICY, "--rule", "overrun=forgive"], "rule overrun cannot be 'forgive'"),
        (
            ["simulate", "log.swf", *POLICY, "--rule", "overrun=kill", "--rule", "overrun=trust"],
            "--rule overrun is given twice, as kill and as trust",
        ),
        (["simulate", "log.swf", *POLICY, "--seed", "x"], "--seed must be a whole number, not 'x'"),
        (["simulate", "log.swf", *POLICY, "--polcy", "easy"], "No such option: --polcy"),
        (["simulate", "log.swf", *POLICY, "--policy", "fcfs"], "--policy is given 2 times; headway"),
        (["explain", "run", "ten"], "JOB must be a whole number, not 'ten'"),
        (["compare", "log.swf", *POLICY], "two policies or two machines"),
        (["compare", "log.swf", *POLICY, "--policy", "easy(order=fcfs)"], "--policy easy is given twice"),
        (["audit", "nowhere"], "nowhere: there is no such file or folder"),
        (["audit", "log.swf"], "or with a schedule in CSV its log: --trace LOG"),
        (["audit", "log.swf", "--trace", "log.swf", "--policy", "eazy"], "no policy 'eazy'"),
        (["inspect", "nowhere.swf"], "nowhere.swf: there is no such file"),
        (["inspect", "log.swf", "--procs", "0"], "--procs must be at least 1"),
        (["convert", "log.swf", "log.swf"], "log.swf exists"),
        (["convert", "log.swf", "new.swf", "--apply", "shrink"], "no transformation shrink"),
        (["convert", "nowhere.swf", "new.swf"], "nowhere.swf: there is no such file"),
        (["policies", "eazy"], "there is no policy 'eazy'"),
        (["demo", "--jobs", "1"], "--jobs must be at least 10, not 1"),
        (["simulat", "log.swf"], "No such command 'simulat'"),
    ],
)
def test_bad_options(headway: Headway, words: list[str], culprit: str) -> None:
    assert culprit in refused(headway, *words)


@pytest.mark.parametrize("command", ["simulate", "inspect"])
@pytest.mark.parametrize(
    ("name", "content", "culprit"),
    [
        ("missing.swf", None, "missing.swf: there is no such file"),
        ("empty.swf", b"", "empty.swf: has no job lines; the file is empty"),
        ("comments.swf", b"; MaxProcs: 4\n", "comments.swf: has no job lines; is it a complete SWF log?"),
        ("cut.swf.gz", gzip.compress(SWF.encode())[:-20], "cut.swf.gz: has gzip data that end early"),
        ("broken.swf.gz", b"\x1f\x8b\x08\x00" + b"\xff" * 50, "broken.swf.gz: has damaged gzip data"),
        (
            "words.swf",
            SWF.replace("3 2 -1 5", "3 2 -1 five").encode(),
            "words.swf:5: field 4 (run time): 'five' is not a number",
        ),
        ("short.swf", (SWF + "5 6\n").encode(), "short.swf:7"),
        ("picture.swf", bytes(range(256)) * 4, "picture.swf"),
    ],
)
def test_bad_logs(headway: Headway, command: str, name: str, content: bytes | None, culprit: str) -> None:
    if content is not None:
        headway.write(name, content)
    options = (*POLICY, *OUT) if command == "simulate" else ()
    assert culprit in refused(headway, command, name, *options)


def test_a_folder_that_is_no_site_is_no_log(headway: Headway) -> None:
    (headway.folder / "folder").mkdir()
    sentence = refused(headway, "simulate", "folder", *POLICY, *OUT)
    assert "folder: is a folder without slurm.conf and config.txt" in sentence and "or a log" in sentence


@pytest.mark.parametrize("command", ["explain", "audit", "report", "plot"])
def test_a_log_is_no_run(headway: Headway, command: str) -> None:
    headway.write("log.swf", SWF)
    options = {"explain": ("1",), "report": ("-o", "a.html"), "plot": ("-o", "a.svg")}.get(command, ())
    sentence = refused(headway, command, "log.swf", *options)
    assert "log.swf" in sentence and "is a file; give a folder that simulate or compare wrote" in sentence


@pytest.mark.parametrize(
    ("word", "meant"), [("sim", "simulate"), ("comp", "compare"), ("simulat", "simulate")]
)
def test_the_beginning_of_a_command_is_understood(headway: Headway, word: str, meant: str) -> None:
    sentence = refused(headway, word, "log.swf")
    assert f"No such command {word!r} (did you mean {meant!r}?)" in sentence


def test_machine_of_unknown_size(headway: Headway) -> None:
    headway.write("bare.swf", "\n".join(line for line in SWF.splitlines() if not line.startswith(";")))
    sentence = refused(headway, "simulate", "bare.swf", *POLICY, *OUT)
    assert "bare.swf: the header has neither MaxProcs nor MaxNodes" in sentence
    assert "--procs N or --platform FILE" in sentence
    headway.write("odd.swf", "; MaxProcs: many\n1 0 -1 5 1 -1 -1 1 9 -1 1 1 1 -1 1 -1 -1 -1\n")
    for more in ((), ("--stream",)):
        sentence = refused(headway, "simulate", "odd.swf", *POLICY, *OUT, *more)
        assert "odd.swf: the header has no number in MaxProcs" in sentence


def test_job_wider_than_the_machine_is_an_error_when_asked(headway: Headway) -> None:
    words = ("simulate", "log.swf", *POLICY, *OUT, "--procs", "3", "--rule", "too_large=error")
    assert "job 2 needs 4 processors and the machine has 3" in refused(headway, *words)


@pytest.mark.parametrize(
    ("content", "culprit"),
    [
        (None, "machine.toml: there is no such platform file, and the named platforms are grid5000"),
        (
            "[[cluster]]\nname = 'a'\nprocs = 'four'\n",
            "machine.toml:3: cluster 1: procs must be a whole number",
        ),
        ("[[cluster]]\nname = 'a'\nprocs = \n", "machine.toml:3: is not valid TOML"),
        ("", "machine.toml: has no cluster"),
        ("[[cluster]]\nname = 'a'\nprocs = 4\nsped = 2\n", "machine.toml:4: cluster 1: sped: unknown key"),
    ],
)
def test_bad_platforms(headway: Headway, content: str | None, culprit: str) -> None:
    if content is not None:
        headway.write("machine.toml", content)
    assert culprit in refused(headway, "simulate", "log.swf", *POLICY, *OUT, "--platform", "machine.toml")


@pytest.mark.parametrize(
    ("content", "culprit"),
    [
        (None, "notes.csv"),
        ("", "notes.csv"),
        ("id,urgent\n1,1\n", "job"),
        ("job,urgent\n99,1\n", "notes.csv:2"),
        ("job,urgent\n1,1\n1,0\n", "notes.csv:3"),
        ("job,urgent\n1,maybe\n", "notes.csv:2: urgent"),
        ("job,deadline\n1,soon\n", "notes.csv:2: deadline"),
        ("job,colour\n1,red\n", "colour"),
    ],
)
def test_bad_annotations(headway: Headway, content: str | None, culprit: str) -> None:
    if content is not None:
        headway.write("notes.csv", content)
    assert culprit in refused(headway, "simulate", "log.swf", *POLICY, *OUT, "--annotations", "notes.csv")


@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_occupied_folder(headway: Headway, command: str) -> None:
    (headway.folder / "result").mkdir()
    headway.write("result/mine.txt", "keep me")
    second = () if command == "simulate" else ("--policy", "fcfs")
    sentence = refused(headway, command, "log.swf", *POLICY, *second, *OUT)
    assert "result is not empty" in sentence and "--force" in sentence
    assert (headway.folder / "result/mine.txt").read_text() == "keep me"


def test_output_folder_that_is_a_file(headway: Headway) -> None:
    assert "log.swf is a file" in refused(headway, "simulate", "log.swf", *POLICY, "--out", "log.swf")


def test_output_below_a_file_cannot_be_made(headway: Headway) -> None:
    assert "log.swf/result" in refused(headway, "simulate", "log.swf", *POLICY, "--out", "log.swf/result")


@pytest.mark.parametrize(
    ("content", "culprit"),
    [
        ("", "plan.csv"),
        ("job,begin\n1,0\n", "start"),
        ("job,start,end\n1,zero,10\n", "plan.csv:2"),
        ("job,start,end\n1,0\n", "plan.csv:2"),
    ],
)
def test_bad_schedules(headway: Headway, content: str, culprit: str) -> None:
    headway.write("plan.csv", content)
    assert culprit in refused(headway, "audit", "plan.csv", "--trace", "log.swf")


def test_a_folder_without_a_run_is_not_audited(headway: Headway) -> None:
    (headway.folder / "empty").mkdir()
    assert "empty" in refused(headway, "audit", "empty")


def test_options_of_a_file_are_refused_for_a_folder(headway: Headway) -> None:
    (headway.folder / "run").mkdir()
    assert "--procs is for a CSV file" in refused(headway, "audit", "run", "--procs", "4")
    assert "--annotations needs --trace" in refused(headway, "audit", "run", "--annotations", "log.swf")


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_folder_that_another_process_fills_meanwhile(
    headway: Headway, monkeypatch: pytest.MonkeyPatch, stream: tuple[str, ...]
) -> None:
    checked: list[Path] = []

    def check(out: Path, force: bool = False, remedy: str = "--force") -> None:
        refuse_occupied(out, force, remedy)
        if not checked:
            checked.append(out)
            out.mkdir()
            (out / "mine.txt").write_text("keep me")

    monkeypatch.setattr(files, "refuse_occupied", check)
    result = headway("simulate", "log.swf", *POLICY, *OUT, *stream)
    assert checked and result.status == 2
    assert "result is not empty; give another folder, or --force to replace" in result.err
    assert (headway.folder / "result/mine.txt").read_text() == "keep me"
