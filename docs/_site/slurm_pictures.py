"""The pictures of the page on how Slurm schedules: python docs/_site/slurm_pictures.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headway.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    SKY,
    VERMILLION,
    house_style,
    save,
    sheet,
)

FOLDER = Path(__file__).parents[1] / "pictures"


def box(axes: Any, left: float, bottom: float, wide: float, high: float, colour: str, text: str = "") -> None:
    """A rectangle with a word in it."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((left, bottom), wide, high, facecolor=colour, edgecolor="white", linewidth=1))
    axes.text(left + wide / 2, bottom + high / 2, text, ha="center", va="center", fontsize=7)


def bare(axes: Any) -> None:
    """No frame, no ticks on the left."""
    axes.set_yticks([])
    for side in ("left", "top", "right"):
        axes.spines[side].set_visible(False)


def clocks() -> Any:
    """Two loops by their own clocks, and what wakes them."""
    figure, (axes,) = sheet(1, 2.0)
    events = ((20, "a job is\nsubmitted"), (74, "a job ends"), (76.5, ""))
    for t, word in events[:2]:
        axes.annotate(word, (t, 2.05), (t, 2.75), ha="center", fontsize=7, arrowprops={"arrowstyle": "->"})
    rows = (
        (
            1.45,
            "main loop",
            BLUE,
            ((0, "full"), (23, "after ≤ 3 s"), (60.5, "full"), (77, "epilog over"), (121, "full")),
        ),
        (0.45, "backfill", ORANGE, ((8, ""), (38.2, ""), (68.4, ""), (98.6, ""), (128.8, ""))),
    )
    for y, name, colour, passes in rows:
        axes.plot([0, 135], [y, y], color=PALE, linewidth=1, zorder=0)
        axes.text(-2, y, name, ha="right", va="center", fontsize=8, fontweight="bold")
        for t, word in passes:
            axes.plot(t, y, "s", color=colour, markersize=8)
            axes.text(t, y + 0.22, word, ha="center", va="bottom", fontsize=6.5)
    for t in (8, 38.2, 68.4, 98.6):
        axes.annotate("", (t + 30, 0.22), (t + 0.4, 0.22), arrowprops={"arrowstyle": "<->", "color": GREY})
        axes.text(t + 15, -0.05, "sleeps 30 s", ha="center", va="top", fontsize=6.5, color=GREY)
    axes.axvspan(74, 77, ymin=0.02, ymax=0.83, color=VERMILLION, alpha=0.15)
    axes.text(78.2, 0.95, "completing", fontsize=6.5, color=VERMILLION)
    axes.set_xlim(-3, 136)
    axes.set_ylim(-0.45, 3.2)
    axes.set_xlabel("seconds")
    bare(axes)
    return figure


def groups(ends: Sequence[int]) -> list[list[int]]:
    """Ends of running jobs as the search frees them: bounds double from the first end."""
    anchor = ends[0] + 30 - ends[0] % 30
    found: list[list[int]] = []
    width, place = 30, 0
    while place < len(ends):
        while ends[place] > anchor + width:
            width *= 2
        group = [end for end in ends[place:] if end <= anchor + width]
        found.append(group)
        place += len(group)
        width *= 2
    return found


def grouped_ends() -> Any:
    """Job ends in groups that grow, and the start that a plan gets."""
    figure, (axes,) = sheet(1, 1.7)
    ends = [95, 118, 141, 170, 205, 262, 300, 365, 410, 520, 585, 640, 790, 905, 1010, 1130, 1205]
    needed = 12  # so many ends would free enough nodes
    colours = (SKY, "#A9D6F0", SKY, "#A9D6F0", SKY, "#A9D6F0", SKY)
    left, seen = 80.0, 0
    for number, group in enumerate(groups(ends)):
        right = group[-1] + 8
        box(axes, left, 0, right - left, 1, colours[number])
        for end in group:
            seen += 1
            axes.plot([end, end], [0.15, 0.85], color=BLACK if seen != needed else VERMILLION, linewidth=1.6)
        if seen - len(group) < needed <= seen:
            planned = group[-1]
        left = right
    exact = ends[needed - 1]
    axes.annotate("enough nodes are free", (exact, 0.9), (exact, 1.5), ha="center", fontsize=7,
                  color=VERMILLION, arrowprops={"arrowstyle": "->", "color": VERMILLION})  # fmt: skip
    axes.annotate("but the plan says", (planned, 0.9), (planned, 1.5), ha="center", fontsize=7,
                  arrowprops={"arrowstyle": "->"})  # fmt: skip
    axes.text(75, 0.5, "ends by time limit", ha="right", va="center", fontsize=7.5)
    axes.set_xlim(-150, 1230)
    axes.set_ylim(-0.05, 1.75)
    axes.set_xticks(range(0, 1201, 120), [f"{t // 60}" for t in range(0, 1201, 120)])
    axes.set_xlabel("minutes from now")
    bare(axes)
    return figure


def plan_table() -> Any:
    """Backfill's table: plans on whole nodes, in the order of priority."""
    figure, (axes,) = sheet(1, 2.2)
    running = ((0, 3, 14, "running"), (3, 2, 9, "running"), (5, 1, 5, "running"))
    for first, count, end, word in running:
        box(axes, 0, first, end, count, PALE, word)
    plans = (
        (14, 0, 3, 16, "1: three nodes,\nplanned at minute 14"),
        (9, 3, 2, 12, "2: two nodes,\nat minute 9"),
    )
    for start, first, count, length, word in plans:
        box(axes, start, first, length, count, SKY, word)
    box(axes, 5, 5, 10, 1, SKY, "3: one node, at minute 5")
    box(axes, 0, 6, 8, 1, GREEN, "4: starts now")
    box(axes, 0, 7, 12, 1, GREEN, "5: starts now")
    box(axes, 15, 5, 14, 3, SKY, "6: three nodes, at minute 15:\nbehind 3, 4 and 5")
    axes.axvline(0, color=BLACK, linewidth=1)
    axes.set_yticks([row + 0.5 for row in range(8)], [f"n{row + 1}" for row in range(8)])
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(-0.2, 31)
    axes.set_ylim(0, 8.05)
    axes.set_xlabel("minutes from now")
    return figure


def best_fit() -> Any:
    """Runs of free nodes, and which of them a job for two nodes gets."""
    figure, (axes,) = sheet(1, 1.1)
    free = "xxx.xx.xxxx."
    for place, mark in enumerate(free):
        chosen = place in (4, 5)
        box(axes, place, 0, 1, 1, (GREEN if chosen else SKY) if mark == "x" else PALE, f"n{place + 1}")
    for left, right, word in (
        (0, 3, "enough, one left over"),
        (4, 6, "fits exactly: taken"),
        (7, 11, "enough, two left over"),
    ):
        axes.annotate("", (left, -0.15), (right, -0.15), arrowprops={"arrowstyle": "<->", "linewidth": 0.8})
        axes.text((left + right) / 2, -0.3, word, ha="center", va="top", fontsize=7)
    axes.set_xlim(-0.1, 12.1)
    axes.set_ylim(-0.75, 1.05)
    axes.set_xticks([])
    bare(axes)
    axes.spines["bottom"].set_visible(False)
    return figure


PICTURES = {"clocks": clocks, "grouped-ends": grouped_ends, "plan-table": plan_table, "best-fit": best_fit}


def main() -> None:
    """Write every picture."""
    FOLDER.mkdir(exist_ok=True)
    with house_style():
        for name, draw in PICTURES.items():
            save(draw(), FOLDER / f"slurm-{name}.svg")


if __name__ == "__main__":
    main()
