"""Running commands of ``headway`` inside the test process."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main

from headway.cli import main
from headway.cli.application import app, load

SWF = """\
; Computer: Test machine
; MaxProcs: 4
1 0 -1 10 2 -1 -1 2 12 -1 1 1 1 -1 1 -1 -1 -1
2 1 -1 10 4 -1 -1 4 10 -1 1 2 1 -1 1 -1 -1 -1
3 2 -1 5 2 -1 -1 2 8 -1 1 1 1 -1 1 -1 -1 -1
4 3 -1 20 1 -1 -1 1 20 -1 1 3 1 -1 1 -1 -1 -1
"""
"""Four jobs on four processors, all sound."""


def every_command() -> dict[str, Any]:
    """Each command that does something, by its whole name, such as ``live submit``."""
    load()
    group: Any = typer.main.get_command(app)
    return {
        f"{name} {inner}".strip(): command
        for name, one in group.commands.items()
        for inner, command in getattr(one, "commands", {"": one}).items()
    }


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str


class Headway:
    """Call it with the words of a command line."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.folder, self._capsys, self._patch = folder, capsys, patch
        patch.chdir(folder)
        patch.setenv("COLUMNS", "200")

    def __call__(self, *words: object) -> Result:
        self._patch.setattr(sys, "argv", ["headway", *map(str, words)])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        captured = self._capsys.readouterr()
        return Result(int(end.value.code or 0), captured.out, captured.err)

    def write(self, name: str, content: str | bytes) -> str:
        data = content.encode() if isinstance(content, str) else content
        (self.folder / name).write_bytes(data)
        return name

    def files(self) -> list[str]:
        """Every file and folder, hidden ones too."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))
