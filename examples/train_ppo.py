"""Trains an agent with MaskablePPO of sb3-contrib and writes it as a policy.

    pip install sb3-contrib            (brings PyTorch, which Headway itself does not need)
    python examples/train_ppo.py log.swf.gz 200000

Trains on the first 70 % of the log's time, writes ppo.npz and judges it on the weeks behind that line.
"""

import sys

import numpy as np
from sb3_contrib import MaskablePPO
from torch import nn
from train_agent import judge

import headway
from headway.gym import SchedulingEnv
from headway.policies.agent.network import Network

WINDOW = 16


def network_of(model):
    """The actor's layers as an agent's file holds them."""
    actor = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
    layers = [layer for layer in actor if isinstance(layer, nn.Linear)]
    arrays = tuple(
        tuple(part.detach().numpy().astype(np.float64) for part in (layer.weight, layer.bias))
        for layer in layers
    )
    return Network(arrays, task="backfill", window=WINDOW, kind="dense", activation="tanh")


if __name__ == "__main__":
    path, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200_000
    log = headway.read(path)
    procs = log.header.max_procs
    env = SchedulingEnv(log, procs, task="backfill", reward="bsld", jobs=128, window=WINDOW, part="train")
    options = {"net_arch": [64, 64], "activation_fn": nn.Tanh}
    model = MaskablePPO("MlpPolicy", env, policy_kwargs=options, n_steps=1024, gamma=1.0, seed=0, verbose=0)
    model.learn(steps)
    network_of(model).save("ppo.npz")
    judge(log, procs, ["ppo.npz", "easy", "easy(backfill=sjf)", "easy(order=f1)", "sjf", "fcfs"])
