"""Who is looked at: limits, dependencies and holds, priority, Slurm's list of jobs."""
