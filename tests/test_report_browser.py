"""The report in a real browser: drawn, silent, offline, and it answers to the mouse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from browser import Page, browser
from headway import Schedule
from headway.campaign import Results
from headway.metrics import busy_processors, queue_length
from headway.replay import fidelity
from headway.report import campaign_page, schedules_page, write
from headway.report.answers import replay_page
from headway.schedule import WHY
from headway.workload.header import Header, Source
from small_schedules import easy_starts, fcfs_starts, schedule
from test_report import campaign

PROCS = 64


def runs() -> list[Schedule]:
    """300 jobs, first come first served and with backfilling."""
    rng = np.random.default_rng(3)
    jobs = [
        (float(submit), int(procs), float(runtime), float(walltime))
        for submit, procs, runtime, walltime in zip(
            np.cumsum(rng.integers(0, 300, 300)), rng.integers(1, 33, 300), rng.integers(0, 2000, 300),
            rng.integers(100, 3000, 300), strict=True,
        )
    ]  # fmt: skip
    columns = {"user": rng.integers(1, 9, 300), "queue": rng.integers(0, 3, 300)}
    made = []
    for policy, starts in (("fcfs", fcfs_starts(jobs, PROCS)), ("easy", easy_starts(jobs, PROCS))):
        each = schedule(jobs, starts, PROCS, policy, columns)
        each.why[:] = np.where(each.wait == 0, WHY.index("immediate"), WHY.index("head"))
        each.promise, each.promise_kind = each.start + 60_000_000, "start"
        made.append(each)
    return made


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    path = write(schedules_page(runs()), tmp_path_factory.mktemp("report") / "report.html")
    with browser() as opened:
        opened.open(path)
        yield opened
        # Whatever the tests did, nothing was complained about and nothing fetched.
        assert opened.console == []
        assert opened.requests == [path.resolve().as_uri()]


def colours(page: Page, selector: str) -> int:
    """How many different colours a canvas shows."""
    script = f"""(() => {{ const c = document.querySelector("{selector} canvas");
        const copy = new OffscreenCanvas(c.width, c.height).getContext("2d", {{willReadFrequently: true}});
        copy.drawImage(c, 0, 0);
        return new Set(new Uint32Array(copy.getImageData(0, 0, c.width, c.height).data.buffer)).size; }})()"""
    return int(page.evaluate(script))


def window(page: Page) -> tuple[float, float]:
    low, high = page.evaluate("[headway.time.from, headway.time.to]")
    return low, high


@pytest.fixture(autouse=True)
def whole(page: Page) -> None:
    """Every test begins with everything in view."""
    page.evaluate("headway.time.all(); headway.gantt.pick(null); document.activeElement.blur();")
    page.mouse("mouseMoved", 1, 1)
    page.settle()


def test_curves_are_all_means_or_all_exact(page: Page) -> None:
    # A run with fewer steps than pixels was drawn exactly, with its peaks, beside the means of one with more.
    script = """(() => {{ const c = headway.charts.find((one) => one.steps && !one.percent);
        c.crowds = (s) => {0}; c.kept = null;
        const lengths = c.schedules.map((s) => c.points(s).length);
        delete c.crowds; c.kept = null;
        return [...lengths, Math.ceil(c.inner / c.bucket)]; }})()"""
    one_is_crowded, other, buckets = page.evaluate(script.format("s === c.schedules[0]"))
    assert one_is_crowded == other == buckets
    exact, other, buckets = page.evaluate(script.format("false"))
    assert buckets not in (exact, other) and exact != other


CHARTS = (
    "#overview",
    "#utilization",
    "#queue",
    "#gantt",
    "#distribution-wait",
    "#distribution-bsld",
    "#classes",
)


@pytest.mark.parametrize("chart", CHARTS)
def test_every_chart_is_drawn(page: Page, chart: str) -> None:
    assert colours(page, chart) > 4


def test_the_page_computes_what_the_metrics_compute(page: Page) -> None:
    for place, made in enumerate(runs()):
        for instant in (0, 5_000, 20_000, 40_000):
            script = f"(s => [s.busy.at({instant}), s.queue.at({instant})])(headway.schedules[{place}])"
            at = instant * 1_000_000
            assert page.evaluate(script) == [busy_processors(made).at(at), queue_length(made).at(at)]
        slowdowns = page.evaluate(f"Array.from(headway.schedules[{place}].bsld)")
        assert np.mean(slowdowns) == pytest.approx(made.summary()["mean_bsld"], rel=1e-9)


def test_painted_jobs_never_share_a_processor(page: Page) -> None:
    strips = page.evaluate(
        """headway.schedules.map(s => { const t = s.strips, all = [];
        for (let i = 0; i < t.n; i++) for (let k = t.first[i]; k < t.first[i + 1]; k++)
            all.push([t.row[i], t.start[i], t.end[i], t.low[k], t.size[k]]);
        return all; })"""
    )
    for made, painted in zip(runs(), strips, strict=True):
        row, start, end, low, size = np.array(painted).T
        assert np.bincount(row.astype(int), weights=size).tolist() == made.procs.tolist()
        assert (low >= 0).all() and ((low + size)[end > start] <= PROCS).all()
        for one in range(len(row)):
            both = (
                (start < end[one])
                & (end > start[one])
                & (low < low[one] + size[one])
                & (low + size > low[one])
            )
            assert both.sum() == (end[one] > start[one])


def test_tables_sort(page: Page) -> None:
    def names() -> list[str]:
        return list(
            page.evaluate(
                "[...document.querySelectorAll('#table-size tbody tr')].map(r => r.cells[1].dataset.value)"
            )
        )

    before = names()
    left, top, width, height = page.box("#table-size th:nth-child(2) button")
    page.click(left + width / 2, top + height / 2)
    assert names() == sorted(before, key=int, reverse=True) != before
    page.click(left + width / 2, top + height / 2)
    assert names() == sorted(before, key=int)


def test_the_table_of_jobs_sorts_all_of_them(page: Page) -> None:
    made = runs()[0]
    page.wait_for("document.querySelector('#jobs th:nth-child(6)').ariaSort === 'descending'")
    first = "document.querySelector('#jobs tbody tr').cells[0].textContent"
    assert int(page.evaluate(first)) == made.workload.columns["job"][int(made.wait.argmax())]
    left, top, width, height = page.box("#jobs th:nth-child(4) button")
    page.click(left + width / 2, top + height / 2)
    shown = page.evaluate(
        "[...document.querySelectorAll('#jobs tbody tr')].map(r => Number(r.cells[3].textContent))"
    )
    assert shown == sorted(made.procs.tolist(), reverse=True)[: len(shown)]


def test_jobs_with_many_owners_are_all_there_and_the_longest_wait_comes_first(tmp_path: Path) -> None:
    """As in a report of a Slurm site: partitions, accounts, QOS and dates."""
    made = runs()[0]
    owner = np.arange(len(made)) % 3
    labels = {name: [f"{name[:4]}{place}" for place in range(3)] for name in ("partition", "group", "queue")}
    made.workload = (
        made.workload.with_columns(partition=owner, group=owner, queue=owner)
        .with_header(Header(["; UnixStartTime: 1717394400"]))
        .with_labels(**labels)
    )
    made.workload.source = Source("jobs.txt", format="sacct")
    with browser() as opened:
        opened.open(write(schedules_page([made]), tmp_path / "report.html"))
        widen(opened, 1400)
        assert opened.evaluate(HIDDEN) == []
        titles = opened.evaluate("[...document.querySelectorAll('#jobs th')].map(e => e.textContent)")
        assert titles[:5] == ["job", "user", "partition", "account", "qos"]
        place = titles.index("wait") + 1
        opened.wait_for(f"document.querySelector('#jobs th:nth-child({place})').ariaSort === 'descending'")
        first = opened.evaluate("document.querySelector('#jobs tbody tr').cells[0].textContent")
        assert int(first) == made.workload.columns["job"][int(made.wait.argmax())]


def test_hovering_a_job_tells_about_it(page: Page) -> None:
    made = runs()[0]
    left, top, _, _ = page.box("#gantt canvas")
    row = int(np.argmax(made.procs * made.run))
    x, y = page.evaluate(
        f"""(() => {{ const g = headway.gantt, t = g.strips, i = t.row.indexOf({row});
        return [g.x((t.start[i] + t.end[i]) / 2), g.y(t.low[t.first[i]] + 0.5)]; }})()"""
    )
    page.mouse("mouseMoved", left + x, top + y)
    page.settle()
    told = page.evaluate("document.getElementById('tooltip').innerText")
    assert f"job {made.workload.columns['job'][row]}\n" in told
    expected = ("user", "processors", "waited", "why then", WHY[made.why[row]], "60 s earlier than told")
    for part in expected:
        assert part in told
    page.click(left + x, top + y)
    assert page.evaluate("document.querySelectorAll('#job .facts tr:first-child th').length") == 3


def test_hovering_a_curve_tells_its_value(page: Page) -> None:
    left, top, width, height = page.box("#queue canvas")
    page.mouse("mouseMoved", left + width / 2, top + height / 2)
    page.settle()
    told = page.evaluate("document.getElementById('tooltip').innerText")
    assert told.count("waiting") == 2 and told.startswith("day ")


def test_wheel_zooms_all_charts_over_time_and_a_drag_pans_them(page: Page) -> None:
    low, high = window(page)
    left, top, width, height = page.box("#gantt canvas")
    middle = left + 56 + (width - 68) / 2, top + height / 2
    page.mouse("mouseWheel", *middle, deltaX=0, deltaY=-240)
    page.settle()
    assert window(page) == (low, high), "a page that scrolls by must not zoom"
    left, top, width, height = page.box("#gantt canvas")
    middle = left + 56 + (width - 68) / 2, top + height / 2
    page.click(*middle)
    drawn = "['utilization', 'queue', 'gantt'].map(n => Number(headway[n].canvas.dataset.drawn))"
    before = page.evaluate(drawn)
    page.mouse("mouseWheel", *middle, deltaX=0, deltaY=-240)
    page.settle()
    near = window(page)
    assert near[1] - near[0] == pytest.approx((high - low) / math.e, rel=1e-3)
    assert sum(near) == pytest.approx(low + high, rel=0.01)
    assert all(now > then for now, then in zip(page.evaluate(drawn), before, strict=True))
    page.mouse("mousePressed", *middle, button="left", clickCount=1)
    page.mouse("mouseMoved", middle[0] - 100, middle[1], button="left", buttons=1)
    page.mouse("mouseReleased", middle[0] - 100, middle[1], button="left", clickCount=1)
    page.settle()
    moved = window(page)
    assert moved[0] - near[0] == pytest.approx(100 / (width - 68) * (near[1] - near[0]), rel=1e-3)


def test_from_everything_to_seconds(page: Page) -> None:
    left, top, width, height = page.box("[data-zoom='60']")
    page.click(left + width / 2, top + height / 2)
    low, high = window(page)
    assert high - low == pytest.approx(60)
    assert colours(page, "#gantt") > 2


def test_a_job_is_found_and_another_policy_shown(page: Page) -> None:
    made = runs()[1]
    left, top, width, height = page.box("#which button:nth-child(2)")
    page.click(left + width / 2, top + height / 2)
    assert page.evaluate("headway.gantt.schedule.name") == "easy"
    page.evaluate("document.getElementById('find-job').value = '17'")
    left, top, width, height = page.box("#find button")
    page.click(left + width / 2, top + height / 2)
    row = made.workload.columns["job"].tolist().index(17)
    low, high = window(page)
    assert low <= made.start[row] / 1e6 and made.end[row] / 1e6 <= high
    assert page.evaluate("document.querySelector('#job h3').textContent") == "Job 17"


def test_distributions_zoom_and_choose_jobs(page: Page) -> None:
    chart = "headway.distributions[0]"
    left, top, width, height = page.box("#distribution-wait canvas")
    page.click(left + width / 2, top + height / 2)
    before = page.evaluate(f"{chart}.to - {chart}.from")
    page.mouse("mouseWheel", left + width / 2, top + height / 2, deltaX=0, deltaY=-240)
    page.settle()
    assert page.evaluate(f"{chart}.to - {chart}.from") < before / 2
    page.evaluate(
        "(() => { const s = document.getElementById('jobs-of'); s.value = '1 processors';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    assert page.evaluate(f"{chart}.curves[0].sorted.length") == int((runs()[0].procs == 1).sum())


def test_paper_hides_the_controls_and_keeps_the_charts(page: Page) -> None:
    page.command("Emulation.setEmulatedMedia", media="print")
    try:
        page.settle()
        shown = "getComputedStyle(document.querySelector('{}')).display"
        assert page.evaluate(shown.format(".bar")) == "none"
        assert page.evaluate(shown.format("#gantt canvas")) != "none"
        # Chromium repeats a table's heading on each sheet, but not the buttons in it.
        assert page.evaluate(shown.format("#metrics th button")) == "contents"
        assert page.command("Page.printToPDF", printBackground=True)["data"]
    finally:
        page.command("Emulation.setEmulatedMedia", media="")


def test_the_shown_times_are_those_of_the_schedule(page: Page) -> None:
    """Not of the small margin around it, in which a log without a date would have a day -1."""
    page.evaluate("headway.time.all()")
    shown = page.evaluate("document.getElementById('window').textContent")
    assert shown.startswith("day 0 ")
    begin = float(runs()[0].start.min())
    assert page.evaluate("headway.time.low") < page.evaluate("headway.time.first") <= begin


def test_a_campaign(tmp_path: Path) -> None:
    path = write(campaign_page(Results(tmp_path, pl.DataFrame(campaign()))), tmp_path / "campaign.html")
    with browser() as opened:
        opened.open(path)
        assert colours(opened, "#boxes") > 4
        left, top, width, height = opened.box("#boxes canvas")
        opened.mouse("mouseMoved", left + width / 2, top + height * 0.65)
        opened.settle()
        assert opened.evaluate("document.getElementById('tooltip').innerText").startswith("easy")
        assert opened.evaluate("document.querySelectorAll('#cells tbody tr').length") == 12
        assert (opened.console, opened.requests) == ([], [path.resolve().as_uri()])


def test_a_log_beside_its_simulation(tmp_path: Path) -> None:
    schedule = runs()[0]
    waits = np.maximum(schedule.wait + np.arange(len(schedule)) % 7 * 10**8, 0)
    schedule = replace(schedule, workload=schedule.workload.with_columns(wait=waits))
    path = write(replay_page(fidelity(schedule), [], schedule), tmp_path / "replay.html")
    with browser() as opened:
        opened.open(path)
        assert "recorded" in opened.evaluate("document.getElementById('jobs').innerText")  # why it started
        assert (opened.console, opened.requests) == ([], [path.resolve().as_uri()])


HIDDEN = """[...document.querySelectorAll('.grid td')].filter(cell => cell.offsetParent)
    .filter(cell => { const frame = cell.closest('.scroll').getBoundingClientRect(),
      box = cell.getBoundingClientRect();
      return box.right > Math.min(frame.right, innerWidth) + 1 || box.left < 0; })
    .map(cell => cell.closest('section').id + ': ' + cell.textContent)"""
"""Cells that lie outside of the window or of their table's frame."""


