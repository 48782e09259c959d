"""The NumPy parser and the compiled one give the same lines, flags and odd lines, on any text."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headway.workload import read_swf, stream, swf, swf_kernel, swf_lines
from headway.workload.swf_lines import Lines
from random_examples import examples
from swf_texts import TEXTS
from traces import trace

ALPHABET = st.sampled_from(list(b"0123456789-. \t\n+;eEx\x00\x0b\xff") + [32] * 8 + [48] * 4 + [10])
BYTES = st.lists(ALPHABET, min_size=1, max_size=300).map(bytes)


def same(light: Lines, compiled: Lines) -> None:
    for name, one, other in zip(Lines._fields, light, compiled, strict=True):
        assert one.dtype == other.dtype == np.int64
        assert np.array_equal(one, other), name


def complete(text: bytes, lines: Lines) -> dict[int, tuple[list[int], int]]:
    """Line number -> values and flags, odd job lines read one by one; -1 values stand for a mistake."""
    found = {
        int(line): (lines.values[:, row].tolist(), int(lines.flags[row]))
        for row, line in enumerate(lines.line)
    }
    for start, end, line in lines.odd.tolist():
        content = text[start:end]
        assert b"\n" not in content
        found[line] = ([], 0) if b";" in content or not content.strip() else _one(content)
    return {line: values for line, values in found.items() if values[0]}


def _one(content: bytes) -> tuple[list[int], int]:
    from headway.errors import InputError
    from headway.workload.swf_fields import job_line

    try:
        return job_line(content, "text", 1)
    except InputError:
        return ([-1], 0)


@examples(400)
@given(BYTES | TEXTS.map(lambda text: text.replace("\r", "").encode()))
@example(b"1 2 3 4 5")
@example(b"\n")
@example(b" -0.5 -0.25 1 1 1 1.5 -1.5\n")
@example(b"0 0e401")
@example(b"12345678 123456789 1234567890123456 12345678901234567 5 6\n")
@example(b"1 999999999999 1 1 1\n1 99999999999999 1 1 1\n9223372036854775808 1 1 1 1\n")
@example(b"1 2 3 4 5 0000000000000000000000007\n1.2.3 2 3 4 5\n- 2 3 4 5\n1-2 3 4 5 6\n")
def test_parsers_agree_on_any_text(text: bytes) -> None:
    light, compiled = swf_lines.parse(text, 7), swf_kernel.parse(text, 7)
    assert complete(text, light) == complete(text, compiled)
    assert (np.diff(light.line) > 0).all()
    assert set(light.line.tolist()).isdisjoint(light.odd[:, 2].tolist())


@given(TEXTS)
def test_chunks_do_not_matter(text: str) -> None:
    whole = read_swf(io.BytesIO(text.encode()), compiled=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "CHUNK", 7)
        for compiled in (False, True):
            pieces = read_swf(io.BytesIO(text.encode()), compiled=compiled)
            assert list(pieces.columns) == list(whole.columns)
            assert pieces.ledger == whole.ledger
            assert pieces.header == whole.header
            for name, column in whole.columns.items():
                assert np.array_equal(pieces.columns[name], column), name


def test_decimals_are_exact() -> None:
    text = b"1 552.21 0.1 0.000001 4 1152921504605.5 -1 4 8.07 7.000\n"
    for parse in (swf_lines.parse, swf_kernel.parse):
        lines = parse(text, 1)
        assert lines.values[:10, 0].tolist() == [
            1, 552_210_000, 100_000, 1, 4, 1_152_921_504_605_500_000, -1, 4, 8_070_000, 7,
        ]  # fmt: skip
        assert lines.flags.tolist() == [1]


@pytest.mark.parametrize("name", ["KTH-SP2", "SDSC-SP2", "LANL-CM5"])
def test_parsers_agree_on_real_logs(name: str) -> None:
    line = 1
    for text in stream.LogStream(trace(name)):
        same(swf_lines.parse(text, line), swf_kernel.parse(text, line))
        line += text.count(b"\n")


def test_reading_compiles_nothing_by_itself(tmp_path: Path) -> None:
    import subprocess

    path = tmp_path / "long.swf"
    path.write_text("1 0 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n" * 120_000)
    code = f"""
import sys
from headway.workload import read
jobs = len(read({str(path)!r}))
assert not {{"numba", "polars", "matplotlib"}} & set(sys.modules), "heavy import"
print(jobs)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "120000"


def test_which_parser_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    light, compiled = swf_lines.parse, swf_kernel.parse
    assert swf._parser(None, 0) is compiled, "it is loaded"
    assert (swf._parser(False, 9), swf._parser(True, 0)) == (light, compiled)
    monkeypatch.delitem(sys.modules, "headway.workload.swf_kernel")
    assert [swf._parser(None, chunk) for chunk in (0, 3)] == [light, light]
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert swf._parser(None, 9) is light
