"""The report of a run with suspended jobs in a real browser: every piece of a job's life is drawn."""

from __future__ import annotations

from pathlib import Path

from browser import browser
from headway.report import schedules_page, write
from ujfb_by_hand import Row, run

HOVER = """(() => {
    const canvas = document.querySelector("#gantt canvas"), box = canvas.getBoundingClientRect();
    const said = new Set();
    const y = box.top + 8 + (box.height - 32) * (1 - 0.5 / 4);  // in the middle of processor 0
    for (let x = box.left + 60; x < box.right - 14; x += 3) {
        canvas.dispatchEvent(new PointerEvent("pointermove", {clientX: x, clientY: y, bubbles: true}));
        for (const tip of document.querySelectorAll("#tooltip")) said.add(tip.textContent);
    }
    return [...said].join("\\n"); })()"""


def test_suspensions_and_swaps_are_drawn(tmp_path: Path) -> None:
    """1 is suspended for 2 (3 to 7, processors 0-1) and 3 (4 to 12, on 2-3): 0-1 stand idle from 7 to 12."""
    rows: tuple[Row, ...] = ((0, 4, 20, 20, 0), (2, 2, 4, 4, 1), (4, 2, 8, 8, 1), (5, 1, 3, 3, 0))
    page = write(schedules_page([run(*rows)]), tmp_path / "report.html")
    with browser() as opened:
        opened.open(page)
        legend = opened.evaluate("document.getElementById('legend').innerText.split(/\\s*\\n\\s*/).join('|')")
        assert "resumed" in legend and legend.endswith("swapping|suspended"), legend
        opened.box("#gantt")
        said = opened.evaluate(HOVER)
        assert "processor 0: idle, kept for job 1, which is suspended" in said
        for piece in ("swapping out", "swapping in", "running"):
            assert piece in said, (piece, said)
        assert "20 s of 20 s asked for" in said
        assert opened.console == []
