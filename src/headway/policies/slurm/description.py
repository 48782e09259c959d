"""Slurm's own rules."""

from __future__ import annotations

from headway.policies.entry import Parameter, PolicyInfo

ENTRIES: tuple[PolicyInfo, ...] = (
    PolicyInfo(
        "slurm",
        "Slurm's main loop and backfill, by a site's own configuration",
        (
            "A. B. Yoo, M. A. Jette and M. Grondona, SLURM: simple Linux utility for resource management, "
            "JSSPP 2003, doi:10.1007/10968987_3",
        ),
        (
            Parameter(
                "seed",
                "of the phases of the controller's clocks and of its delays",
                default=0,
                number=int,
                low=0,
            ),
            Parameter(
                "epilog",
                "how long a node stays completing after a job's end, on average",
                default=1,
                number=float,
                low=0,
                unit="seconds",
            ),
            Parameter(
                "cycle",
                "how long a backfill cycle takes on average: it sleeps after it, so this moves the next one; "
                "by default as the site's sdiag.txt says, where it has one",
                default=0.2,
                number=float,
                low=0,
                unit="seconds",
                optional=True,
            ),
            Parameter(
                "late",
                "how late a backfill cycle is on average where something changed while it slept; by default "
                "as the site's sdiag.txt says, where it has one, and no more than this",
                default=20,
                number=float,
                low=0,
                unit="seconds",
                optional=True,
            ),
            Parameter(
                "drift",
                "how much longer than sched_interval the time between full passes is",
                default=0.5,
                number=float,
                low=0,
                unit="seconds",
            ),
            Parameter(
                "submit_limits",
                "whether MaxSubmitJobs and the like turn away a job that the log shows to have started: log "
                "(the site accepted it, so it is accepted) or enforced (the simulated queue decides)",
                default="log",
                choices=("log", "enforced"),
                optional=True,
            ),
            Parameter(
                "version",
                "whose rules and defaults these are, such as 24.11; by default as the site's config.txt or "
                "its log in JSON tells it, and 22.05 where nothing does",
                default="site",
                choices=("site",),
                number=float,
                low=20.02,
                high=99.11,
                optional=True,
            ),
        ),
        details=(
            "Two loops by their own clocks: the main one goes down the queue by priority and stops in "
            "each partition at the first job that does not fit, backfill plans every job it reaches on "
            "named nodes, again each time. Queue order, multifactor priority, fair tree, limits of QOS "
            "and accounts, and the choice of nodes are those of version 22.05, with what has changed up to "
            "26.05 by the site's version. Needs a site: "
            "partitions, nodes, accounts and parameters as it has them. The schedule says on which "
            "nodes, in which partition and by which loop each job started; explain tells its priority "
            "and Slurm's reason. Real Slurm never gives the same schedule twice, so run several seeds. "
            "late=20 is how the recorded runs are that the rules are held to: their virtual clock "
            "overshoots a sleeping backfill thread; late=0 is a controller that nothing delays. Where the "
            "site has sdiag.txt, it tells how long a cycle takes and how late it may be at most."
        ),
        example="slurm(seed=1)",
        example_on="cluster",
        home="headway.policies.slurm.policy:Slurm",
        needs=("a site: its folder, or --site DIR",),
    ),
)
