"""EASY backfilling as a policy of your own, in plain Python.

    headway simulate log.swf.gz --policy ./examples/easy_in_python.py:easy
    headway simulate log.swf.gz --policy './examples/easy_in_python.py:Easy(order=walltime)'

The first job that cannot start is the head; it gets a reservation at the shadow time, when enough of the
running jobs will have ended at the latest. A job behind it may start now if it is over by then, or if it
needs only processors that are free then besides the head's. Times are whole microseconds.
"""


def easy(view):
    """Called once per pass; answers with the jobs to start. The same schedule as the built-in easy."""
    return backfill(view, list(view.waiting))


def backfill(view, queue):
    """One pass of EASY over a queue, a list of jobs in scheduling order."""
    free, starts = view.free, []
    while queue and queue[0].procs <= free:
        free -= queue[0].procs
        starts.append(queue.pop(0))
    if not queue or not free:
        return starts
    head = queue.pop(0)

    ends = [(job.expected_end, job.procs) for job in view.running]
    ends += [(view.now + job.walltime, job.procs) for job in starts]
    room, shadow = free, view.now
    for end, procs in sorted(ends):
        if room >= head.procs and end > shadow:
            break
        room, shadow = room + procs, end
    extra = room - head.procs

    for job in queue:
        if job.procs <= free:
            in_time = view.now + job.walltime <= shadow
            if in_time or job.procs <= extra:
                free -= job.procs
                extra -= 0 if in_time else job.procs
                starts.append(job)
    return starts


class Easy:
    """The same as a class, with the order of the queue as a parameter: the name of a column."""

    def __init__(self, order="submit"):
        self.order = order

    def decide(self, view):
        return backfill(view, sorted(view.waiting, key=lambda job: getattr(job, self.order)))
