"""Every command and every block of code in the documentation runs, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from documentation import Reader, blocks, commands, matches, pages, run
from headway.workload.slurm.export import EXPORT
from surroundings import ROOT, Surroundings

LONG = {
    *("docs/how-to/dask-on-slurm.md", "docs/how-to/figures.md", "docs/how-to/own-policy.md"),
    *("docs/explanation/input-files.md", "docs/explanation/urgent.md", "docs/tutorial/first-day.md"),
    *("docs/tutorial/operator.md", "docs/how-to/live.md", "docs/how-to/learning.md"),
    *("docs/how-to/failures-and-maintenance.md", "docs/reference/composition.md"),
    *("docs/contribute/contribute.md", "docs/contribute/fuzzing.md", "docs/how-to/batsim.md"),
    *("docs/tutorial/researcher.md", "docs/explanation/dialects.md"),
}
"""Pages that take more than some five seconds of a core."""

EVERY = [
    pytest.param(page, marks=pytest.mark.long if str(page.relative_to(ROOT)) in LONG else ())
    for page in pages()
]


@pytest.mark.parametrize("page", EVERY, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("HEADWAY_DATA_DIR", str(tmp_path / "data"))
    text = page.read_text("utf-8")
    reader = Reader(tmp_path, str(page.relative_to(ROOT)))
    reader.read(text)
    reader.pictures(page)
    shown = [block for block in blocks(text) if block.language in ("console", "python") and not block.name]
    assert reader.ran >= len(shown)


SHOWN_ONLY = {"pyproject-part.toml": "part of a package; that entry points are found has its own test"}
"""Files on pages that no block uses, and why."""


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_of_a_page_is_used_by_a_later_block(page: Path) -> None:
    """A script that is only written down would not be run."""
    found = blocks(page.read_text("utf-8"))
    for place, block in enumerate(found):
        later = "".join(other.text for other in found[place + 1 :])
        assert not block.name or block.name in later or block.name in SHOWN_ONLY, block.name


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
    with Surroundings(b"") as around:
        assert run("headway policies nonsense", around)[0] == 2


@pytest.mark.parametrize("line", ["headway demo", "$ true", "TZ=UTC sacct --json", "a\nmake test"])
def test_what_is_not_run_holds_no_command(tmp_path: Path, line: str) -> None:
    with pytest.raises(AssertionError, match="not run"):
        read(tmp_path, f"```text\n{line}\n```\n")


STANDING_IN = f"""
```console
$ {EXPORT}
$ headway inspect jobs.txt
...
7 jobs in the log = 4 scheduled + 3 dropped
...
$ sacct --parsable2 --starttime 2024-01-01 --endtime 2024-06-01 --format JobID
JobID
$ headway datasets download nasa-ipsc
nasa-ipsc is ...
... in the log...
```

<!-- exit 2 -->
```console
$ headway datasets download x --url https://example.org/none --sha256 none
... there is no such file; ...
```

<!-- exit 1 -->
```console
$ sacct --parsable2 --starttime 2024-01-01 --endtime 2025-01-01 --format Shoes
... Invalid field requested: "Shoes"
```

<!-- exit 1 -->
```console
$ pip install no-such-package
...
```
"""


def test_what_stands_in_for_a_cluster_and_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWAY_DATA_DIR", str(tmp_path / "data"))
    assert read(tmp_path, STANDING_IN).ran == 7
