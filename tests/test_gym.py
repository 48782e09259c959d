"""Environments of Gymnasium: against the engine, job for job; agents as policies; nothing foreseen."""

from __future__ import annotations

import copy
import functools
import importlib
import itertools
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headway
from commands import Headway
from headway.errors import HeadwayError, UsageError
from headway.platform import Cluster
from headway.policies.agent.features import OF_MACHINE, OF_SLOT, PRESENT, REQUEST, WEIGHED
from headway.policies.agent.network import OF_SCORE, Network, from_flat, load_network
from headway.units import SECOND
from headway.workload import Workload
from headway.workload.transform import apply
from instances import busy

gymnasium = pytest.importorskip("gymnasium", reason="needs the extra rl")
from headway.gym import Episodes, SchedulingEnv, SchedulingVectorEnv  # noqa: E402

M, JOBS = 32, 120


def log(jobs: int = JOBS, seed: int = 3) -> Workload:
    return busy(jobs, M, 1.0, seed=seed)


def played(env: SchedulingEnv, choose: Any) -> tuple[list[Any], list[float]]:
    """All observations and rewards of one episode over the whole log."""
    seen, info = env.reset(seed=1, options={"first": 0})
    all_seen, rewards, over = [seen], [], False
    while not over:
        seen, reward, over, _, info = env.step(choose(seen, info["action_mask"]))
        all_seen.append(seen)
        rewards.append(reward)
    return all_seen, rewards


def slots(seen: Any, window: int) -> Any:
    return seen[: window * OF_SLOT].reshape(window, OF_SLOT)


def first_open(seen: Any, mask: Any) -> int:
    return int(np.argmax(mask))


def in_turn(seen: Any, mask: Any) -> int:
    """The oldest job if it fits, else wait."""
    return 0 if mask[0] else len(mask) - 1


def shortest(seen: Any, mask: Any) -> int:
    request = slots(seen, len(mask) - 1)[:, REQUEST]
    return int(np.argmin(np.where(mask[:-1] > 0, request, 9.0)))


def starts(workload: Workload, policy: Any) -> list[int]:
    return [int(start) for start in headway.simulate(workload, M, policy).start]


def whole(task: str, workload: Workload, **more: Any) -> SchedulingEnv:
    return SchedulingEnv(workload, M, task=task, window=len(workload), jobs=len(workload), **more)


@pytest.mark.parametrize("task", ["choose", "backfill", "weights"])
@pytest.mark.filterwarnings("ignore")
def test_gymnasiums_own_checker(task: str) -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(SchedulingEnv(log(), M, task=task, jobs=40), skip_render_check=True)


def test_fcfs_and_easy_are_ours() -> None:
    work = log()
    for task, choose, policy in (("choose", in_turn, "fcfs"), ("backfill", first_open, "easy")):
        env = whole(task, work)
        played(env, choose)
        made = env.schedule()
        assert headway.audit(made).ok
        assert made.start.tolist() == starts(work, policy), task


def test_weights_of_the_wait_alone_are_easy() -> None:
    work = log()
    env = whole("weights", work)
    played(env, lambda seen, mask: np.array([1.0, 0, 0, 0]))
    assert env.schedule().start.tolist() == starts(work, "easy")


def test_choosing_the_shortest_is_a_policy_of_ones_own() -> None:
    work = log(60)

    def fill(view: Any) -> Any:
        free, started = view.free, []
        for job in sorted(view.waiting, key=lambda job: (job.walltime, job.number)):
            if job.procs <= free:
                free -= job.procs
                started.append(job)
        return started

    env = whole("choose", work)
    played(env, shortest)
    assert env.schedule().start.tolist() == starts(work, fill)


def test_rewards_add_up_to_the_schedule() -> None:
    work = log(60)
    env = whole("choose", work, reward="wait")
    _, rewards = played(env, in_turn)
    waits = env.schedule().wait.sum() / SECOND / 3600
    assert -sum(rewards) == pytest.approx(waits)
    assert -sum(played(whole("choose", work, reward="wait_change"), in_turn)[1]) == pytest.approx(waits)
    _, slowdowns = played(whole("choose", work, reward="bsld"), in_turn)
    assert -sum(slowdowns) / 60 == pytest.approx(env.schedule().summary()["mean_bsld"])
    requests = np.maximum(env.schedule().workload.walltime / SECOND, 10.0)
    grown = (env.schedule().wait / SECOND / requests).sum()  # what waiting does to the expected slowdowns
    assert -sum(played(whole("choose", work, reward="bsld_change"), in_turn)[1]) == pytest.approx(grown)
    for kind in ("utilization", "utilization_change"):
        assert np.isfinite(played(whole("choose", work, reward=kind), in_turn)[1]).all()


