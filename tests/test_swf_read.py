"""The SWF reader: what becomes of every oddity, and that nothing is lost on the way."""

from __future__ import annotations

import gzip
import hashlib
import io
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from headway.errors import InputError, UsageError
from headway.units import SECOND
from headway.workload import RULES, Workload, read, read_swf
from headway.workload.rules import MEANING
from headway.workload.table import OPTIONAL
from random_examples import examples
from swf_reference import NAMES, Reference
from swf_texts import CHOSEN, TEXTS

SOUND = "1 10 5 100 4 -1 -1 4 200 -1 1 7 8 -1 2 3 -1 -1"


def from_text(text: str, **rules: str) -> Workload:
    return read_swf(io.BytesIO(text.encode()), rules)


def job(number: int = 1, **fields: object) -> str:
    """A sound job line with some fields replaced."""
    names = (
        "job submit wait run allocated cpu used requested time memory status user group executable queue "
        "partition preceding think"
    )
    values = dict(zip(names.split(), SOUND.split(), strict=True)) | {"job": str(number)}
    assert fields.keys() <= values.keys()
    return " ".join(str(value) for value in (values | fields).values())


def actions(workload: Workload) -> dict[str, tuple[int, bool]]:
    return {entry.rule: (entry.count, entry.dropped) for entry in workload.ledger}


def test_a_sound_line_is_read_field_by_field() -> None:
    workload = from_text("3 1.5 2 60 4 59.25 700 8 120 900 1 11 12 13 14 15 2 30\n")
    expected = {
        "job": 3, "submit": 1_500_000, "procs": 8, "walltime": 120 * SECOND, "runtime": 60 * SECOND,
        "user": 11, "group": 12, "queue": 14, "partition": 15, "allocated": 4, "wait": 2 * SECOND,
        "cpu_time": 59_250_000, "memory_kb": 900, "used_memory_kb": 700, "status": 1, "executable": 13,
        "preceding": 2, "think_time": 30 * SECOND,
    }  # fmt: skip
    assert {name: column.tolist() for name, column in workload.columns.items()} == {
        name: [value] for name, value in expected.items()
    }
    assert all(
        column.dtype == np.int64 and not column.flags.writeable for column in workload.columns.values()
    )
    assert actions(workload) == {"procs": (1, False)}


def test_columns_that_say_nothing_are_not_there() -> None:
    workload = from_text(job())
    assert set(workload.columns) == {
        "job", "submit", "procs", "walltime", "runtime", "user", "group", "queue", "partition",
        "allocated", "wait", "status",
    }  # fmt: skip
    assert len(workload.ledger) == 0


@pytest.mark.parametrize(
    ("line", "rule", "value", "kept", "count", "dropped"),
    [
        (job(submit=-1), "no_submit", "drop", 0, 1, True),
        (job(run=-1), "unknown_runtime", "drop", 0, 1, True),
        (job(run=0), "zero_runtime", "keep", 1, 1, False),
        (job(run=0), "zero_runtime", "raise", 1, 1, False),
        (job(run=0), "zero_runtime", "drop", 0, 1, True),
        (job(run=0, status=5), "cancelled", "drop", 0, 1, True),
        (job(run=-1, status=5), "cancelled", "drop", 0, 1, True),
        (job(run=0, status=5), "cancelled", "keep", 1, 1, False),
        (job(allocated=-1, requested=0), "no_procs", "drop", 0, 1, True),
        (job(requested=-1), "procs", "requested", 1, 1, False),
        (job(time=-1), "no_estimate", "runtime", 1, 1, False),
        (job(run=300), "overrun", "kill", 1, 1, False),
        (job(run=300), "overrun", "trust", 1, 1, False),
        (job(status=9), "foreign_status", "keep", 1, 1, False),
        (job() + " 4 x", "extra_fields", "ignore", 1, 1, False),
        ("1 10 5 100 4", "missing_fields", "unknown", 1, 1, False),
        (job(requested="2.5"), "fraction", "round", 1, 1, False),
        (job(wait="-7"), "negative", "unknown", 1, 1, False),
    ],
)
def test_each_rule_acts_and_is_named(
    line: str, rule: str, value: str, kept: int, count: int, dropped: bool
) -> None:
    workload = from_text(line, **{rule: value})
    assert len(workload) == kept == workload.ledger.kept
    assert actions(workload)[rule] == (count, dropped)
    entry = next(entry for entry in workload.ledger if entry.rule == rule)
    assert entry.jobs == (1,)


