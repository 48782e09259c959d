"""One page out of its parts: template, style, scripts and data, with nothing left outside the file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from headway import __version__
from headway.schedule.files import plain
from headway.writing import write_text

SCRIPTS = (
    "columns.js", "format.js", "model.js", "canvas.js", "timeline.js", "job.js",
    "painting.js", "gantt.js",
    "distribution.js", "tables.js", "campaign.js", "page.js",
)  # fmt: skip
"""In the order in which they build on each other."""


def asset(name: str) -> str:
    """A file of the package's assets folder."""
    return (files("headway.report") / "assets" / name).read_text(encoding="utf-8")


def section(
    name: str, title: str, about: str, content: str, *, long: bool = False, screen: bool = False
) -> str:
    """A part of the page that can be linked to; `about` is plain text.

    A `long` one may break over printed pages, a `screen` one is not printed.
    """
    told = f'<p class="about">{escape(about)}</p>' if about else ""
    kind = ' class="long"' if long else ' class="screen"' if screen else ""
    return f'<section id="{name}"{kind}><h2>{escape(title)}</h2>{told}{content}</section>'


TROUBLE = '<p class="trouble" id="trouble" hidden></p>'
"""Where a page says what it cannot show."""


def verdict_section(paragraphs: Sequence[str], care: str = "", more: str = "") -> str:
    """What the runs tell, in paragraphs of HTML; ``care`` says how to take it."""
    body = "".join(f"<p>{text}</p>" for text in paragraphs) + (f'<p class="care">{care}</p>' if care else "")
    body = re.sub(r"(?<=\d) (?=(?:%|s|min|h|d|years)(?!\w))", "\u00a0", body)  # a unit stays with its number
    body = re.sub(r"(?<=[\s(])-(?=\d)", "−", body)
    return f'<section id="verdict" class="verdict">{body}{more}</section>'


def tabs(panels: Sequence[tuple[str, str, str]]) -> str:
    """Panels (name, title, content) of which one is shown at a time; on paper, one below the other."""
    buttons = "".join(
        f'<button type="button" data-panel="{name}" aria-pressed="{"false" if place else "true"}">'
        f"{escape(title)}</button>"
        for place, (name, title, _) in enumerate(panels)
    )
    shown = "".join(
        f'<div id="{name}" class="panel"{" hidden" if place else ""}>'
        f'<h3 class="paper">{escape(title)}</h3>{content}</div>'
        for place, (name, title, content) in enumerate(panels)
    )
    return f'<div class="bar"><span class="group tabs">{buttons}</span></div>{shown}'


def page(title: str, body: str, links: Sequence[tuple[str, str]], data: dict[str, Any]) -> str:
    """The whole file. What a log or a policy is called cannot end a script or start a tag."""
    text = json.dumps(plain(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Template(asset("page.html")).substitute(
        version=__version__,
        title=escape(title),
        style=asset("style.css"),
        links="".join(f'<a href="#{name}">{escape(words)}</a>' for name, words in links),
        body=body,
        data=text.replace("<", "\\u003c"),
        script="\n".join(asset(name) for name in SCRIPTS),
    )


def write(text: str, path: Path) -> Path:
    """The file appears whole or not at all."""
    write_text(path, text)
    return path