def test_rewards_before_the_first_decision_are_not_lost() -> None:
    """A head that waits where nobody may pass it is no decision, and its wait counts all the same."""
    work = Workload.from_arrays(  # both 2 and 3 wait for 1; 4 may pass from 40 on
        unit="s", submit=[0, 10, 20, 40], procs=[M - 1, M, M, 1], runtime=[100, 50, 50, 20]
    )
    waits, slowdowns = (90 + 130) / 3600, 1 + 140 / 50 + 180 / 50 + 1
    totals = {"wait": waits, "wait_change": waits, "bsld": slowdowns, "bsld_change": 90 / 50 + 130 / 50}
    for kind, total in totals.items():
        env = whole("backfill", work, reward=kind)
        _, rewards = played(env, first_open)
        assert env.schedule().start.tolist() == [0, 100 * SECOND, 150 * SECOND, 40 * SECOND]
        assert -sum(rewards) == pytest.approx(total)
        many = SchedulingVectorEnv(
            work, M, sessions=1, task="backfill", reward=kind, jobs=4, window=4, threads=1
        )
        _, info = many.reset(options={"firsts": [0]})
        gained, done = 0.0, np.zeros(1, bool)
        while not done[0]:
            _, reward, done, _, info = many.step(info["action_mask"].argmax(axis=1))
            gained += reward[0]
        assert -gained == pytest.approx(total)


def scrambled(work: Workload, after: int, started: np.ndarray, seed: int) -> Workload:
    """Another log that a scheduler could not tell from this one until ``after``."""
    random = np.random.default_rng(seed)
    columns = {name: values.copy() for name, values in work.columns.items()}
    end = started + np.minimum(work.runtime, work.walltime)
    ended = (started >= 0) & (end <= after)
    ran = np.where(started >= 0, after - started, 0)
    longer = ran + 1 + random.integers(0, 1000 * SECOND, len(work))
    columns["runtime"] = np.where(ended, work.runtime, np.maximum(longer, 1))
    columns["walltime"] = work.walltime.copy()
    future = work.submit > after
    columns["procs"] = np.where(future, random.integers(1, M + 1, len(work)), work.procs)
    columns["walltime"] = np.where(future, random.integers(1, 9999, len(work)) * SECOND, columns["walltime"])
    return Workload(columns)


@pytest.mark.parametrize(("task", "choose"), [("choose", first_open), ("backfill", first_open)])
def test_nothing_of_the_future_is_seen(task: str, choose: Any) -> None:
    work = log(80)
    work = work.select(np.argsort(work.submit, kind="stable"))
    env = SchedulingEnv(work, M, task=task, jobs=len(work))
    for steps in (5, 20, 40):
        seen, info = env.reset(options={"first": 0})
        before = [seen]
        for _ in range(steps):
            seen, _, over, _, info = env.step(choose(seen, info["action_mask"]))
            before.append(seen)
            assert not over
        state = env.driver.state
        now, run = int(state.clock.now), state.jobs.run
        started = np.where(run < 0, -1, state.runs.start[run])
        other = SchedulingEnv(scrambled(work, now, started, steps), M, task=task, jobs=len(work))
        seen, info = other.reset(options={"first": 0})
        after = [seen]
        for _ in range(steps):
            seen, _, _, _, info = other.step(choose(seen, info["action_mask"]))
            after.append(seen)
        assert all((a == b).all() for a, b in zip(before, after, strict=True)), (task, steps)


REWARDS = ("wait", "bsld", "utilization", "wait_change", "bsld_change", "utilization_change")


