"""Shadow: what policies would do on a Slurm cluster, beside what it does; its answers are given here."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from commands import Headway
from headway.live.shadow import Shadow, compare
from headway.live.wire import NoAnswer
from headway.policies.spec import parse_spec
from headway.units import SECOND
from live_grids import cluster, marked, written


def test_each_look_of_shadow_is_told_and_an_interrupt_says_where_they_are(
    run: Headway, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(run.folder, cluster("a", 4, kind="slurm"))
    asked = {"easy": {"start": ["7"], "plans": {}}, "fcfs": {"start": [], "plans": {}}}
    look = {"time": 1, "waiting": [{"job": "7"}], "running": 2, "slurm": [], "policies": asked}
    left = [look, NoAnswer("a: no answer"), look]

    def answer(_: object) -> object:
        if not left:
            raise KeyboardInterrupt
        if isinstance(found := left.pop(0), Exception):
            raise found
        return found

    monkeypatch.setattr("headway.live.shadow.Shadow.__init__", lambda *_: None)
    monkeypatch.setattr("headway.live.shadow.Shadow.look", answer)
    words = ("--policy", "easy", "--policy", "fcfs", "--log", "l.jsonl", "--every", 0.1)
    done = run("live", "shadow", "grid.toml", "a", *words)
    first, silence, *_, where, end = done.err.splitlines()
    assert first.endswith("1 job waiting, 2 running; Slurm started 0; easy would start 1, fcfs would start 0")
    assert silence == "a: no answer" and end == "headway: interrupted" and done.status == 130
    assert where == "2 looks added to l.jsonl; headway live shadow l.jsonl compares them"
    assert [json.loads(line) for line in (run.folder / "l.jsonl").read_text().splitlines()] == [look, look]


def test_a_cluster_that_never_answers_is_an_error_and_nothing_is_written(run: Headway) -> None:
    written(run.folder, cluster("a", 4, kind="slurm", conf="missing.conf"))
    done = run(
        "shadow", "grid.toml", "a", "--policy", "easy", "--log", "l.jsonl", "--looks", 2, "--every", 0.1
    )
    *_, why, end = done.err.splitlines()
    assert why == f"cluster a: its configuration (conf) is not at {run.folder / 'missing.conf'}"
    assert end == "headway: a did not answer at 2 looks; nothing was added to l.jsonl" and done.status == 2
    assert not (run.folder / "l.jsonl").read_text()


def test_a_pause_without_end_is_refused(run: Headway) -> None:
    written(run.folder, cluster("a", 4, kind="slurm"))
    done = run("live", "shadow", "grid.toml", "a", "--policy", "easy", "--every", "inf")
    assert done.err == "headway: --every must be from 0.1 to 86,400 seconds, not inf\n" and done.status == 2


def squeue(*jobs: tuple[int, str, int, str, int], why: str = "Priority") -> str:
    """Jobs (number, state, processors, limit, priority) of users who submitted them an hour ago."""
    now = int(time.time())
    lines = []
    for number, state, procs, limit, priority in jobs:
        start, end = ("N/A", "N/A") if state == "PENDING" else (now - 1, now + 60)
        reason = why if state == "PENDING" else "None"
        lines.append(
            f"{number}|{state}|{procs}|{start}|{end}|{limit}|{reason}|{priority}|{now - 3600}|main|ada|||n1|x"
        )
    return "\n".join(lines)


UP = "n1|main*|up|idle|0/4/0/4"


def looks(tmp_path: Path, policy: str, *queues: str, nodes: str = UP) -> list[dict[str, Any]]:
    """What is written down at each look, on a cluster of four processors."""
    grid = written(tmp_path, cluster("a", 4, kind="slurm"))
    shadow = Shadow(grid, grid.sites[0], [parse_spec(policy)])
    found = []
    for queue in queues:

        def run(*words: str, queue: str = queue) -> str:
            return nodes if words[0] == "sinfo" else marked(words, *queue.splitlines())

        shadow.slurm.run = run  # type: ignore[method-assign, assignment]
        found.append(shadow.look())
    return found


def test_what_slurm_started_since_the_last_look_waits_for_the_policy(tmp_path: Path) -> None:
    """Processors came free between the looks; the policy would have started the same jobs."""
    before = squeue(
        (1, "RUNNING", 4, "1:00:00", 9), (2, "PENDING", 2, "10:00", 8), (3, "PENDING", 2, "10:00", 7)
    )
    after = squeue(
        (1, "COMPLETED", 4, "1:00:00", 9), (2, "RUNNING", 2, "10:00", 8), (3, "RUNNING", 2, "10:00", 7)
    )
    first, second = looks(tmp_path, "easy", before, after)
    assert first["policies"]["easy"]["start"] == [] and first["slurm"] == []
    assert second["policies"]["easy"]["start"] == ["2", "3"]
    assert [each["job"] for each in second["slurm"]] == ["2", "3"] and second["running"] == 2
    [told] = compare(map(json.dumps, (first, second)), Path("x.jsonl"))
    assert (told.jobs, told.earlier, told.same, told.later) == (2, 0, 2, 0)


def test_a_job_that_the_policy_would_not_have_started(tmp_path: Path) -> None:
    """It would delay the first one in the queue: no backfilling has it, strict orders have nobody pass."""
    running, head = (1, "RUNNING", 2, "1:00:00", 9), (2, "PENDING", 4, "10:00", 8)
    before = squeue(running, head)
    after = squeue(running, head, (3, "RUNNING", 2, "2:00:00", 7))
    first, second = looks(tmp_path, "easy", before, after)
    assert second["policies"]["easy"]["start"] == [] and [each["job"] for each in second["slurm"]] == ["3"]
    [told] = compare(map(json.dumps, (first, second)), Path("x.jsonl"))
    assert (told.earlier, told.same, told.later) == (0, 0, 1)


def test_a_job_that_the_policy_would_have_started_before(tmp_path: Path) -> None:
    before, after = squeue((1, "PENDING", 2, "10:00", 8)), squeue((1, "RUNNING", 2, "10:00", 8))
    first, second = looks(tmp_path, "easy", before, after)
    first["time"] -= 30 * SECOND
    [told] = compare(map(json.dumps, (first, second)), Path("x.jsonl"))
    assert (told.earlier, told.same, told.later) == (1, 0, 0) and told.mean_lead == pytest.approx(29, abs=2)


@pytest.mark.parametrize(
    "why",
    [
        "BeginTime",
        "Dependency",
        "DependencyNeverSatisfied",
        "JobArrayTaskLimit",
        "JobHeldUser",
        "JobHeldAdmin",
    ],
)
def test_a_job_that_nobody_may_start_yet_is_not_in_the_queue(tmp_path: Path, why: str) -> None:
    """It waits for a time or for others; once Slurm has started it, the policy has it too."""
    before, after = squeue((1, "PENDING", 2, "10:00", 8), why=why), squeue((1, "RUNNING", 2, "10:00", 8))
    first, second = looks(tmp_path, "easy", before, after)
    first["time"] -= 30 * SECOND
    assert first["waiting"] == [] and first["policies"]["easy"] == {"start": [], "plans": {}}
    [told] = compare(map(json.dumps, (first, second)), Path("x.jsonl"))
    assert (told.earlier, told.same, told.later) == (0, 1, 0)


def test_a_job_that_was_preempted_and_does_not_come_back_waits_no_more(tmp_path: Path) -> None:
    """Slurm shows it for some minutes; one that comes back is PENDING."""
    [look] = looks(tmp_path, "easy", squeue((1, "PREEMPTED", 2, "10:00", 8), (2, "RUNNING", 2, "10:00", 9)))
    assert look["waiting"] == [] and look["running"] == 1 and look["policies"]["easy"]["start"] == []


def test_processors_of_nodes_that_are_down_or_drained_are_not_there(tmp_path: Path) -> None:
    """Two nodes of two processors, one of them drained: only who runs there goes on."""
    nodes = "n1|main*|up|mixed|1/1/0/2\nn2|main*|up|draining|1/0/1/2\nn2|all|up|draining|1/0/1/2"
    waiting = (3, "PENDING", 4, "10:00", 9), (4, "PENDING", 2, "10:00", 8), (5, "PENDING", 1, "10:00", 7)
    running = (1, "RUNNING", 1, "10:00", 1), (2, "RUNNING", 1, "10:00", 1)
    [look] = looks(tmp_path, "easy", squeue(*running, *waiting), nodes=nodes)
    assert look["policies"]["easy"]["start"] == ["5"]
    [look] = looks(tmp_path, "easy", squeue(*waiting), nodes="n1|main*|up|down*|0/0/4/4")
    assert look["policies"]["easy"] == {"start": [], "plans": {}} and len(look["waiting"]) == 3