@pytest.mark.parametrize(
    ("line", "rule", "field"),
    [
        (job(submit=-1), "no_submit", "field 2 (submit time)"),
        (job(run=-1), "unknown_runtime", "field 4 (run time)"),
        (job(allocated=-1, requested=-1), "no_procs", "field 8 (requested processors)"),
        (job(time=-1), "no_estimate", "field 9 (requested time)"),
        (job(number=5), "duplicates", "field 1 (job number)"),
        (job(submit=1), "out_of_order", "field 2 (submit time)"),
        (job(status=9), "foreign_status", "field 11 (status)"),
        (job(queue="0.5"), "fraction", "field 15 (queue)"),
        (job(cpu="0.0000001"), "fraction", "field 6 (average CPU time)"),
        (job(memory="-7"), "negative", "field 10 (requested memory)"),
        (job() + " 4 x", "extra_fields", None),
        ("1 10 5 100 4", "missing_fields", None),
    ],
)
def test_a_rule_set_to_error_names_line_field_and_remedy(line: str, rule: str, field: str | None) -> None:
    with pytest.raises(InputError) as caught:
        from_text(f"; header\n{job(number=5)}\n\n{line}\n", **{rule: "error"})
    assert (caught.value.line, caught.value.field) == (4, field)
    assert f"rule {rule}={RULES[rule][0]}" in str(caught.value)


def test_values_the_rules_give() -> None:
    assert from_text(job(requested=-1, allocated=6)).procs.tolist() == [6]
    assert from_text(job(requested=3, allocated=6)).procs.tolist() == [3]
    assert from_text(job(requested=3, allocated=6), procs="allocated").procs.tolist() == [6]
    assert from_text(job(requested=3, allocated=-1), procs="allocated").procs.tolist() == [3]
    assert from_text(job(requested="2.5")).procs.tolist() == [3]
    assert from_text(job(run=0), zero_runtime="raise").runtime.tolist() == [SECOND]
    over = from_text(job(run=300, time=200))
    assert (over.runtime.tolist(), over.walltime.tolist()) == ([300 * SECOND], [200 * SECOND])
    assert from_text(job(run=300, time=200), overrun="trust").walltime.tolist() == [300 * SECOND]
    assert from_text(job(memory=-1, used=70)).memory_kb.tolist() == [70]
    assert from_text(job(memory=50, used=70)).memory_kb.tolist() == [50]


def test_a_missing_estimate_of_a_job_of_no_length() -> None:
    kept = from_text(job(time=-1, run=0))
    assert (kept.walltime.tolist(), kept.runtime.tolist()) == ([0], [0])
    raised = from_text(job(time=-1, run=0), zero_runtime="raise")
    assert (raised.walltime.tolist(), raised.runtime.tolist()) == ([SECOND], [SECOND])


def test_a_log_without_any_estimate_says_so() -> None:
    workload = from_text("\n".join(job(number, time=-1) for number in (1, 2)))
    (entry,) = workload.ledger
    assert (entry.rule, entry.count) == ("no_estimate", 2)
    assert "whole log" in entry.action


def test_a_cancelled_job_is_judged_by_its_run_time() -> None:
    assert from_text(job(status=5, run=30)).runtime.tolist() == [30 * SECOND]
    unknown = from_text(job(status=5, run=-1), cancelled="keep")
    assert actions(unknown) == {"unknown_runtime": (1, True)}
    both = from_text(job(status=5, run=0), cancelled="keep", zero_runtime="drop")
    assert actions(both) == {"cancelled": (1, False), "zero_runtime": (1, True)}