@pytest.mark.parametrize("may_wait", [True, False])
@pytest.mark.parametrize("task", ["choose", "backfill", "weights"])
def test_a_vector_is_many_singles(task: str, may_wait: bool) -> None:
    """The engine's episodes and those of a vector, step for step, under agents that choose at random."""
    work, random, count = log(200), np.random.default_rng(2), 36
    for reward, window in zip(REWARDS, (3, 16, 5, 16, 8, 1), strict=True):
        same: dict[str, Any] = {"task": task, "reward": reward, "window": window, "may_wait": may_wait}
        many = SchedulingVectorEnv(work, M, sessions=count, jobs=50, threads=2, period=900.0, **same)
        seen, info = many.reset(seed=5)
        firsts = many.simulations.firsts.copy()
        singles = [SchedulingEnv(work, M, jobs=50, period=900.0, **same) for _ in range(3)]
        for e, single in enumerate(singles):
            one, told = single.reset(options={"first": firsts[e]})
            assert (one == seen[e]).all() and (told["action_mask"] == info["action_mask"][e]).all()
        going, steps = [True] * 3, 0
        while any(going):
            # One in ten actions is not open, which is a wish to wait.
            wish = np.where(random.random((count, window + 1)) < 0.1, 1, info["action_mask"])
            actions = np.argmax(random.random((count, window + 1)) * wish, axis=1)
            answers = random.uniform(-1, 1, (count, WEIGHED)) if task == "weights" else actions
            seen, gained, done, _, info = many.step(answers)
            for e, single in enumerate(singles):
                if going[e]:
                    one, alone, over, _, told = single.step(answers[e])
                    assert (one == seen[e]).all() and alone == gained[e] and over == done[e]
                    assert (told["action_mask"] == info["action_mask"][e]).all()
                    going[e], steps = not over, steps + 1
        assert steps > 20 and all(headway.audit(single.schedule()).ok for single in singles)
        again = SchedulingVectorEnv(work, M, sessions=count, jobs=50)
        again.reset(seed=5)
        assert (again.simulations.firsts == firsts).all()


def test_who_waits_where_nothing_would_happen_is_asked_again() -> None:
    work = log(30)
    env = SchedulingEnv(work, M, jobs=1)
    seen, info = env.reset(options={"first": 3})
    assert not info["action_mask"][-1]
    again, _, over, _, told = env.step(len(info["action_mask"]) - 1)
    assert not over and (again == seen).all() and (told["action_mask"] == info["action_mask"]).all()
    assert env.step(0)[2]


@pytest.mark.parametrize("task", ["choose", "backfill"])
def test_who_may_not_wait_may_where_no_job_may_start(task: str) -> None:
    """Some action is always open, also behind the last decision and where an episode has none."""
    for jobs in (1, 20):
        same: dict[str, Any] = {"task": task, "window": 4, "jobs": jobs, "may_wait": False}
        env, many = SchedulingEnv(log(60), M, **same), SchedulingVectorEnv(log(60), M, sessions=1, **same)
        for first in (0, 7, 30):
            _, told = env.reset(options={"first": first})
            _, also = many.reset(options={"firsts": [first]})
            over = False
            while not over:
                mask = told["action_mask"]
                assert mask[-1] == 1 - mask[:-1].any() and (mask == also["action_mask"][0]).all()
                action = int(mask.argmax())
                _, _, over, _, told = env.step(action)
                also = many.step(np.array([action]))[-1]
            assert told["action_mask"][-1] and also["action_mask"][0, -1]


