"""Text from files is shown without control characters; numbers are in range; odd logs are read as meant."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.table import Table

import headway as package
from commands import SWF, Headway
from headway import Schedule
from headway.changes.changed import amount
from headway.cli.display import output
from headway.cli.options import microseconds_of
from headway.errors import InputError, UsageError
from headway.grammar import parse_call
from headway.plain import LONGEST, one_line, plain
from headway.workload import Workload, read
from small_schedules import schedule

NASTY = "\x1b[31mred\x07\u202e"


def test_control_characters_are_shown_as_escapes() -> None:
    assert plain("a\x1b[2Jb\tc\n") == "a\\x1b[2Jb\tc\n"
    assert plain("\u202e\x9b") == "\\x202e\\x9b"
    assert plain("é 日本 😀") == "é 日本 😀"
    long = one_line("x" * 100_000)
    assert len(long) < LONGEST + 10 and " ... " in long


@pytest.mark.parametrize("words", [("log.swf",), ("log.swf", "--json"), (NASTY,)])
def test_no_command_shows_them(run: Headway, words: tuple[str, ...]) -> None:
    run.write("log.swf", SWF.replace("Test machine", NASTY))
    told = run("inspect", *words)
    assert not {*told.out, *told.err} & {"\x1b", "\x07", "\u202e"}
    if "--json" in words:
        json.loads(told.out)


def test_names_are_neither_markup_nor_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table()
    table.add_column("[/name]")
    table.add_row("[/] [red]x[/red] :key:")
    output().print(table)
    shown = capsys.readouterr().out
    assert "[/name]" in shown and "[/] [red]x[/red] :key:" in shown


TOO_LARGE = ["9" * 5000, "9" * 30, str(2**63), "-" + str(2**63 + 1), "1e309", "1e300/1e-300"]


@pytest.mark.parametrize("number", TOO_LARGE)
def test_numbers_out_of_range_are_refused_in_every_grammar(run: Headway, number: str) -> None:
    with pytest.raises(UsageError, match="out of range"):
        parse_call(f"easy(depth={number})")
    run.write("log.swf", SWF)
    if "/" in number:
        return
    run.write("machine.toml", f'[[cluster]]\nname = "a"\nprocs = {number}\n')
    run.write("sweep.toml", f'tau = {number}\n[[workload]]\ntrace = "log.swf"\n[[policy]]\npolicy = "easy"\n')
    profiles = '"profiles": {"p": {"type": "delay", "delay": 5}}'
    job = f'{{"id": 1, "subtime": {number}, "res": 1, "profile": "p"}}'
    run.write("log.json", f'{{"nb_res": 4, "jobs": [{job}], {profiles}}}')
    for words in (
        ("simulate", "log.swf", "--policy", "fcfs", "--platform", "machine.toml"),
        ("simulate", "log.swf", "--policy", "fcfs", "--seed", number),
        ("sweep", "sweep.toml"),
        ("inspect", "log.json"),
    ):
        told = run(*words)
        assert told.status == 2 and told.err.count("\n") == 1 and len(told.err) < 1000, told.err


def test_what_is_nested_without_end_is_refused() -> None:
    with pytest.raises(UsageError, match="nested too deeply"):
        parse_call("f(" * 5000 + ")" * 5000)


def batsim(depth: int) -> bytes:
    """A workload whose profile is composed through so many levels."""
    profiles: dict[str, object] = {"p0": {"type": "delay", "delay": 1}}
    for level in range(depth):
        profiles[f"p{level + 1}"] = {"type": "composed", "repeat": 1, "seq": [f"p{level}"]}
    jobs = [{"id": 1, "subtime": 0, "res": 1, "walltime": 9, "profile": f"p{depth}"}]
    return json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}).encode()


def test_composed_profiles_may_be_deep_but_not_made_of_themselves() -> None:
    for depth in (50, 51, 300):
        assert read(io.BytesIO(batsim(depth))).runtime.tolist() == [1_000_000]
    for text in (batsim(900), batsim(3).replace(b'"seq": ["p0"]', b'"seq": ["p3"]')):
        with pytest.raises(InputError, match=r"nested too deeply|is made of itself"):
            read(io.BytesIO(text))


LINE = "{job} {at} -1 10 2 -1 -1 2 12 -1 {status} 1 1 -1 1 -1 -1 -1\n"


def logged(*jobs: tuple[int, int]) -> Workload:
    """A log of jobs with these numbers and statuses."""
    lines = "".join(LINE.format(job=job, at=job, status=status) for job, status in jobs)
    return read(io.BytesIO(f"; MaxProcs: 4\n{lines}".encode()))


def test_exit_codes_for_a_status_are_no_pieces_of_jobs() -> None:
    codes = [1, 0, 2, 3, 4, 137, 255, 2]
    workload = logged(*enumerate(codes, 1))
    assert len(workload) == 8
    [entry] = [entry for entry in workload.ledger if entry.rule == "partial"]
    assert entry.jobs == (3, 4, 5, 8) and not entry.dropped
    assert len(logged((1, 2), (1, 3), (2, 1), (3, 99))) == 3  # one odd status changes nothing


def test_names_that_a_spreadsheet_would_take_for_formulas_are_quoted_on_request(tmp_path: Path) -> None:
    made = schedule([(0.0, 1, 5.0, 5.0), (-3.5, 1, 5.0, 5.0), (2.0, 1, 5.0, 5.0)], [0, 0, 5], procs=3)
    names = ["=1+1", "@sum", "-x"]
    again = replace(made, workload=made.workload.with_columns(user=[0, 1, 2]).with_labels(user=names))
    for quoted in (False, True):
        out = tmp_path / str(quoted)
        again.save(out, spreadsheet=quoted)
        text = (out / "schedule.csv").read_text()
        assert ("'=1+1" in text and "'@sum" in text and "'-x" in text) is quoted
        assert "'-3.5" not in text
        loaded = Schedule.load(out).workload
        assert [loaded.labels["user"][code] for code in loaded.user.tolist()] == names


def test_what_is_read_with_the_latest_of_times_is_simulated_and_audited() -> None:
    most = 1152921504606 - 1  # the largest time in seconds
    text = "; MaxProcs: 4\n" + LINE.format(job=1, at=0, status=1) + LINE.format(job=2, at=most, status=1)
    workload = read(io.BytesIO(text.encode()))
    assert package.audit(package.simulate(workload, 4, "fcfs")).ok


def test_run_times_that_add_up_beyond_the_range_are_refused_with_the_line_of_the_job(tmp_path: Path) -> None:
    """NEVER // 2 is 2,305,843,009,213 s: two of the longest runs fit, the third does not."""
    line = "{job} 0 -1 1152921504605 4 -1 -1 4 1152921504605 -1 1 1 1 -1 1 -1 -1 -1\n"
    two = "; MaxProcs: 4\n" + line.format(job=1) + line.format(job=2)
    made = package.simulate(read(io.BytesIO(two.encode())), 4, "fcfs")
    made.save(tmp_path / "out")
    assert package.audit(Schedule.load(tmp_path / "out")).ok
    with pytest.raises(InputError, match=r"-:4: field 4 \(run time\): the run times up to this"):
        read(io.BytesIO((two + line.format(job=3)).encode()))


@pytest.mark.parametrize("text", ["9" * 400 + "d", "1e300", "1e999999", "1e99999999", "9223372036854775808"])
def test_times_of_options_are_held_to_the_range(text: str) -> None:
    with pytest.raises(UsageError, match=r"--within (is longer than|must be a time)") as told:
        microseconds_of(text, "--within")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("value", ["+" + "9" * 400, "+4294967296%", "-99999999"])
def test_a_change_is_by_a_number_that_can_be(value: str) -> None:
    with pytest.raises(UsageError, match="a change is by at most 10,000,000"):
        amount(value, 5, f"jobs={value}")