def test_a_line_with_many_faults_is_dropped_once() -> None:
    workload = from_text(job(submit=-1, run=-1, requested=-1, allocated=-1, status=5))
    assert actions(workload) == {"no_submit": (1, True)}
    assert (workload.ledger.total, workload.ledger.kept, workload.ledger.dropped) == (1, 0, 1)


def test_used_job_numbers_are_given_anew_above_the_largest() -> None:
    text = "\n".join([job(7), job(9), job(7), job(-1), job(7)])
    workload = from_text(text)
    assert workload.job.tolist() == [7, 9, 10, 11, 12]
    (entry,) = workload.ledger
    assert (entry.rule, entry.jobs, entry.dropped) == ("duplicates", (10, 11, 12), False)
    assert "from 10 up" in entry.action
    dropped = from_text(text, duplicates="drop")
    assert dropped.job.tolist() == [7, 9]
    assert dropped.ledger.entries[0].jobs == (7, -1, 7)


def test_the_number_of_a_dropped_job_is_free() -> None:
    workload = from_text("\n".join([job(7, run=-1), job(7)]))
    assert workload.job.tolist() == [7]
    assert actions(workload) == {"unknown_runtime": (1, True)}


def test_rows_stay_in_file_order_when_submits_do_not() -> None:
    workload = from_text(
        "\n".join(job(number, submit=submit) for number, submit in [(1, 5), (2, 9), (3, 4), (4, 6)])
    )
    assert workload.job.tolist() == [1, 2, 3, 4]
    (entry,) = workload.ledger
    assert (entry.rule, entry.jobs) == ("out_of_order", (3, 4))


def pieces(*statuses: int, **fields: object) -> list[str]:
    return [job(1, status=status, run=10 * (index + 1), **fields) for index, status in enumerate(statuses)]


def test_pieces_beside_a_summary_line_are_left_out() -> None:
    text = "\n".join([*pieces(2, 2, 3), job(2), job(1, status=1, run=60)])
    workload = from_text(text)
    assert workload.job.tolist() == [2, 1]
    assert actions(workload) == {"partial": (3, True)}


def test_pieces_without_a_summary_line_become_one_job() -> None:
    lines = [
        job(1, status=2, submit=-1, run=10, requested=4, time=50),
        job(2),
        job(1, status=2, submit=40, run=20, requested=8, time=100, cpu="1.5"),
        job(1, status=4, submit=-1, run=-1, requested=2, time=50),
    ]
    workload = from_text("\n".join(lines))
    assert workload.job.tolist() == [1, 2]
    first = {name: column[0] for name, column in workload.columns.items()}
    assert first["submit"] == 40 * SECOND
    assert first["runtime"] == 30 * SECOND
    assert first["walltime"] == 100 * SECOND
    assert (first["procs"], first["status"], first["cpu_time"]) == (8, 0, 1_500_000)
    joined, merged = (entry for entry in workload.ledger if entry.rule == "partial")
    assert (joined.count, joined.dropped, merged.count, merged.dropped) == (1, False, 2, True)
    assert (workload.ledger.total, workload.ledger.kept) == (4, 2)
    skipped = from_text("\n".join(lines), partial="skip")
    assert skipped.job.tolist() == [2]
    assert actions(skipped) == {"partial": (3, True)}


def test_header_lines_are_kept_and_asked_by_key() -> None:
    text = (
        "; Version: 2.2\n;   free text\n; MaxNodes: 400 (48 interactive)\n; Note: one\n"
        + job()
        + "\n; Note: two\n"
    )
    header = from_text(text).header
    assert header.lines == (
        "; Version: 2.2", ";   free text", "; MaxNodes: 400 (48 interactive)", "; Note: one", "; Note: two",
    )  # fmt: skip
    assert (header.max_procs, header.get("version"), header.all("Note")) == (400, "2.2", ["one", "two"])
    assert from_text("; MaxNodes: 4\n; MaxProcs: 32\n" + job()).header.max_procs == 32
    assert from_text("; MaxNodes: -1\n" + job()).header.max_procs is None
    assert from_text(job()).header.max_procs is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("430", 430),
        ("93,312", 93_312),
        ("64.0", 64),
        ("12.5", None),
        ("many", None),
        ("1,2", None),
        ("9" * 30, None),
    ],
)
def test_machine_sizes_as_headers_write_them(value: str, expected: int | None) -> None:
    assert from_text(f"; MaxProcs: {value}\n{job()}").header.max_procs == expected


