"""A grid whose clusters run any policies of Headway: one simulation for each cluster, one clock over all.

The grid next door knows batch systems that reserve a start for every job. Here a cluster is a run of its
policy's own hook, which is found by its address, so that one compiled loop serves all policies.

    loop       the clock, compiled: ends, arrivals, the reallocation event, then each cluster's turn
    requests   estimate, submit and cancel for the clusters; the size of a moldable task is tuned
    copies     a copy of a cluster that runs on alone, to see when a job is completed
    sites      where all of this finds the tables of the clusters
    driver     makes the tables, and larger ones when the loop asks
    cluster    the simulation of one cluster in Python, which live clusters use too
    foresight  a copy of such a one
    gathering  the clusters' tables as one, and what their policies noted
    setup      from a spec to all of this
"""
