"""The report on the README and the home page, in both themes: python docs/_site/screenshots.py."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import headway
from headway.report import schedules_page, write
from headway.workload.models import generate

ROOT = Path(__file__).parents[2]
MODEL = "lublin(jobs=300, procs=64, load=0.8, estimates=tsafrir, seed=1)"
WIDTH = 1200
LEFT_OUT = "#metrics, #utilization, #queue, h3:has(+ #utilization), h3:has(+ #queue)"
"""What the picture does without: the table of metrics and two charts."""


def main() -> None:
    """Write both pictures, cut below the Gantt chart."""
    sys.path.insert(0, str(ROOT / "tests"))
    from PIL import Image

    from browser import browser

    log = generate(MODEL)
    runs = [headway.simulate(log, 64, policy) for policy in ("fcfs", "easy")]
    with TemporaryDirectory() as folder, browser() as page:
        report = write(schedules_page(runs), Path(folder) / "report.html")
        page.open(report)
        page.evaluate(f"document.querySelectorAll('{LEFT_OUT}').forEach(part => part.style.display = 'none')")
        page.evaluate("document.querySelector('#which button:last-child').click()")
        for theme in ("light", "dark"):
            page.command("Emulation.setEmulatedMedia",
                         features=[{"name": "prefers-color-scheme", "value": theme}])  # fmt: skip
            page.command("Emulation.setDeviceMetricsOverride",
                         width=WIDTH, height=2000, deviceScaleFactor=1, mobile=False)  # fmt: skip
            page.settle()
            bottom = page.evaluate("document.querySelector('#over-time').getBoundingClientRect().bottom")
            target = Path(folder) / "shot.png"
            page.screenshot(target)
            picture = Image.open(BytesIO(target.read_bytes())).convert("RGB")
            cut = picture.crop((0, 0, WIDTH, round(bottom) + 12)).quantize(128)
            cut.save(ROOT / "docs" / "pictures" / f"report-{theme}.png", optimize=True)


if __name__ == "__main__":
    main()
