"""Slurm by its commands: squeue to look, sbatch, scontrol and scancel to act.

commands  runs them with a time limit of our own; no answer is no answer, never an empty queue
nodes     what sinfo prints: which nodes are down or drained
queue     what squeue prints, as jobs
server    the requests of the agent
steered   the same, where a policy of Headway decides on starts
"""
