"""Trains an agent with MaskablePPO of sb3-contrib and writes it as a policy.

    pip install 'headway[rl]' sb3-contrib            (brings PyTorch, which Headway itself does not need)
    python examples/train_ppo.py log.swf.gz --steps 600000 --task choose --out ppo.npz

Trains on the first 70 % of the log's time, with one small network that gives each slot of the queue a score
(RLScheduler's kernel network), on 64 sessions of a vector environment. Then it judges the agent on the weeks
behind that line.
"""

import argparse
import time

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.vec_env import VecEnv, VecNormalize
from torch import nn
from train_agent import SLOTS, judge

import headway
from headway.gym import SchedulingVectorEnv
from headway.policies.agent.features import OF_SLOT
from headway.policies.agent.network import OF_SCORE, Network

SESSIONS, JOBS, WINDOW = 64, 256, 16


class Sessions(VecEnv):
    """The vector environment as Stable-Baselines3 asks for it: a session that is over begins anew at once."""

    def __init__(self, many, seed):
        self.many, self.random = many, np.random.default_rng(seed)
        super().__init__(many.num_envs, many.single_observation_space, spaces.Discrete(WINDOW + 1))

    def reset(self):
        firsts = self.many.episodes.draw(self.random, self.num_envs)
        return self.many.reset(options={"firsts": firsts})[0]

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        seen, reward, done, _, _ = self.many.step(self.actions)
        told = [{} for _ in range(self.num_envs)]
        if done.any():
            for e in np.flatnonzero(done):
                told[e]["terminal_observation"] = seen[e]
            firsts = np.where(done, self.many.episodes.draw(self.random, self.num_envs), -1)
            seen = self.many.reset(options={"firsts": firsts})[0]
        return seen, reward, done, told

    def env_method(self, name, *arguments, indices=None, **more):
        return list(self.many.action_masks())

    def get_attr(self, name, indices=None):
        return [getattr(self.many, name)] * self.num_envs

    def set_attr(self, name, value, indices=None):
        setattr(self.many, name, value)

    def env_is_wrapped(self, wrapper, indices=None):
        return [False] * self.num_envs

    def close(self):
        pass


class Scores(nn.Module):
    """The actor's network, which gives each slot and waiting a score, and the critic's, which sees all."""

    latent_dim_pi, latent_dim_vf = WINDOW + 1, 64

    def __init__(self, seen):
        super().__init__()
        self.actor = nn.Sequential(
            nn.Linear(OF_SCORE, 32), nn.Tanh(), nn.Linear(32, 16), nn.Tanh(), nn.Linear(16, 1)
        )
        self.critic = nn.Sequential(nn.Linear(seen, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())

    def forward(self, seen):
        return self.forward_actor(seen), self.forward_critic(seen)

    def forward_actor(self, seen):
        slots = seen[:, : WINDOW * OF_SLOT].reshape(-1, WINDOW, OF_SLOT)
        slots = nn.functional.pad(slots, (0, 1, 0, 1))  # a last row to wait, and its mark
        slots[:, WINDOW, OF_SLOT] = 1.0
        machine = seen[:, None, WINDOW * OF_SLOT :].expand(-1, WINDOW + 1, -1)
        return self.actor(torch.cat([slots, machine], dim=2))[:, :, 0]

    def forward_critic(self, seen):
        return self.critic(seen)


class OneNetworkForAllSlots(MaskableActorCriticPolicy):
    """An actor whose scores are its last word."""

    def _build_mlp_extractor(self):
        self.mlp_extractor = Scores(self.features_dim)

    def _build(self, lr_schedule):
        super()._build(lr_schedule)
        self.action_net = nn.Identity()


def network_of(model, task):
    """The actor's layers as an agent's file holds them."""
    layers = [layer for layer in model.policy.mlp_extractor.actor if isinstance(layer, nn.Linear)]
    arrays = tuple(
        tuple(part.detach().numpy().astype(np.float64) for part in (layer.weight, layer.bias))
        for layer in layers
    )
    return Network(arrays, task=task, window=SLOTS, kind="shared", activation="tanh", may_wait=False)


def train(log, procs, task, steps, seed):
    """A model after so many decisions."""
    torch.manual_seed(seed)
    many = SchedulingVectorEnv(
        log,
        procs,
        sessions=SESSIONS,
        task=task,
        reward="bsld_change",
        jobs=JOBS,
        window=WINDOW,
        part="train",
        may_wait=False,
    )
    # Slowdowns differ by orders of magnitude: rewards are divided by their spread, as PPO needs it.
    env = VecNormalize(Sessions(many, seed), norm_obs=False, gamma=0.999)
    model = MaskablePPO(
        OneNetworkForAllSlots, env, n_steps=128, batch_size=1024, n_epochs=6, gamma=0.999, gae_lambda=0.97,
        learning_rate=lambda left: 1e-3 * left, seed=seed,
    )  # fmt: skip
    begun = time.perf_counter()
    model.learn(steps)
    print(f"{model.num_timesteps} decisions in {time.perf_counter() - begun:.0f} s")
    return model


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--steps", type=int, default=600_000)
    parser.add_argument("--task", choices=["choose", "backfill"], default="choose")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="ppo.npz")
    given = parser.parse_args()
    log = headway.read(given.log)
    procs = log.header.max_procs
    network_of(train(log, procs, given.task, given.steps, given.seed), given.task).save(given.out)
    judge(log, procs, [given.out, "easy", "easy(backfill=sjf)", "easy(order=f1)", "sjf", "fcfs"])
