"""Hooks of the site: tables written from the code, and a navigation that finds new pages by itself.

A line `<!-- from the code: policies -->` in a page becomes what `reference.policies()` returns.
A page's place within its section is the `order` in its front matter (50 if it has none), then its title.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import sample_report
from mkdocs.structure.files import Files

import reference

SECTIONS = (
    ("tutorial", "Tutorial"),
    ("how-to", "How to"),
    ("reference", "Reference"),
    ("explanation", "Explanation"),
    ("papers", "Papers"),
    ("decisions", "Decisions"),
    ("contribute", "Contribute"),
)
"""Folders of docs in the order of the navigation; folders that are not named here follow."""

MARK = re.compile(r"^<!-- from the code: (\w+) -->$", re.MULTILINE)


def on_files(files: Files, *, config: Any) -> Files:
    """Lay out the navigation of every page there is."""
    config.nav = navigation({page.src_uri: page.content_string for page in files.documentation_pages()})
    return files


VERDICT = re.compile(r"(?<=\| )(agrees|in part|differs|undecided|could not fail|not tested)(?= \|)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Put in what the code says, and colour the verdicts on the papers' claims."""
    filled = MARK.sub(lambda mark: getattr(reference, mark[1])(), markdown)
    return VERDICT.sub(coloured, filled) if page.file.src_uri.startswith("papers/") else filled


CELL = re.compile(r"<td[^>]*>.*?</td>")
UNIT = re.compile(r"(?<=\d|U) (?=%|s\b)")


def on_page_content(html: str, **_: Any) -> str:
    """Keep a number of a table and its unit in one line."""
    return CELL.sub(lambda cell: UNIT.sub("\u00a0", cell[0]), html)


def coloured(found: re.Match[str]) -> str:
    """A verdict with the class that gives it its colour."""
    return f'<span class="verdict {found[1].replace(" ", "-")}">{found[1]}</span>'


def on_post_build(*, config: Any) -> None:
    """Make the report that the home page links to."""
    sample_report.write_to(Path(config.site_dir) / "sample-report.html")


def navigation(pages: dict[str, str]) -> list[Any]:
    """The navigation as mkdocs.yml would write it: every page, in its folder's section."""
    top = [uri for uri in pages if "/" not in uri]
    layout: list[Any] = sorted(top, key=lambda uri: (uri != "index.md", uri))
    folders = {uri.split("/", 1)[0] for uri in pages if "/" in uri}
    named = dict(SECTIONS)
    ordered = [folder for folder in named if folder in folders]
    for folder in [*ordered, *sorted(folders - set(ordered))]:
        inside = [uri for uri in pages if uri.startswith(f"{folder}/")]
        inside.sort(key=lambda uri: rank(uri, pages[uri]))
        layout.append({named.get(folder, folder.replace("-", " ").capitalize()): inside})
    return layout


def rank(uri: str, text: str) -> tuple[bool, int, str]:
    """What pages of a section are sorted by."""
    order = re.search(r"\A---\n(?:.*\n)*?order: *(\d+)\n", text)
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    return not uri.endswith("/index.md"), int(order[1]) if order else 50, title[1].lower() if title else uri
