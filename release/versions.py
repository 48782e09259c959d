"""Where the version is written; all places must say the same."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def found(file: str, pattern: str) -> str:
    """What a pattern finds in a file of the project, or nothing."""
    match = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else ""


def versions() -> dict[str, str]:
    """File -> the version it says; pyproject.toml takes its own from the package."""
    return {
        "src/headway/__init__.py": found("src/headway/__init__.py", r'^__version__ = "([^"]+)"$'),
        "CITATION.cff": found("CITATION.cff", r"^version: (\S+)$"),
        "CHANGELOG.md": found("CHANGELOG.md", r"^## (\d\S*?),? "),
    }


def dates() -> dict[str, str]:
    """File -> the day of the release it says."""
    return {
        "CITATION.cff": found("CITATION.cff", r"^date-released: (\S+)$"),
        "CHANGELOG.md": found("CHANGELOG.md", r"^## \d\S*?,? (\S+)$"),
    }
