"""Slurm's own rules: the two loops of its controller, on named nodes, by priority and within limits."""