def test_source_is_named_and_hashed_as_stored(tmp_path: Path) -> None:
    text = (job() + "\r\n").encode()
    plain, packed = tmp_path / "a.swf", tmp_path / "b.dat"
    plain.write_bytes(b"\xef\xbb\xbf" + text)
    packed.write_bytes(gzip.compress(text) + gzip.compress((job(2) + "\n").encode()) + b"\0" * 9)
    for path, jobs in ((plain, [1]), (packed, [1, 2])):
        workload = read(path)
        assert workload.job.tolist() == jobs
        assert workload.source.name == str(path)
        assert workload.source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_gzip_data_hold_is_looked_at_like_a_plain_file() -> None:
    text = (job() + "\n").encode()
    marked = io.BytesIO(gzip.compress(b"\xef\xbb\xbf" + text))
    assert read(marked).job.tolist() == [1]
    for content, told in (
        (text.decode().encode("utf-16"), "is UTF-16 text"),
        (gzip.compress(text), "is packed with gzip twice; unpack it once"),
        (b"BZh91AY", "is a bzip2 file"),
    ):
        with pytest.raises(InputError, match=told):
            read(io.BytesIO(gzip.compress(content)))


def test_standard_input(tmp_path: Path) -> None:
    code = "from headway.workload import read; w = read('-'); print(w.job, w.source.name, w.source.sha256)"
    data = gzip.compress(job(5).encode())
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True)
    assert done.stdout.decode().split() == ["[5]", "-", hashlib.sha256(data).hexdigest()]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    workload = from_text(end.join(["; Note: x", job(1), "", job(2)]))
    assert workload.job.tolist() == [1, 2]
    assert workload.header.lines == ("; Note: x",)
    with pytest.raises(InputError) as caught:
        from_text(end.join(["; Note: x", job(1), "", "nonsense"]))
    assert caught.value.line == 4


def test_rules_and_formats_that_do_not_exist_are_refused_with_those_that_do(tmp_path: Path) -> None:
    path = tmp_path / "a.swf"
    path.write_text(job())
    told = r"no reading rule 'overun' \(did you mean 'overrun'\?\); the rules are procs, .*fraction"
    with pytest.raises(UsageError, match=told):
        read(path, overun="kill")
    with pytest.raises(UsageError, match="overrun cannot be 'ignore'; it is one of kill, trust"):
        read(path, overrun="ignore")
    with pytest.raises(UsageError, match="no format 'xml'; the formats are swf"):
        read(path, format="xml")
    assert read(path, too_large="error").rules["too_large"] == "error"
    assert MEANING.keys() == RULES.keys()


@examples(200)
@given(TEXTS, CHOSEN)
def test_reads_as_the_line_by_line_reference_does(text: str, rules: dict[str, str]) -> None:
    workload, reference = from_text(text, **rules), Reference(text, **rules)
    ledger = workload.ledger
    assert ledger.total == reference.total == ledger.kept + ledger.dropped
    assert len(workload) == ledger.kept
    dropped: Counter[str] = Counter()
    mentioned: Counter[str] = Counter()
    for entry in ledger:
        (dropped if entry.dropped else mentioned)[entry.rule] += entry.count
        assert len(entry.jobs) == min(entry.count, 20)
    assert +dropped == +reference.dropped
    assert +mentioned == +reference.mentioned
    for name in {*workload.columns, *OPTIONAL} & {*NAMES, "procs", "walltime", "memory_kb"}:
        if name in workload or not name.startswith("requested"):
            found = workload.columns[name].tolist() if name in workload else [-1] * len(workload)
            assert found == [job[name] for job in reference.jobs], name
    for raw, made in (("requested_procs", "procs"), ("requested_time", "walltime")):
        assert (raw in workload) == any(job[raw] != job[made] for job in reference.jobs)
