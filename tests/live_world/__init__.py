"""A world from a seed: the agent, servers over scripted Slurms and machines, clients that try again, and what
goes wrong.

    PYTHONPATH=tests python -m live_world SEED [--count N] [--mutant NAME]

world     processes, messages, time and faults
disk      files of tables that lose what no fsync has reached
systems   scripted Slurms and machines, and the job scripts they run
checker   what clients were told against the marks that tasks left
mutants   faults that are planted on purpose
"""
