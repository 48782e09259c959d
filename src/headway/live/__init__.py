"""The middleware as processes: clients, an agent, and a server in front of each cluster's batch system.

    client ── task ──▶ agent ── estimate, submit, cancel ──▶ server ──▶ Slurm, real processes, a simulation

The agent is the one that simulations have (:mod:`headway.policies.grid.agent`), over servers in other
processes. What it is about to do stands in its journal first; what a batch system did is read from it.

    task        what a client asks for: a command, its sizes, its walltime
    grid_file   GRID.toml: the clusters, what may be done to them, where everything is kept
    wire        requests as JSON over a Unix socket, or over TCP with a token and TLS
    journal     the agent's memory on disk
    script      the job script with its fence, which lets a task run once
    batch       a policy of Headway as the scheduler of a cluster whose jobs end when they end
    processes   jobs as processes of this machine
"""
