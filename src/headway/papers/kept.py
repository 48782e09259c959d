"""The runs of a paper, each measured once and kept in a file with the code that made them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headway.campaign.identity import code_digest
from headway.documents import read_json
from headway.errors import InputError
from headway.plain import Notify
from headway.writing import write_text

NAME = "runs.json"
Numbers = dict[str, Any]
SHOWN_BY = {"claims.py", "figures.py", "page.py", "tables.py", "verdicts.py"}
"""Files of a paper that only show what was measured."""


class KeptRuns:
    """Results by key. The key says everything that was simulated: policy, parameters and the log's digest.

    Results of other code are not taken: the file says which code made it, that of the engine and policies
    and that of the paper's runs.
    """

    def __init__(self, paper: str, folder: Path, say: Notify) -> None:
        self.path, self.say, self.code = folder / NAME, say, measuring_code(paper)
        self.results: dict[str, Numbers] = {}
        self.lines: dict[str, str] = {}
        if not self.path.exists():
            return
        kept = read_json(self.path, "remove it")
        if not isinstance(kept, dict) or not isinstance(kept.get("runs", {}), dict):
            raise InputError("is not a file of a paper's runs; remove it", file=self.path)
        if kept.get("code") == self.code:
            self.add(kept["runs"])
        else:
            say(f"{self.path}: made by another version of Headway; its runs are simulated again.")

    def get(self, key: str, make: Callable[[], Numbers], told: str = "") -> Numbers:
        """The numbers of a run, measured now if they are not there; what is ``told`` then is said."""
        if key not in self.results:
            if told:
                self.say(told)
            self.keep({key: make()})
        return self.results[key]

    def keep(self, found: dict[str, Numbers]) -> None:
        """Write results down as soon as they are there: a line for each run, which is made once."""
        self.add(found)
        runs = ",\n".join(self.lines.values())
        write_text(self.path, f'{{"code": {json.dumps(self.code)}, "runs": {{\n{runs}\n}}}}\n')

    def add(self, found: dict[str, Numbers]) -> None:
        """Remember results, each with its line of the file."""
        self.lines |= {key: f"{json.dumps(key)}: {json.dumps(numbers)}" for key, numbers in found.items()}
        self.results |= found


def measuring_code(paper: str) -> str:
    """Digest of all code that a paper's numbers depend on: the engine's, the papers' common one, its own."""
    digest = hashlib.sha256(code_digest().encode())
    papers = Path(__file__).parent
    for path in [*sorted(papers.glob("*.py")), *sorted((papers / paper).rglob("*.py"))]:
        if path.name not in SHOWN_BY:
            digest.update(path.relative_to(papers).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
