"""Bad SWF input gives one sentence that names the place and the remedy, never a traceback."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headway.errors import HeadwayError, InputError
from headway.workload import read, read_swf
from random_examples import examples
from swf_texts import CHOSEN, TEXTS, VALUES

GOOD = b"1 10 5 100 4 -1 -1 4 200 -1 1 7 8 -1 2 3 -1 -1\n"


def message(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        read_swf(io.BytesIO(data))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (b"2 10 5 abc 4", "-:3: field 4 (run time): 'abc' is not a number"),
        (b"2 nan 5 1 4", "-:3: field 2 (submit time): 'nan' is not a number"),
        (b"2 10 5 inf 4", "-:3: field 4 (run time): 'inf' is not a number"),
        (b"2 10 5 1_0 4", "-:3: field 4 (run time): '1_0' is not a number"),
        (b"2 10 5 1.2.3 4", "-:3: field 4 (run time): '1.2.3' is not a number"),
        (b"2 10 5 -- 4", "-:3: field 4 (run time): '--' is not a number"),
        (b"2 10 5 1 4 1 1 1 12x", "-:3: field 9 (requested time): '12x' is not a number"),
        (b"\x7fELF\x00\x01", "-:3: field 1 (job number): '\\x7fELF\\x00\\x01' is not a number"),
        (b"2 10 5 1e300 4", "-:3: field 4 (run time): is beyond 1152921504606.846975 s"),
        (b"2 9999999999999 5 1 4", "-:3: field 2 (submit time): is beyond 1152921504606.846975 s"),
        (
            b"2 10 5 1 99999999999999999999",
            "-:3: field 5 (allocated processors): is beyond 1152921504606846975",
        ),
        (b"2 10 5 1 " + b"9" * 5000, "-:3: field 5 (allocated processors): '99999999999999999999'... is not"),
        (b"2 10 5 1", "-:3: has 4 of a job's 18 fields"),
        (b"2", "-:3: has 1 of a job's 18 fields"),
    ],
    ids=lambda value: value[:30].decode("latin-1") if isinstance(value, bytes) else "",
)
@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
def test_a_bad_line_is_named(bad: bytes, expected: str, compiled: bool) -> None:
    with pytest.raises(InputError) as caught:
        read_swf(io.BytesIO(b"; header\n" + GOOD + bad + b"\n" + b"also bad\n"), compiled=compiled)
    assert str(caught.value).startswith(expected)
    assert ";" in str(caught.value), "the remedy is missing"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "has no job lines"),
        (b"\n \n", "has no job lines"),
        (b"; only a header\n", "has no job lines"),
        (gzip.compress(b""), "has no job lines"),
        (gzip.compress(GOOD * 1000)[:-20], "end early"),
        (gzip.compress(GOOD)[:5], "end early"),
        (b"\x1f\x8b" + GOOD, "damaged gzip data"),
        (gzip.compress(GOOD) + b"rubbish", "damaged gzip data"),
        (GOOD.decode().encode("utf-16"), "is UTF-16 text"),
        (b"BZh91AY&SY", "is a bzip2 file"),
        (b"PK\x03\x04rest", "is a zip file"),
        (b"9" * (6 << 20), "has a line of more than 4 MiB"),
    ],
    ids=[
        "empty",
        "blank",
        "header only",
        "nothing packed",
        "cut",
        "cut short",
        "not gzip",
        "rubbish behind",
        "utf-16",
        "bzip2",
        "zip",
        "endless line",
    ],
)
def test_a_file_that_is_no_log_is_named(data: bytes, expected: str) -> None:
    assert expected in message(data)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"PAR1\x15\x04\x15", "is a Parquet file; logs are SWF"),
        (b"bom.swf".ljust(257, b"\0") + b"ustar  \0", "is a tar archive; unpack it"),
        (b"job,submit,start,end,procs\n1,0,0,5,1\n", "is a schedule; headway audit checks it"),
        (b"id,submit_time,run_time\n1,0,5\n", "begins like a table in CSV; logs are SWF"),
        (b'"id";"submit time"\r\n1;0\r\n', "begins like a table in CSV; logs are SWF"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
def test_tables_and_archives_are_told_by_name(
    data: bytes, expected: str, pack: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(InputError) as caught:
        read(io.BytesIO(pack(data)))
    assert expected in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, expected in ((tmp_path, "is a folder"), (tmp_path / "absent.swf", "no such file")):
        with pytest.raises(InputError, match=expected) as caught:
            read(path)
        assert str(caught.value).startswith(str(path))
    with pytest.raises(InputError, match="cannot be read"):
        read("null\0byte.swf")


def test_pieces_that_add_up_to_too_much() -> None:
    piece = b"1 10 5 900000000000 4 -1 -1 4 200 -1 2\n"
    assert message(GOOD[2:3] + b"2" + GOOD[1:] + piece * 3).startswith("-:2: field 4 (run time): the pieces")


EVERY_RULE = st.fixed_dictionaries(
    {}, optional={rule: st.sampled_from(values) for rule, values in VALUES.items()}
)
DAMAGE = st.lists(st.tuples(st.integers(0, 400), st.binary(max_size=6)), max_size=4)


@examples(300)
@given(TEXTS, DAMAGE, EVERY_RULE, st.booleans(), st.integers(0, 30))
@example("1 1 1 1 1\n", [(0, b"\x1f\x8b")], {}, False, 0)
def test_any_input_gives_a_workload_that_adds_up_or_one_sentence(
    text: str, damage: list[tuple[int, bytes]], rules: dict[str, str], packed: bool, cut: int
) -> None:
    data = bytearray(text.encode())
    for place, rubbish in damage:
        data[place : place + len(rubbish)] = rubbish
    stored = gzip.compress(bytes(data)) if packed else bytes(data)
    stored = stored[: len(stored) - cut] if cut < 5 else stored
    try:
        workload = read_swf(io.BytesIO(stored), rules)
    except HeadwayError as error:
        assert str(error).startswith("-") and "\n" not in str(error)
    else:
        ledger = workload.ledger
        assert ledger.total == len(workload) + ledger.dropped
        assert len(set(workload.job.tolist())) == len(workload)
        assert (workload.procs > 0).all() and (workload.runtime >= 0).all() and (workload.submit >= 0).all()
        assert (workload.walltime >= 0).all()


@examples(200)
@given(st.binary(max_size=400), CHOSEN)
def test_any_bytes(data: bytes, rules: dict[str, str]) -> None:
    try:
        workload = read_swf(io.BytesIO(data), rules)
    except InputError as error:
        assert str(error).startswith("-") and "\n" not in str(error)
    else:
        assert workload.ledger.total == len(workload) + workload.ledger.dropped > 0
