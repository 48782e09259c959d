"""A grid of clusters under one middleware: an agent, and a server in front of each cluster's batch system.

    client ── task ──▶ agent ── submit, cancel, estimate ──▶ server ──▶ batch system of the cluster
                                                             (one for each cluster)

Y. Caniou, G. Charrier and F. Desprez, "Evaluation of reallocation heuristics for moldable tasks in
computational grids", AusPDC 2011.

    agent       maps arriving tasks and moves waiting ones; it knows the three requests and nothing else
    selection   which waiting task is next, by the heuristics
    notes       the agent's memory
    middleware  the same agent over servers written in Python, simulated or real
    server      the three requests, answered by the simulator's batch systems
    tuning      the search for the number of processors with which a task is completed first
    plan        the batch systems: conservative backfilling and FCFS, where every job has a reserved start
    estimator   EASY, which promises nothing, and how its completions are estimated
    molding     how long a task takes on n processors of a cluster
    fitting     which jobs a grid can run at all
    tables      where the simulator keeps what it knows of a grid
    policy      one instant of the whole grid
    local_policies  the policy of each cluster, and the processors it has under it
    moldability     what the log says of each job
    setup       from a spec to all of this
    composed    the same for clusters under any policies: one simulation each
"""