@pytest.mark.parametrize("action", [-1, -7, 999, 10**12])
@pytest.mark.parametrize("task", ["choose", "backfill"])
def test_numbers_that_are_no_actions_are_wishes_to_wait(task: str, action: int) -> None:
    work = log(60)
    same: dict[str, Any] = {"task": task, "window": 4, "jobs": 50}
    one, other = SchedulingEnv(work, M, **same), SchedulingEnv(work, M, **same)
    many = SchedulingVectorEnv(work, M, sessions=2, **same)
    one.reset(options={"first": 3})
    other.reset(options={"first": 3})
    _, info = many.reset(options={"firsts": [3, 3]})
    done, step = np.zeros(2, np.bool_), 0
    while step < 30 and not done.any():
        step += 1
        first = int(np.argmax(info["action_mask"][0]))
        odd, wait = (action, 4) if step % 2 else (first, first)
        seen, _, done, _, info = many.step(np.array([odd, wait]))
        assert (seen[0] == seen[1]).all() and (one.step(odd)[0] == other.step(wait)[0]).all()
        assert (one._memory.agent.seen == seen[0]).all()
    assert step > 3


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_in_the_middle_of_an_episode_goes_its_own_way(copied: Any) -> None:
    env = SchedulingEnv(log(), M, jobs=60)
    _, info = env.reset(seed=1)
    for _ in range(20):
        _, _, _, _, info = env.step(int(np.argmax(info["action_mask"])))
    other = copied(env)
    before = env._memory.agent.seen.copy()
    over, told = False, info
    while not over:
        _, _, over, _, told = other.step(int(np.argmax(told["action_mask"])))
    assert (env._memory.agent.seen == before).all()
    over = False
    while not over:
        _, _, over, _, info = env.step(int(np.argmax(info["action_mask"])))
    assert (env.schedule().start == other.schedule().start).all() and headway.audit(other.schedule()).ok


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"first": -1}, "from 0 to 70, not -1"),
        ({"first": 71}, "from 0 to 70, not 71"),
        ({"first": 1.5}, "whole numbers from 0 to 70"),
        ({"first": "x"}, "are whole numbers, not 'x'"),
        ({"frist": 3}, "reset has no option 'frist'; it has 'first'"),
    ],
)
def test_episodes_that_are_not_in_the_log(given: dict[str, Any], sentence: str) -> None:
    env = SchedulingEnv(log(), M, jobs=50)
    with pytest.raises(UsageError, match=sentence):
        env.reset(options=given)


@pytest.mark.parametrize("firsts", [[-2, 0], [71, 0], [10**9, 0], [0.5, 0], [0], [[0], [0]], "ab"])
def test_episodes_of_a_vector_that_are_not_in_the_log(firsts: Any) -> None:
    many = SchedulingVectorEnv(log(), M, jobs=50, sessions=2)
    with pytest.raises(UsageError, match="first jobs"):
        many.reset(options={"firsts": firsts})


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_of_a_vector_with_threads_goes_its_own_way(copied: Any) -> None:
    many = SchedulingVectorEnv(log(), M, jobs=20, sessions=40, threads=2)
    _, info = many.reset(seed=1)
    many.step(info["action_mask"].argmax(axis=1))
    other = copied(many)
    for _ in range(30):
        answers = [env.step(env.simulations.mask.argmax(axis=1)) for env in (many, other)]
        assert all((one == two).all() for one, two in zip(*(answer[:3] for answer in answers), strict=True))


def test_a_vector_tells_the_figures_of_an_episode_that_is_over() -> None:
    many, one = SchedulingVectorEnv(log(), M, jobs=20, sessions=3), SchedulingEnv(log(), M, jobs=20)
    _, info = many.reset(options={"firsts": [0, 9, 4]})
    _, told = one.reset(options={"first": 9})
    over = False
    while not over:
        _, _, done, _, info = many.step(info["action_mask"].argmax(axis=1))
        _, _, over, _, told = one.step(int(told["action_mask"].argmax()))
        assert ("mean_bsld" in info) == done.any()
    assert (info["_mean_bsld"] == done).all() and done[1]
    assert [info[name][1] for name in ("mean_wait", "mean_bsld")] == [told["mean_wait"], told["mean_bsld"]]


def test_whole_floats_are_actions() -> None:
    """As a learner's tensors give them; the same as whole numbers."""
    cases: tuple[tuple[Any, Any, Any], ...] = (
        (SchedulingEnv, 0, np.float32(0)),
        (functools.partial(SchedulingVectorEnv, sessions=2), np.array([0, 1]), [0.0, 1.0]),
    )
    for make, whole, floats in cases:
        one, other = make(log(), M, jobs=50), make(log(), M, jobs=50)
        one.reset(seed=1)
        other.reset(seed=1)
        for step in zip(one.step(whole)[:2], other.step(floats)[:2], strict=True):
            np.testing.assert_array_equal(*step)


def test_who_is_not_over_in_a_log_is_in_no_episode() -> None:
    work = log(60)
    cut = work.with_columns(open=np.arange(60) >= 50, cancelled_after=np.where(np.arange(60) < 3, 5, -1))
    assert len(SchedulingEnv(cut, M, jobs=20).episodes.workload) == 47


