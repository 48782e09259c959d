"""A grid whose clusters run any policies of Headway: one simulation for each cluster, one clock over all.

The compiled grid next door knows batch systems that reserve a start for every job. Here a cluster is a run of
its policy's own hook, and the agent of :mod:`headway.policies.grid.middleware` asks servers in Python.

    driver     the clock: ends, arrivals, the reallocation event, then each cluster's turn
    server     estimate, submit and cancel for one cluster; the size of a moldable task is tuned
    cluster    the simulation of one cluster; jobs come and go while it runs
    foresight  a copy of a cluster that runs on alone, to see when a job is completed
    gathering  the clusters' tables as one, and what their policies noted
    setup      from a spec to all of this
"""
