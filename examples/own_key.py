"""Orders and estimates of your own: a function of a job, and perhaps of now, that gives a number.

    headway simulate log.swf.gz --policy 'easy(order=./examples/own_key.py:area)'
    headway simulate log.swf.gz --policy 'easy(backfill=./examples/own_key.py:urgency)'
    headway simulate log.swf.gz --policy 'easy(estimate=./examples/own_key.py:shaved(share=0.8))'

Smaller keys go first. Times are in seconds.
"""


def area(job):
    """Smallest first; it does not change with time, so it is computed once for each job."""
    return job.walltime * job.procs


def urgency(job, now):
    """The longest wait for its walltime first; it changes with time, so it is computed at each pass."""
    return -(now - job.submit) / max(job.walltime, 1.0)


def shaved(job, share=0.5):
    """An estimate: what the scheduler plans with, in seconds. Jobs are still killed at their walltime."""
    return share * job.walltime
