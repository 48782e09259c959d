"""Runs the blocks of a page of documentation, from top to bottom, in a folder of its own.

What a page may hold:

    ```console          lines that begin with "$ " are commands; the lines below a command, if any, must be
                        its output, where "..." stands for anything and runs of blanks are all the same
    ```python           runs, all of a page in one namespace; with >>> its output is compared
    ```toml and others  with a file's name, as title="sweep.toml" or "# sweep.toml" in the first line, the
                        block is written to that file; Python blocks with a name are written, not run
    ```text             shows what is no command, such as a drawing; it is never run

`<!-- exit 2 -->` on the line before a block says that its last command ends with that status. `<!-- filled
-->` there says that the output is whole: `python tests/documentation.py PAGE` writes it, tests compare
it. `<!-- filled 12 -->` keeps the first 12 lines of what a command prints, `<!-- filled 12 and 3 -->` also
the last 3, with "..." for the rest.
`<!-- clock -->` says that times of day, shown as they once were, may be any.
`<!-- drawn: gantt.svg -->` on the line before a picture says that the page's commands draw it, byte for byte.
Every page finds log.swf and log.swf.gz, a small generated log of 300 jobs on 64 processors, and what
:mod:`surroundings` puts in the place of a cluster and of the network; and the folder examples.
"""

from __future__ import annotations

import contextlib
import doctest
import gzip
import io
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from surroundings import ROOT, SCHEDULER, Surroundings

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<info>[^`\n]*)$")
TITLE = re.compile(r'title="([^"]+)"')
NAMED = re.compile(r"^(?:#|;|//) ([\w./-]+\.[a-z]+)$")
EXIT = re.compile(r"<!-- exit (\d+) -->")
FILLED = re.compile(r"<!-- filled(?: (\d+)(?: and (\d+))?)? -->")
CLOCK = re.compile(r"(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d")
DRAWN = re.compile(r"<!-- drawn: (\S+) -->\n+!\[[^\]]*\]\(([^)]+)\)")
SHELL = re.compile(r"[|<>&;*$`]|\\$")
"""What only a shell understands; a command without it runs in this process, which is far quicker."""

COMPILING = re.compile(r"^compiling .*, once for this machine [^\n]*\.\.\.\n", re.M)
"""Printed where a policy is used for the first time, which may be here or before."""

COMMAND = re.compile(
    r"^(?:[A-Z_]+=\S+ )*(?:\$ |(?:headway|make|pip|python|sacct|sbatch|dask)\b)", re.MULTILINE
)
"""How a line begins that a reader would type."""

SHELLS = ("bash", "sh", "shell", "zsh")

MODEL = "lublin(jobs=300, procs=64, load=0.8, estimates=tsafrir, seed=1)"


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, the name of its file if it has one, and where it begins."""

    language: str
    text: str
    line: int
    name: str = ""
    status: int = 0
    filled: int = 0
    """Lines of output that are written for each command; 0 where outputs are not filled in."""
    last: int = 0
    """Lines from its end that are written too."""
    clock: bool = False
    """Whether its times of day are any."""


def pages() -> list[Path]:
    """Every page that people read: the README and all of docs."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    lines = text.splitlines()
    found: list[Block] = []
    place = 0
    while place < len(lines):
        opening = FENCE.match(lines[place])
        if opening is None:
            place += 1
            continue
        close = opening["indent"] + opening["fence"]
        end = next((row for row in range(place + 1, len(lines)) if lines[row].rstrip() == close), len(lines))
        body = [line.removeprefix(opening["indent"]) for line in lines[place + 1 : end]]
        before = next((line for line in reversed(lines[:place]) if line.strip()), "")
        status, filled, title = EXIT.search(before), FILLED.search(before), TITLE.search(opening["info"])
        comment = NAMED.match(body[0]) if body else None
        name = title[1] if title else comment[1] if comment else ""
        language = (opening["info"].split() or [""])[0]
        found.append(
            Block(
                language,
                "\n".join(body) + "\n",
                place + 1,
                name,
                int(status[1]) if status else 0,
                int(filled[1] or 10**6) if filled else 0,
                int(filled[2] or 0) if filled else 0,
                "<!-- clock -->" in before,
            )
        )
        place = end + 1
    return found


@cache
def small_log() -> bytes:
    from headway.workload import write_swf
    from headway.workload.models import generate

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "log.swf"
        write_swf(generate(MODEL), file)
        return file.read_bytes()