def widen(page: Page, width: int) -> None:
    page.command(
        "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
    )
    page.settle()


def test_long_names_hide_nothing(tmp_path: Path) -> None:
    names = [f"./policies/fair_share_{number}.py:FairShare(half_life=604800)" for number in (1, 2)]
    path = write(schedules_page(runs(), names=names), tmp_path / "report.html")
    with browser() as opened:
        opened.open(path)
        opened.evaluate("document.getElementById('jobs-of').add(new Option('user ' + 'long'.repeat(30)))")
        for width in (1400, 400):
            widen(opened, width)
            assert opened.evaluate(HIDDEN) == []
            assert opened.evaluate("document.documentElement.scrollWidth") <= width
            # A number on a narrow screen stays in one piece, however long the name beside it is.
            lines = """(range => { range.selectNodeContents(document.querySelector(
                '#metrics tr:nth-child(2) td:nth-child(4) span')); return range.getClientRects().length; }
                )(document.createRange())"""
            assert opened.evaluate(lines) == 1


@pytest.mark.parametrize("width", [1400, 400])
def test_nothing_is_hidden(page: Page, width: int) -> None:
    """Every cell of the shown tables lies inside the window, and no table has rows below its edge."""
    widen(page, width)
    try:
        assert page.evaluate(HIDDEN) == []
        below = "(e => e.scrollHeight > e.clientHeight + 1)(document.querySelector('#metrics .scroll'))"
        assert page.evaluate(below) is False
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.querySelector('#jobs td:last-child').textContent.length") > 1
    finally:
        page.command("Emulation.clearDeviceMetricsOverride")
        page.settle()


