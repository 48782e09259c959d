"""Trains a small agent on the first 70 % of a log and judges it on weeks that it never saw.

    python examples/train_agent.py log.swf.gz [generations]

Evolution strategies (Salimans et al. 2017) with numpy alone: in each generation the weights are moved a
little in random directions and their opposites, each for some episodes of a vector environment, and then
towards those that did better. Writes agent.npz, which is a policy:
headway simulate log.swf.gz --policy agent.npz
"""

import sys
from itertools import pairwise

import numpy as np

import headway
from headway.campaign.intervals import quantile
from headway.gym import Episodes, SchedulingVectorEnv
from headway.policies.agent.features import OF_SLOT
from headway.policies.agent.network import OF_SCORE, from_flat
from headway.workload.transform import apply

WIDTHS = [OF_SCORE, 16, 1]
SIZE = sum(a * b + b for a, b in pairwise(WIDTHS))
PAIRS, EPISODES, JOBS, WINDOW = 16, 4, 128, 16
SLOTS = 128
"""The network scores any number of jobs: the policy looks at more of them than training does."""
STEP, SPREAD = 0.1, 0.15


def scores(seen, flat):
    """What the network of each session says of its slots; `flat` is [session, weight]."""
    count = len(seen)
    slots = seen[:, : WINDOW * OF_SLOT].reshape(count, WINDOW, OF_SLOT)
    machine = np.repeat(seen[:, None, WINDOW * OF_SLOT :], WINDOW + 1, axis=1)
    rows = np.zeros((count, WINDOW + 1, OF_SCORE))
    rows[:, :WINDOW, :OF_SLOT] = slots
    rows[:, WINDOW, OF_SLOT] = 1
    rows[:, :, OF_SLOT + 1 :] = machine
    hidden = WIDTHS[1]
    w0 = flat[:, : OF_SCORE * hidden].reshape(count, hidden, OF_SCORE)
    b0 = flat[:, OF_SCORE * hidden : OF_SCORE * hidden + hidden]
    w1 = flat[:, -hidden - 1 : -1]
    layer = np.tanh(np.matmul(rows, w0.transpose(0, 2, 1)) + b0[:, None, :])
    return np.matmul(layer, w1[:, :, None])[:, :, 0] + flat[:, -1:]


def returns(env, flat, firsts):
    """The sum of rewards of one episode in each session."""
    seen, info = env.reset(options={"firsts": firsts})
    total, going = np.zeros(env.num_envs), np.ones(env.num_envs, bool)
    while going.any():
        open_now = np.where(info["action_mask"] > 0, scores(seen, flat), -np.inf)
        seen, reward, done, _, info = env.step(open_now.argmax(axis=1))
        total += np.where(going, reward, 0)
        going &= ~done
    return total


def train(log, procs, generations, seed=0):
    """The weights after so many generations."""
    random = np.random.default_rng(seed)
    env = SchedulingVectorEnv(
        log,
        procs,
        sessions=2 * PAIRS * EPISODES,
        task="choose",
        reward="bsld",
        jobs=JOBS,
        window=WINDOW,
        part="train",
        may_wait=False,
    )
    weights = random.normal(0, 0.3, SIZE)
    for generation in range(generations):
        moves = random.normal(0, 1, (PAIRS, SIZE))
        tried = weights + SPREAD * np.concatenate([moves, -moves])
        # Every candidate has the same episodes: session e of each block begins where the others do.
        firsts = np.tile(env.episodes.draw(random, EPISODES), 2 * PAIRS)
        gained = returns(env, np.repeat(tried, EPISODES, axis=0), firsts).reshape(2 * PAIRS, EPISODES)
        rank = gained.mean(axis=1).argsort().argsort() / (2 * PAIRS - 1) - 0.5
        weights += STEP / (PAIRS * SPREAD) * (rank[:PAIRS] - rank[PAIRS:]) @ moves
        if generation % 10 == 0:
            print(f"generation {generation}: mean bounded slowdown {-gained.mean() / JOBS:.1f}", flush=True)
    return weights


def judge(log, procs, policies):
    """Mean bounded slowdown of each policy on the test weeks, and how far it is from the first."""
    weeks = Episodes(log, 1, "test").weeks() or [apply(log, "part(which=test)")]
    figures = {
        policy: np.array([headway.simulate(week, procs, policy).summary()["mean_bsld"] for week in weeks])
        for policy in policies
    }
    first = figures[policies[0]]
    print(f"weeks that training never saw: {len(weeks)}; mean bounded slowdown, difference to {policies[0]}")
    for policy, values in figures.items():
        apart = values - first
        line = f"{policy:24} {values.mean():9.2f}   {apart.mean():+9.2f}"
        if len(weeks) > 1:
            half = quantile(0.95, len(weeks) - 1) * apart.std(ddof=1) / np.sqrt(len(weeks))  # Student's
            line += f" ± {half:.2f}   worse in {(apart > 0).sum()} weeks"
        print(line)


if __name__ == "__main__":
    path, generations = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    log = headway.read(path)
    procs = log.header.max_procs
    network = from_flat(train(log, procs, generations), WIDTHS, task="choose", window=SLOTS, may_wait=False)
    network.save("agent.npz")
    judge(log, procs, ["agent.npz", "easy", "easy(backfill=sjf)", "easy(order=f1)", "sjf", "fcfs"])
