"""Charts made of characters: curves over time and bars."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_BLOCKS = " ▏▎▍▌▋▊▉█"


def curve(values: Sequence[float], top: float, height: int = 1) -> list[str]:
    """One column per value, in lines from top to bottom; `top` fills all of them.

    >>> curve([0, 4, 8], top=8)
    [' ▄█']
    """
    levels = [0 if top <= 0 else round(max(min(value / top, 1), 0) * 8 * height) for value in values]
    # A value that is not nothing is always seen.
    levels = [max(level, 1) if value > 0 else level for level, value in zip(levels, values, strict=True)]
    return [
        "".join(_EIGHTHS[max(0, min(8, level - 8 * row))] for level in levels)
        for row in range(height - 1, -1, -1)
    ]


def bar(value: float, top: float, width: int = 30) -> str:
    """A horizontal bar; `top` fills the width.

    >>> bar(1, top=2, width=4)
    '██'
    """
    eighths = 0 if top <= 0 else round(max(min(value / top, 1), 0) * 8 * width)
    full, rest = divmod(max(eighths, 1) if value > 0 else eighths, 8)
    return "█" * full + _BLOCKS[rest].strip()


def labelled(label: str, line: str, note: str = "", width: int = 20) -> Text:
    """A line of a chart between its label and a note."""
    text = Text(f"{label:<{width}.{width}} ")
    text.append(line, style="cyan")
    return text.append(f" {note}", style="dim")