@dataclass
class Reader:
    """Somebody who types every block of a page, in order."""

    folder: Path
    page: str = "page"
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__page__"})
    ran: int = 0
    around: Surroundings = field(init=False)
    fills: dict[int, str] | None = None
    """Where outputs are written and not compared: the new text of each filled block, by its line."""

    def read(self, text: str) -> None:
        """Run a page; an AssertionError says at which line it is wrong, and how."""
        (self.folder / "log.swf").write_bytes(small_log())
        (self.folder / "log.swf.gz").write_bytes(gzip.compress(small_log(), mtime=0))
        shutil.copytree(ROOT / "examples", self.folder / "examples", dirs_exist_ok=True)
        with contextlib.chdir(self.folder), Surroundings(small_log()) as self.around:
            for block in blocks(text):
                where = f"{self.page}:{block.line}"
                assert block.language not in SHELLS, f"{where}: commands stand in console blocks, after $"
                hidden = COMMAND.search(block.text) if block.language == "text" and not block.name else None
                assert hidden is None, f"{where}: a command in a block that is not run: {hidden}"
                if block.language == "console":
                    self._console(block)
                elif block.name:
                    target = Path(block.name)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_text(block.text, encoding="utf-8")
                elif block.language in ("python", "py", "pycon"):
                    self._python(block)

    def pictures(self, page: Path) -> None:
        """Pictures that the page says it draws: compared, or copied where outputs are written."""
        for name, link in DRAWN.findall(page.read_text("utf-8")):
            drawn, shown = self.folder / name, page.parent / link
            if self.fills is not None:
                shown.parent.mkdir(exist_ok=True)
                shutil.copyfile(drawn, shown)
            assert drawn.read_bytes() == shown.read_bytes(), f"{page}: {link} is not what {name} is"

    def _python(self, block: Block) -> None:
        self.ran += 1
        where = f"{self.page}:{block.line}"
        if ">>> " in block.text:
            test = doctest.DocTestParser().get_doctest(block.text, self.names, where, self.page, block.line)
            report = io.StringIO()
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
            runner.run(test, out=report.write, clear_globs=False)
            self.names.update(test.globs)
            assert not runner.failures, f"{where}: {report.getvalue()}"
            return
        code = compile("\n" * block.line + block.text, self.page, "exec")
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, self.names)

    def _console(self, block: Block) -> None:
        steps = list(commands(block.text))
        assert steps, f'{self.page}:{block.line}: a console block needs a line that begins with "$ "'
        for number, (command, expected) in enumerate(steps):
            self.ran += 1
            status, output = run(command, self.around)
            wanted = block.status if number == len(steps) - 1 else 0
            where = f"{self.page}:{block.line}: {command}"
            assert status == wanted, f"{where}\nended with {status}, not {wanted}:\n{output}"
            output = COMPILING.sub("", output)
            if block.filled and self.fills is not None:
                whole = [line.rstrip() for line in output.strip("\n").splitlines()]
                rest = len(whole) - block.last
                cut = [*whole[: block.filled], "...", *whole[rest:]] if rest > block.filled + 1 else whole
                tidy = "\n".join(cut)
                shown = f"$ {command}\n{tidy}\n" if tidy else f"$ {command}\n"
                self.fills[block.line] = self.fills.get(block.line, "") + shown
                continue
            assert not block.filled or expected or not output.strip(), f"{where}: fill this page"
            if block.clock:
                expected, output = (CLOCK.sub("12:00:00", text) for text in (expected, output))
            assert matches(expected, output), f"{where}\nprinted\n{output}\nnot\n{expected}"


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block with the output shown below it."""
    command = ""
    shown: list[str] = []
    for line in text.splitlines():
        if command.endswith("\\"):
            command = command[:-1] + line.removeprefix(">").strip()
        elif line.startswith("$ "):
            if command:
                yield command, "\n".join(shown)
            command, shown = line[2:], []
        elif command:
            shown.append(line)
    if command:
        yield command, "\n".join(shown)


def matches(expected: str, output: str) -> bool:
    """Whether the output is as shown, "..." standing for anything; nothing shown fits everything."""
    words, seen = " ".join(expected.split()), " ".join(output.split())
    first, *others = (part.strip() for part in words.split("..."))
    if not words or not others:
        return not words or seen == words
    *between, last = others
    at = len(first)
    for part in between:  # the first place of each will do, and no place is tried twice
        at = seen.find(part, at) + len(part) if part in seen[at:] else len(seen) + 1
    return seen.startswith(first) and seen.endswith(last) and at + len(last) <= len(seen)


def run(command: str, around: Surroundings) -> tuple[int, str]:
    """Exit status and output, both streams, of one command line."""
    ours, bar, filters = command.partition(" | ")
    words = [] if SHELL.search(ours) or SCHEDULER in command else shlex.split(ours, comments=True)
    if not words or words[0] != "headway":
        done = _in_shell(command, around)
        return done.returncode, done.stdout + done.stderr
    out, err = io.StringIO(), io.StringIO()
    status = _in_process(words, out, err if bar else out)
    if not bar:
        return status, out.getvalue()
    done = _in_shell(filters, around, out.getvalue())  # whose status is that of the pipe
    return done.returncode, err.getvalue() + done.stdout + done.stderr


def _in_shell(
    command: str, around: Surroundings, given: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", around.here(command)],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env=around.environment,
    )


def _in_process(words: list[str], out: io.StringIO, err: io.StringIO) -> int:
    from headway.cli import main

    before, sys.argv = sys.argv, words
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    return 0


def fill(page: Path) -> None:
    """Write outputs and pictures of a page into it."""
    import os

    os.environ["COLUMNS"] = "120"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as data:
        os.environ["HEADWAY_DATA_DIR"] = data
        reader = Reader(Path(folder), str(page), fills={})
        text = page.read_text("utf-8")
        reader.read(text)
        reader.pictures(page)
    lines = text.splitlines()
    for line, output in sorted((reader.fills or {}).items(), reverse=True):
        end = next(row for row in range(line, len(lines)) if lines[row].startswith("```"))
        lines[line:end] = output.splitlines()
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        fill(Path(name).resolve())
