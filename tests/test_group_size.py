from __future__ import annotations

import pytest

from headway.batsim.decide import Decider
from headway.errors import UsageError
from headway.platform import Platform
from headway.policies.redirection.group import group_sizes
from headway.policies.spec import parse_spec


@pytest.mark.parametrize(
    ("spec", "sizes"),
    [
        ("redirection", (100, 15)),
        ("redirection(alpha=0)", (100, 0)),
        ("redirection(alpha=0.29)", (100, 29)),  # 0.29 * 100 is 28.999... in binary
        ("redirection(alpha=0.999)", (100, 99)),
        ("redirection(alpha=0.25, size=share)", (100, 33)),  # 25 / 0.75
        ("redirection(alpha=0.2, size=share)", (100, 25)),
        ("redirection(alpha=0.15, size=split)", (85, 15)),
        ("redirection(group=7)", (100, 7)),
        ("redirection(group=7, size=share)", (100, 7)),
        ("redirection(group=7, size=split)", (93, 7)),
        ("redirection(group=300)", (100, 300)),
    ],
)
def test_sizes_on_100_processors(spec: str, sizes: tuple[int, int]) -> None:
    assert group_sizes(parse_spec(spec), 100) == sizes


def test_split_must_leave_something() -> None:
    with pytest.raises(UsageError, match="a group of 100 leaves nothing of 100 processors"):
        group_sizes(parse_spec("redirection(group=100, size=split)"), 100)


def test_only_redirection_adds_processors() -> None:
    assert parse_spec("easy").policy.added_procs(100) == 0
    assert parse_spec("redirection").policy.added_procs(100) == 15
    assert parse_spec("redirection(size=split)").policy.added_procs(100) == 0


@pytest.mark.parametrize(
    ("spec", "sizes"), [("redirection", (85, 15)), ("redirection(group=7, size=split)", (93, 7))]
)
def test_a_cluster_has_no_processors_but_its_own(spec: str, sizes: tuple[int, int]) -> None:
    assert group_sizes(parse_spec(spec).policy.on_cluster().spec, 100) == sizes


@pytest.mark.parametrize("size", ["added", "share"])
def test_nothing_is_added_to_a_cluster(size: str) -> None:
    policy = f"redirection(size={size})"
    sentence = f"redirection: size={size} adds processors to those of a cluster, which has no others"
    with pytest.raises(UsageError, match=sentence):
        parse_spec(policy).policy.on_cluster()
    with pytest.raises(UsageError, match=sentence):
        parse_spec(f"reallocation(local={policy})").policy.pools(Platform.procs(100))
    with pytest.raises(UsageError, match=sentence):
        Decider(parse_spec(policy))