def test_what_is_no_action_or_no_log_is_told_in_a_sentence() -> None:
    env, many = SchedulingEnv(log(), M, jobs=50), SchedulingVectorEnv(log(), M, jobs=50, sessions=2)
    env.reset(seed=1)
    many.reset(seed=1)
    for one in ("x", "1", [0, 1], 0.5, np.nan, np.float64(np.inf), 1e300):
        with pytest.raises(UsageError, match="an action is "):
            env.step(one)
    for two in ([0] * 3, [0, 0.5], [np.nan, 1], [1e300, 0]):
        with pytest.raises(UsageError, match="an action is "):
            many.step(np.array(two))
    with pytest.raises(UsageError, match=r"'log\.swf' is not a workload; read a log with"):
        SchedulingEnv("log.swf", M)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"weights are 2 x 4 numbers from -1 to 1"):
        by_weights = SchedulingVectorEnv(log(), M, jobs=50, sessions=2, task="weights")
        by_weights.reset(seed=1)
        by_weights.step(np.zeros(4))


def test_what_comes_too_soon_or_is_no_number_is_refused() -> None:
    env, many = SchedulingEnv(log(), M, jobs=50), SchedulingVectorEnv(log(), M, jobs=50, sessions=2)
    for act in (lambda: env.step(0), env.action_masks, env.schedule, lambda: many.step(np.zeros(2))):
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset first"):
            act()
    env.reset(seed=1)
    with pytest.raises(UsageError, match="is not over, and has no schedule yet"):
        env.schedule()
    by_weights = SchedulingEnv(log(), M, jobs=50, task="weights")
    by_weights.reset(seed=1)
    with pytest.raises(UsageError, match="numbers from -1 to 1"):
        by_weights.step([0, 0, float("nan"), 0])
    for wrong in (
        {"window": 10**9}, {"window": True}, {"period": 0}, {"period": float("nan")}, {"period": "hour"},
        {"period": 1e-7}, {"jobs": 2.5}, {"jobs": "all"}, {"train": "most"}, {"may_wait": "no"},
    ):  # fmt: skip
        with pytest.raises(UsageError, match=next(iter(wrong))):
            SchedulingEnv(log(), M, **({"jobs": 50} | wrong))
    with pytest.raises(UsageError, match=r"one first job, not \[1, 2\]"):
        env.reset(options={"first": [1, 2]})
    with pytest.raises(UsageError, match="whole numbers from 0"):
        env.reset(options={"first": float("nan")})


def test_what_an_agent_cannot_schedule_on_is_refused_here_too() -> None:
    work = log()
    grid = headway.Platform((Cluster("a", procs=16), Cluster("b", procs=16)))
    with pytest.raises(UsageError, match="agent schedules one cluster and this platform has 2"):
        SchedulingEnv(work, grid, jobs=50)
    events = headway.Outages((headway.Outage("down", 0, SECOND, 1),))
    with pytest.raises(UsageError, match="agent does not know processors that come and go"):
        SchedulingEnv(work, headway.Platform.procs(M).with_outages(events), jobs=50)
    with pytest.raises(UsageError, match="--feedback"):
        SchedulingEnv(apply(work.with_columns(wait=np.zeros(len(work))), "feedback"), M, jobs=50)


def test_a_list_of_seeds_draws_the_same_episodes_again() -> None:
    many = SchedulingVectorEnv(log(300), M, jobs=50, sessions=3)
    drawn = []
    for last in (3, 3, 4):
        many.reset(seed=[1, 2, last])
        drawn.append(many.simulations.firsts.tolist())
    assert drawn[0] == drawn[1] != drawn[2]


