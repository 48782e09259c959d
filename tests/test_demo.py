"""headway demo: a newcomer sees a workload, a comparison, a picture, an explanation, and what is next."""

from __future__ import annotations

import re

from commands import Headway, every_command
from headway.cli.simulate import DEMO_POLICIES, NEXT
from headway.policies.spec import parse_spec


def test_the_demo_shows_everything_and_writes_the_picture_it_names(headway: Headway) -> None:
    result = headway("demo", "--jobs", "60")
    assert result.status == 0
    for title in (
        "1. A workload: 60 jobs in",
        "2. Four policies on the same jobs",
        "3. How many jobs wait",
        "4. A picture",
        "5. Why job ",
        "What to type next",
    ):
        assert title in result.out, title
    [metrics] = [line for line in result.out.splitlines() if line.startswith("metric ")]
    assert all(policy in metrics for policy in DEMO_POLICIES)
    assert headway.files() == ["headway-demo.png"]
    assert "headway-demo.png: processors over two days" in result.out
    assert (headway.folder / "headway-demo.png").read_bytes().startswith(b"\x89PNG")


def test_the_picture_may_have_another_name(headway: Headway) -> None:
    headway("demo", "--jobs", "30", "--picture", "mine.svg")
    assert headway.files() == ["mine.svg"]
    assert "<!-- easy -->" in (headway.folder / "mine.svg").read_text()
    refused = headway("demo", "--jobs", "30", "--picture", "mine.bmp")
    assert (refused.status, headway.files()) == (2, ["mine.svg"])


def test_the_demo_is_the_same_every_time(headway: Headway) -> None:
    first, second = (headway("demo", "--jobs", "40").out for _ in range(2))
    assert first == second


def test_what_to_type_next_exists() -> None:
    names = set(every_command())
    typed = re.findall(r"^  headway (\w+)", NEXT, re.MULTILINE)
    assert len(typed) >= 5 and set(typed) <= names
    assert len({parse_spec(policy) for policy in DEMO_POLICIES}) == 4
