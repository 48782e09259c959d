"""Every command and every block of code in the documentation runs, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from documentation import ROOT, Reader, blocks, commands, matches, pages, run


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("HEADWAY_DATA_DIR", str(tmp_path / "data"))
    text = page.read_text("utf-8")
    reader = Reader(tmp_path, str(page.relative_to(ROOT)))
    reader.read(text)
    shown = [block for block in blocks(text) if block.language in ("console", "python") and not block.name]
    assert reader.ran >= len(shown)


def read(tmp_path: Path, text: str) -> Reader:
    reader = Reader(tmp_path)
    reader.read(text)
    return reader


def test_the_reader_finds_blocks_wherever_they_stand() -> None:
    text = (
        'a\n```python title="x.py"\n1\n```\n1. b\n\n'
        "    ```toml\n    # y.toml\n    k = 1\n    ```\n````text\n```\n````\n"
    )
    found = [(block.language, block.name, block.text, block.line) for block in blocks(text)]
    assert found == [
        ("python", "x.py", "1\n", 2), ("toml", "y.toml", "# y.toml\nk = 1\n", 7), ("text", "", "```\n", 11),
    ]  # fmt: skip


def test_the_reader_keeps_names_and_files(tmp_path: Path) -> None:
    page = (
        '```python\nk = 2\n```\n```text title="some.txt"\nhello\n```\n'
        '```python\nwith open("some.txt") as file:\n    assert k == 2 and file.read() == "hello\\n"\n```\n'
        "```pycon\n>>> k + 1\n3\n```\n"
    )
    assert read(tmp_path, page).ran == 3
    assert (tmp_path / "log.swf").stat().st_size > 1000


@pytest.mark.parametrize(
    "page",
    [
        "```python\nassert False\n```\n",
        "```pycon\n>>> 1 + 1\n3\n```\n",
        "```console\n$ headway policies nonsense\n```\n",
        "```console\n$ headway --version\nheadway 99\n```\n",
        "<!-- exit 2 -->\n```console\n$ headway --version\n```\n",
        "```console\nheadway --version\n```\n",
        "```bash\nheadway --version\n```\n",
        "```console\n$ cat nothing.txt | head\n$ false\n```\n",
    ],
)
def test_the_reader_notices_what_is_wrong(tmp_path: Path, page: str) -> None:
    with pytest.raises(AssertionError):
        read(tmp_path, page)


def test_the_reader_takes_what_is_right(tmp_path: Path) -> None:
    page = (
        "<!-- exit 2 -->\n```console\n$ headway --version\nheadway ...\n$ headway simulate nothing.swf \\\n"
        "    --policy easy\nheadway: nothing.swf: ...\n```\n```console\n$ headway --version | wc -l\n1\n```\n"
    )
    assert read(tmp_path, page).ran == 3


def test_outputs_match_with_dots_for_anything() -> None:
    assert matches("", "whatever")
    assert matches("a  b\n...\nz", "a b c\nd\n z\n")
    assert not matches("a ... z", "a b c")
    assert not matches("a b", "a b c")
    assert list(commands("$ one\nout\n$ two \\\n  three\n")) == [("one", "out"), ("two three", "")]
    assert run("headway policies nonsense")[0] == 2