def test_training_never_sees_the_test_weeks() -> None:
    work = log(300)
    train, test = Episodes(work, 20, "train"), Episodes(work, 20, "test")
    assert train.last == test.first and 0 < train.last < 300
    drawn = train.draw(np.random.default_rng(1), 1000)
    assert drawn.min() >= 0 and (drawn + 20).max() <= train.last
    drawn = test.draw(np.random.default_rng(1), 1000)
    assert drawn.min() >= test.first and (drawn + 20).max() <= 300
    with pytest.raises(HeadwayError, match="give fewer jobs"):
        Episodes(work, 5000)
    wide = work.with_columns(procs=np.where(work.submit < np.median(work.submit), 2 * M, 1))
    env = SchedulingEnv(wide, M, jobs=20, part="train")  # the early jobs cannot run here
    seen = env.episodes.workload.job[env.task.order[: env.episodes.last]]
    assert not set(seen.tolist()) & set(apply(wide, "part(which=test)").job.tolist())
    with pytest.raises(HeadwayError, match="task must be choose, backfill, weights"):
        SchedulingEnv(work, M, task="dance")


# ---- agents as policies ------------------------------------------------------------------------------------


def network_of(kind: str, task: str, window: int, seed: int, may_wait: bool = True) -> Network:
    last = WEIGHED if task == "weights" else window + 1
    widths = [OF_SCORE, 8, 1] if kind == "shared" else [window * OF_SLOT + OF_MACHINE, 8, last]
    size = sum(a * b + b for a, b in itertools.pairwise(widths))
    flat = np.random.default_rng(seed).normal(0, 1, size)
    return from_flat(flat, widths, kind=kind, task=task, window=window, may_wait=may_wait)


def choice_of(network: Network, seen: Any, mask: Any) -> Any:
    """What a network says, in plain numpy."""

    def through(x: Any) -> Any:
        for i, (weights, bias) in enumerate(network.layers):
            x = weights @ x + bias
            x = np.tanh(x) if i < len(network.layers) - 1 else x
        return x

    seen = seen.astype(np.float64)
    if network.task == "weights":
        return np.clip(through(seen), -1, 1)
    if network.kind == "dense":
        scores = through(seen)
    else:
        machine = seen[network.window * OF_SLOT :]
        rows = [np.concatenate([slot, [0.0], machine]) for slot in slots(seen, network.window)]
        rows.append(np.concatenate([np.zeros(OF_SLOT), [1.0], machine]))
        scores = np.array([through(row)[0] for row in rows])
    return int(np.argmax(np.where(mask > 0, scores, -np.inf)))


@pytest.mark.parametrize(
    ("task", "kind"),
    [*itertools.product(("choose", "backfill"), ("shared", "dense")), ("weights", "dense")],
)
@pytest.mark.interpreted
def test_an_agent_decides_as_in_its_environment(task: str, kind: str, tmp_path: Path) -> None:
    work, file = log(), tmp_path / "agent.npz"
    may_wait = kind == "dense"
    network = network_of(kind, task, 8, seed=2, may_wait=may_wait)
    network.save(file)
    env = SchedulingEnv(work, M, task=task, window=8, jobs=len(work), may_wait=may_wait)
    played(env, lambda seen, mask: choice_of(load_network(file), seen, mask))
    made = headway.simulate(work, M, str(file))
    assert headway.audit(made).ok
    assert made.start.tolist() == env.schedule().start.tolist()
    decided = {name: count for name, count in made.own.items() if name.startswith("decided_by")}
    assert sum(int(str(count)) for count in decided.values()) > 0
    assert made.provenance["policy_source"]["sha256"] == load_network(file).digest


@pytest.mark.interpreted
def test_explain_says_which_feature_decided(tmp_path: Path) -> None:
    work, file = log(), tmp_path / "agent.npz"
    flat = np.zeros(OF_SCORE + 1)
    flat[REQUEST] = -5.0  # the shorter the better, and nothing else counts
    flat[PRESENT] = 9.0
    from_flat(flat, [OF_SCORE, 1]).save(file)
    made = headway.simulate(work, M, f"agent(file={file})")
    decided = made.notes["decided_by"]
    assert set(np.unique(decided)) <= {0, REQUEST + 1} and (decided == REQUEST + 1).any()
    job = int(made.workload.job[int(np.argmax(decided == REQUEST + 1))])
    assert "its request" in str(headway.explain(made, job, simulate_again=False))


def weighing(**weights: float) -> Network:
    """An agent that always gives these weights."""
    from headway.policies.agent.features import WEIGHED_NAMES

    bias = np.array([weights.get(name, 0.0) for name in WEIGHED_NAMES])
    layer = (np.zeros((WEIGHED, OF_SLOT + OF_MACHINE)), bias)
    return Network((layer,), task="weights", kind="dense", window=1)