def test_dark_mode_and_the_keyboard(page: Page) -> None:
    def light(of: str) -> float:
        rgb = page.evaluate(f"getComputedStyle(document.body).{of}.match(/[0-9]+/g).slice(0, 3).map(Number)")
        return float(sum(rgb) / 765)

    def press(key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            page.command("Input.dispatchKeyEvent", type=kind, key=key, text=key if len(key) == 1 else "")
        page.settle()

    page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        page.settle()
        assert light("backgroundColor") < 0.2 and light("color") > 0.8
        assert colours(page, "#gantt") > 3
    finally:
        page.command("Emulation.setEmulatedMedia", features=[])
    page.settle()
    assert light("backgroundColor") > 0.8 and light("color") < 0.3
    whole = window(page)
    page.evaluate("document.querySelector('#queue canvas').focus()")
    press("+")
    low, high = window(page)
    assert high - low < whole[1] - whole[0]
    press("0")
    assert window(page) == whole


def test_one_control_switches_chart_and_table(page: Page) -> None:
    choose = (
        "(k => {{ k.value = '{}'; k.dispatchEvent(new Event('change')); }})"
        "(document.getElementById('class-key'))"
    )
    for key in ("user", "size"):
        page.evaluate(choose.format(key))
        shown = "[...document.querySelectorAll('#by-class .panel')].filter(p => !p.hidden).map(p => p.id)"
        assert page.evaluate(shown) == [f"table-{key}"]
    page.evaluate(choose.format("user"))
    heads = "[...document.querySelectorAll('#table-user th')].map(h => h.textContent)"
    assert "change" in page.evaluate(heads)
    page.evaluate(choose.format("size"))