@pytest.mark.interpreted
def test_weights_of_the_wait_and_of_the_request_are_easy_and_its_sjf(tmp_path: Path) -> None:
    work, file = log(), tmp_path / "agent.npz"
    weighing(waited=1.0).save(file)
    assert starts(work, str(file)) == starts(work, "easy")
    weighing(request=-1.0).save(file)
    assert starts(work, str(file)) == starts(work, "easy(order=sjf)")


@pytest.mark.interpreted
def test_explain_says_which_weight_decided(tmp_path: Path) -> None:
    work, file = log(), tmp_path / "agent.npz"
    weighing(request=-1.0).save(file)
    made = headway.simulate(work, M, str(file))
    assert headway.audit(made).ok
    decided = made.notes["weighed_by"]
    assert set(np.unique(decided)) == {0, 3} and made.own["decided_by_request"] == (decided == 3).sum()
    job = int(made.workload.job[int(np.argmax(decided == 3))])
    assert "the weight of its request" in str(headway.explain(made, job, simulate_again=False))


def damaged(file: Path, **parts: Any) -> None:
    """Put other arrays into the file of an agent."""
    with np.load(file) as found:
        np.savez_compressed(file, **(dict(found) | parts))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda file: file.write_bytes(b"no"), "not a file of an agent"),
        (lambda file: file.unlink(), "no such file"),
        (lambda file: np.savez(file, version=9), "it sees version 9"),
        (
            lambda file: np.savez(
                file, version=1, task="fly", kind="shared", activation="tanh", window=3
            ),
            "task",
        ),
        (
            lambda file: np.savez(
                file, version=1, task="choose", kind="shared", activation="tanh", window=3,
                w0=np.zeros((1, 2)), b0=np.zeros(1),
            ),
            "does not fit where 13 numbers come in",
        ),
        (
            lambda file: np.savez(
                file, version=1, task="weights", kind="shared", activation="tanh", window=3,
                w0=np.zeros((1, OF_SCORE)), b0=np.zeros(1),
            ),
            "dense, not shared",
        ),
        (
            lambda file: np.savez(
                file, version=1, task="weights", kind="dense", activation="tanh", window=1, period=0.0,
                w0=np.zeros((4, OF_SLOT + OF_MACHINE)), b0=np.zeros(4),
            ),
            "its period is 0.0 s",
        ),
        (lambda file: damaged(file, w0=np.zeros((4, 9), complex)), "w0 of it is of another kind"),
        (lambda file: damaged(file, w0=np.full((4, 9), "1")), "w0 has weights that are not numbers"),
        (lambda file: damaged(file, more=np.zeros(9_000_000)), "it unpacks to more than 61 MiB"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_agent_is_told_so(damage: Any, said: str, tmp_path: Path) -> None:
    file = tmp_path / "agent.npz"
    network_of("shared", "choose", 4, 1).save(file)
    damage(file)
    with pytest.raises(HeadwayError, match=said):
        headway.simulate(log(5), M, str(file))


@pytest.mark.interpreted
def test_a_sweep_finds_agents_beside_its_file_and_knows_them_by_content(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    run = Headway(tmp_path, capsys, monkeypatch)
    agent = tmp_path / "there" / "mine.npz"
    weighing(waited=1.0).save(agent)
    text = '[[workload]]\nmodel = "lublin(jobs=60, procs=32, seed=1)"\n'
    (tmp_path / "there" / "sweep.toml").write_text(
        f'baseline = "easy"\nmetrics = ["mean_wait"]\n{text}[[policy]]\npolicy = "mine.npz"\n'
    )
    sweep = ("sweep", "there/sweep.toml", "--out", "out", "--workers", "1")
    first = run(*sweep)
    assert first.status == 0 and "2 cells run" in first.out + first.err, first.err
    assert "agent(file=mine.npz)" in first.out
    same = run(*sweep)
    assert "0 cells run" in same.out + same.err
    weighing(request=-1.0).save(agent)
    again = run(*sweep)
    assert "1 cell run, 1 were there" in again.out + again.err, "the agent is another one now"


def test_without_gymnasium_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("headway.gym")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs Gymnasium, the extra rl: pip install"):
        importlib.import_module("headway.gym")
