"""A cluster of this machine's own: so many slots, a policy of Headway, jobs as real processes.

The queue is on disk and jobs outlive the server: one that was killed goes on where it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway import __version__
from headway.campaign.identity import source_digests
from headway.errors import HeadwayError, UsageError
from headway.live import outside
from headway.live.batch import Act, Batch
from headway.live.engine import Job
from headway.live.grid_file import Grid, Site
from headway.live.local_queue import LIVE, Entry, LocalQueue
from headway.live.processes import Processes
from headway.live.script import FENCED, NO_FENCE, Fence, job_script, read_fence, remove_fence
from headway.live.server import SEARCH, ClusterServer, check_acts, widest
from headway.live.spans import KILL, RESUME, START, STOP, SUSPEND, moved, noted, time_suspended
from headway.live.task import Task
from headway.live.wire import Refused
from headway.plain import counted
from headway.policies.grid.notes import NO_ANSWER, STARTED
from headway.units import NEVER, SECOND

PATIENCE = 2 * SECOND
"""A held job whose turn has come keeps its processors so long; then it stands at the end of the queue."""
LATE = SECOND // 20
"""Who is later than this sets the clock back (µs)."""
OLDEST = 0.5
"""Seconds between two looks at processes that were started by an earlier server."""
STOPPED = 0.5
"""Seconds between two looks at the switch of a grid that is stopped."""


def _in_order(running: Mapping[int, tuple[int, Job]]) -> list[tuple[int, str, int]]:
    """The submissions that lead to the state in which these jobs run."""
    order = sorted(running, key=lambda number: (running[number][0], number))
    return [(running[number][0], "submit", number) for number in order]


class LocalServer(ClusterServer):
    """The embedded batch system."""

    def __init__(self, grid: Grid, site: Site, control: bool) -> None:
        super().__init__(grid, site, control)
        check_acts(grid, site)
        self.folder = grid.folder / site.name
        self.queue = LocalQueue(self.folder / "queue.db", outside.now() // SECOND * SECOND)
        if not control and self.queue.live():
            self.queue.close()
            raise Refused(f"cluster {site.name} has tasks, which its server runs; start it with --control")
        self.processes = self._processes()
        Batch.warm(site.cluster, site.policy)
        self.batch = self._new_batch()
        sources, rows = source_digests(site.policy), len(self.batch.engine.state.jobs)
        self._kind = f"headway {__version__}, {site.policy} {sources}, {site.cluster}, {rows} rows"
        """What must be the same for what is on disk to be gone on with."""
        self.entries: dict[int, Entry] = {}
        """Jobs that are not over."""
        self.asked: set[str] | None = None
        """Jobs of which the agent does not know yet that they are over; None: it has not asked yet."""
        self._clocks = outside.now(), outside.steady()
        """As they were last read: this machine's, and one that nobody can set."""
        self._failed: HeadwayError | None = None
        """What could not be done of what was decided: it is tried again."""
        self._recover()

    def _new_batch(self) -> Batch:
        return Batch(self.site.cluster, self.site.policy, may_stop="requeue" in self.grid.allow)

    def handle(self, request: str, data: dict[str, Any]) -> Any:
        """Answer a request; each is answered from what is on disk."""
        with self.lock:
            self._read_again()
            return super().handle(request, data)

    def _read_again(self) -> None:
        """Where something could not be written, be as a server that begins now: the policy knows nothing, and
        nothing is done, but what is on disk."""
        if not self.queue.lost:
            return
        try:
            self.queue.read_again()
            self.batch, self.entries = self._new_batch(), {}
            self._recover()
        except HeadwayError:
            self.queue.lost = True
            raise

    def _processes(self) -> Processes:
        """What runs the jobs."""
        return Processes()

    # ---- time ---------------------------------------------------------------------------------------------

    @property
    def now(self) -> int:
        """µs on the cluster's clock, which does not go back, and stands still while nobody looks after it."""
        return max(self._wall, self.batch.now, 0)

    @property
    def _wall(self) -> int:
        """The same by this machine's clock alone."""
        return outside.now() - self.queue.epoch - self.queue.stood

    def unix(self, t: int) -> int:
        """An instant of the cluster's clock, from the present on, in µs since 1970."""
        return t + self.queue.epoch + self.queue.stood if t < NEVER else NO_ANSWER

    def _look(self) -> None:
        """Let the policy do what is due.

        Who comes too late, as after a pause or a restart, sets the clock back to what was due first: a job
        that starts now has its whole walltime before it, not what is left since it should have started.
        """
        self._follow_clock()
        lags = [self._lag(entry) for entry in self.entries.values() if entry.state == "running"]
        passed = self._wall - max(self.batch.now, self.batch.seen_at)
        if (lag := min(max(lags, default=0), passed)) > 0:
            self.queue.stand(lag)
        behind = max(self.batch.now, self.batch.seen_at) - self._wall
        if behind > LATE:  # it was set back while no server looked
            self._go_on(-behind)
        late = self.now - self.batch.following
        if late > LATE:
            self.queue.stand(late)
        self.batch.look(self.now)

    def _lag(self, entry: Entry) -> int:
        """How much later than its policy has it a job begins: one that a server that was killed has not
        started, or that cannot be started yet, has its whole walltime when it is."""
        is_there = entry.pid is not None or self._begun(entry) is not None
        return 0 if is_there else self._wall - (entry.started or 0)

    def _follow_clock(self) -> None:
        """See whether this machine's clock was set."""
        (wall, steady), self._clocks = self._clocks, (outside.now(), outside.steady())
        step = self._clocks[0] - wall - round((self._clocks[1] - steady) * SECOND)
        if abs(step) > LATE:
            self._go_on(step)

    def _go_on(self, step: int) -> None:
        """Let the cluster's clock go on where this machine's was set by so much.

        Nothing waits until an hour has come again, nothing is killed before its time, and what runs began at
        another time by the new clock.
        """
        self.queue.stand(step)
        for entry in list(self.entries.values()):
            if entry.began is not None:
                self._set(entry, began=entry.began + step)
            if spans := self.queue.spans(entry.number):
                self.queue.set_spans(entry.number, moved(spans, step))

    def tick(self) -> float:
        """See which jobs have ended, and let the policy do what is due; nothing while the grid is stopped."""
        with self.lock:
            if self.guard.stopped:
                return STOPPED
            self._read_again()
            self._look()
            self._carry_out()
            adopted = self._see_ends()
            self._carry_out()
            self.processes.forget_others({entry.pid for entry in self.entries.values()})
            self._forget()
            wait = (self.batch.following - self.now) / SECOND if self.batch.following < NEVER else 60.0
            dying = self.processes.tend()
            failed, self._failed = self._failed, None
            if failed is not None:
                raise failed
        waits = [wait, 60.0, OLDEST if adopted else 60.0, 60.0 if dying is None else dying]
        return max(0.001, min(waits))

    def _see_ends(self) -> bool:
        """Tell the policy what has ended; whether there are processes of an earlier server."""
        adopted = False
        for entry in [each for each in self.entries.values() if each.state == "running"]:
            if entry.pid is None:
                try:
                    self._find_process(entry)
                except UsageError as error:  # the ends of others are seen all the same
                    self._failed = self._failed or error
                adopted = True
            elif not self.processes.is_alive(entry.pid, entry.name):
                self._ended(entry)
            else:
                adopted |= not self.processes.is_own(entry.pid)
        return adopted

    def _begun(self, entry: Entry) -> Fence | None:
        """What the fence of a job says; None: it has not begun."""
        return read_fence(self.grid.fence / entry.fence)

    def _find_process(self, entry: Entry) -> None:
        """A job that was started before has its process in its fence, as soon as that is written."""
        fence = self._begun(entry)
        if fence is None:
            self._launch(entry)
        elif fence.code is not None or fence.pid is not None:
            self._set(entry, pid=fence.pid or 0)

    def _ended(self, entry: Entry) -> None:
        """A job has ended by itself, or somebody else killed it."""
        fence = self._begun(entry)
        code = self.processes.code(entry.pid or 0)
        here = fence is not None and fence.cluster == self.site.name
        if code == FENCED and here and fence is not None and fence.pid != entry.pid:
            self._set(entry, pid=fence.pid)  # this was a second copy: the first one is the job
            return
        if fence is not None and fence.code is not None and (here or code != FENCED):
            code = fence.code
        if code == NO_FENCE and fence is None:
            self._set(entry, pid=None)
            why = f"nothing can be written to {self.grid.fence}; free space there, it is tried again"
            self._failed = self._failed or UsageError(f"{entry.name} cannot be started: {why}")
            return
        state = "fenced" if code == FENCED else "done" if code == 0 else "failed"
        if code is None:
            state = self.processes.fate(entry.pid or 0, entry.name)
        at = self._end(entry, self._exact_end(entry))
        if self.batch.knows(entry.number) and self.batch.phase(entry.number) == "done":
            at = min(at, self.batch.ended(entry.number))  # at its walltime, where that had passed meanwhile
        if state != "fenced":  # the task itself runs elsewhere then
            self.processes.clear(entry.pid or 0, entry.name)
        self._set(entry, state=state, ended=self._told_end(entry, at, fence), code=code, pid=None)
        self.batch.close()

    def _end(self, entry: Entry, t: int) -> int:
        """Tell the policy that a job ended at ``t``; the instant, which is open then."""
        at = self.batch.end(entry.number, t)
        self.queue.note(at, "end", entry.number)
        return at

    def _told_end(self, entry: Entry, at: int, fence: Fence | None) -> int:
        """When a job that the policy heard of at an instant ended (µs since 1970).

        It was heard of long after, as on a disk that was full meanwhile: then its fence knows better.
        """
        told = self.unix(at)
        if fence is None or fence.ended is None or entry.began is None:
            return told
        ended = entry.began + fence.ended - fence.started
        return ended if entry.began <= ended < told - PATIENCE else told

    def _exact_end(self, entry: Entry) -> int:
        """Now, or some µs later: the run time is to be that of the task's own size x the factor of this one,
        rounded up, as everywhere."""
        shape = self._job_of(entry).shape
        begun = (entry.began or 0) - self.queue.epoch - self.queue.stood
        begun += time_suspended(self.queue.spans(entry.number), entry.runs)
        own = -(-(self.now - begun) * shape.over // shape.by)
        return begun + shape.time(own)

    # ---- what the policy decides --------------------------------------------------------------------------

    def _carry_out(self) -> None:
        """Write down what the policy decided, then do it.

        Once it is written, what cannot be done at once does not undo it, nor the request that led to it.
        """
        acts = self.batch.acts()
        if not acts:
            self.queue.commit()
            return
        doing = [(act, self._write(act)) for act in acts]
        self.queue.commit()
        for act, entry in doing:
            try:
                if entry is not None:
                    self._do(act, entry)
            except HeadwayError as error:  # the others are done all the same
                self._failed = self._failed or error
        try:
            self.queue.commit()
        except Refused as error:
            self._failed = self._failed or error

    def _write(self, act: Act) -> Entry | None:
        """Note an act; the job as it was before it."""
        entry = self.entries.get(act.job)
        if entry is None:
            return None
        if act.kind in (SUSPEND, RESUME, STOP):
            self._note_span(act, entry)
        if act.kind == START:
            state = "due" if entry.held else "running"
            self._set(entry, state=state, started=act.at, began=self.unix(act.at), why=act.why, pool=act.pool)
        elif act.kind == RESUME:
            self._set(entry, state="running")
        elif act.kind == SUSPEND:
            self._set(entry, state="suspended")
        elif act.kind == STOP:
            runs = entry.runs + 1
            self._set(entry, state="waiting", runs=runs, fence=f"{entry.fence.partition('+')[0]}+{runs}")
        elif act.kind == KILL and entry.state == "due":  # its walltime has passed, and nobody let it go
            self._join_again(entry)
            return None
        elif act.kind == KILL:
            self._set(entry, state="killed", ended=self.unix(act.at))
        return entry

    def _note_span(self, act: Act, entry: Entry) -> None:
        at, spans = self.unix(act.at), self.queue.spans(entry.number)
        began = at if entry.began is None else entry.began
        self.queue.set_spans(entry.number, noted(spans, act.kind, entry.runs, began, at))

    def _do(self, act: Act, entry: Entry) -> None:
        if act.kind == START and not entry.held:
            self._launch(self.entries.get(act.job, entry))
        elif entry.pid is None:
            return
        elif act.kind == SUSPEND:
            self.processes.suspend(entry.pid, entry.name)
        elif act.kind == RESUME:
            self.processes.resume(entry.pid, entry.name)
        elif act.kind == STOP:
            self.processes.kill(entry.pid, entry.name)
            self.queue.set(entry.number, pid=None)
        elif act.kind == KILL:
            fence = self._begun(entry)
            if fence is not None and fence.code is not None:  # it ended just before its walltime
                state = "done" if fence.code == 0 else "failed"
                ended = self._told_end(entry, act.at, fence)
                self.queue.set(entry.number, state=state, code=fence.code, ended=ended)
            self.processes.end(entry.pid, entry.name)

    def _launch(self, entry: Entry) -> None:
        """Start the process of a job, unless its fence says that it has started."""
        if self._begun(entry) is not None:
            if entry.pid:  # it was suspended, and its policy has begun anew
                self.processes.bring_to("running", entry.pid, entry.name)
            return  # its process is found when somebody looks for its end
        self.grid.fence.mkdir(parents=True, exist_ok=True, mode=0o700)
        pid, began = self._start(entry), self.unix(entry.started or 0)
        is_late = abs(began - (entry.began or 0)) > LATE
        self._set(entry, pid=pid, **({"began": began} if is_late else {}))

    def _start(self, entry: Entry) -> int:
        """Start the process of a job; its number."""
        script = self.folder / "scripts" / entry.name
        task, fence = entry.parsed, self.grid.fence / entry.fence
        try:
            script.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Plainly written: nobody reads it before it is whole, and it is written anew when that failed.
            text = job_script(task, fence, entry.fence, entry.procs, self.site.name)
            script.write_text(text, "utf-8", "surrogateescape")
            return self.processes.launch(script, self.folder / "output" / f"{entry.fence}.out")
        except OSError as error:
            why = error.strerror or error
            raise UsageError(
                f"{entry.name} cannot be started: {error.filename or script}: {why}; it is tried again"
            ) from None

    def _set(self, entry: Entry, **columns: Any) -> None:
        self.queue.set(entry.number, **columns)
        fresh = self.queue.job(entry.number)
        if fresh.state in LIVE:
            self.entries[entry.number] = fresh
        else:
            self.entries.pop(entry.number, None)

    # ---- after a restart ----------------------------------------------------------------------------------

    def _recover(self) -> None:
        """Bring the policy to where it was, and the jobs to where it wants them."""
        anew = not self._restore()
        for at, kind, number in self.queue.events():
            if kind == "end":
                self.batch.end(number, at)
            else:
                self.batch.open(at)
            if kind == "submit":
                self.batch.submit(number, self._job_of(self.queue.job(number)))
            elif kind == "cancel":
                self.batch.cancel(number)
            self.batch.close()
        self.batch.acts()
        self.entries = {entry.number: entry for entry in self.queue.live()}
        if anew:
            self._check_places()
        for entry in list(self.entries.values()):
            act = self._missed(entry, self.batch.phase(entry.number))
            if act is not None:
                self._write(act)
                self._do(act, entry)
        self.queue.commit()
        self._repeat()
        for entry in self.queue.stragglers():
            fence = self._begun(entry)
            if fence is not None and fence.code is not None and entry.began is not None:
                # It was to be ended, but ended by itself while no server was there to do it.
                ended = entry.began + (fence.ended or fence.started) - fence.started
                state = "done" if fence.code == 0 else "failed"
                self.queue.set(entry.number, state=state, code=fence.code, ended=ended)
            if entry.pid and self.processes.is_alive(entry.pid, entry.name):
                self.processes.end(entry.pid, entry.name)
            else:
                self.processes.clear(0, entry.name)
            self.queue.set(entry.number, pid=None)
        self.queue.commit()

    def _repeat(self) -> None:
        """Do once more what was written down, and perhaps not done, when the server was killed."""
        for entry in list(self.entries.values()):
            if not entry.pid or not self.processes.is_alive(entry.pid, entry.name):
                continue
            if entry.state == "waiting":  # a run that was given up
                self.processes.kill(entry.pid, entry.name)
                self._set(entry, pid=None)
            elif self.queue.spans(entry.number):  # who was never suspended by the policy is not resumed by it
                self.processes.bring_to(entry.state, entry.pid, entry.name)

    def _restore(self) -> bool:
        """Begin with the plan that was written down, if there is one.

        Another version, policy or cluster would decide otherwise on the same events. Then the answer is
        False: what runs goes on, and what waits joins the queue again in its order.
        """
        kind, plan = self.queue.plan()
        if kind == self._kind:
            if plan:
                self.batch.restore(plan, lambda number: self._job_of(self.queue.job(number)))
            return True
        self.entries = {entry.number: entry for entry in self.queue.live()}
        running, now = self._running(), max(self._wall, 0)
        waiting = [(now, "submit", number) for number in self.entries if number not in running]
        self.queue.begin_anew([*_in_order(running), *waiting], self._kind)
        return False

    def _check_places(self) -> None:
        """Refuse a policy or a cluster on which jobs that run would wait, or others for ever."""
        widest_job = widest(self.site.policy, self.site.cluster)
        for entry in self.entries.values():
            stopped = entry.state == "running" and self.batch.phase(entry.number) == "waiting"
            if stopped or entry.procs > widest_job:
                self.queue.close()
                size = counted(entry.procs, "processor")
                raise Refused(
                    f"cluster {self.site.name}: {entry.name} has {size} there, and no place under the new "
                    "policy or procs; put the old ones back until it has ended"
                )

    def _missed(self, entry: Entry, phase: str) -> Act | None:
        """What the policy had decided about a job, and nobody wrote down."""
        at = self.batch.now
        if phase == "running" and entry.state == "waiting":
            return Act(START, entry.number, self.batch.planned(entry.number)[0])
        if phase == "running" and entry.state == "suspended":
            return Act(RESUME, entry.number, at)
        if phase == "suspended" and entry.state == "running":
            return Act(SUSPEND, entry.number, at)
        if phase == "waiting" and entry.state == "running":
            return Act(STOP, entry.number, at)
        if phase == "done":
            return Act(KILL, entry.number, at)
        return None

    def _forget(self) -> None:
        """Keep neither the policy's tables nor the file growing for ever."""
        if self.batch.drop_over():
            self.queue.begin_anew([], self._kind, self.batch.saved())
        elif not self._forget_past():
            return
        for entry in [] if self.asked is None else self.queue.forget(self.grid.keep, self.asked):
            (self.folder / "scripts" / entry.name).unlink(missing_ok=True)
            (self.folder / "output" / f"{entry.fence}.out").unlink(missing_ok=True)
            if "+" in entry.fence:
                remove_fence(self.grid.fence / entry.fence)
        self.queue.commit()

    def _forget_past(self) -> bool:
        """The same under a policy whose jobs cannot leave the tables while others wait: when none does."""
        running = self._running()
        if len(running) < len(self.entries) or not self.batch.forget_past(running):
            return False
        self.queue.begin_anew(_in_order(running), self._kind)
        return True

    def _running(self) -> dict[int, tuple[int, Job]]:
        """The jobs that run, each with the instant at which it started."""
        return {
            entry.number: (entry.started or 0, self._job_of(entry))
            for entry in self.entries.values()
            if entry.state == "running"
        }

    # ---- requests -----------------------------------------------------------------------------------------

    def _job_of(self, entry: Entry) -> Job:
        return self._job(entry.parsed, entry.procs)

    def _job(self, task: Task, procs: int) -> Job:
        return Job.of(task, self.shapes.shape(task, procs), None, self.queue.epoch + self.queue.stood)

    def _tuned(self, task: Task) -> tuple[int, int]:
        return self.shapes.tuned(task, lambda procs: self.batch.tried(self._job(task, procs)), SEARCH)

    def _catch_up(self) -> None:
        if self.guard.stopped:
            return
        self._look()
        self._carry_out()
        self._see_ends()
        self._carry_out()

    def estimate(self, name: str, task: dict[str, Any]) -> dict[str, Any]:
        self._catch_up()
        entry = self.queue.named(name) if name else None
        if entry is not None and entry.state != "cancelled":
            waits = entry.state == "waiting" or (entry.state == "due" and entry.held)
            if entry.runs or not waits:  # one that was stopped runs here again
                return {"completion": STARTED, "procs": 0}
            return self._answer(entry)
        asked = Task.from_json(task)
        completion, procs = self._tuned(asked)
        if completion == NO_ANSWER:
            return {"completion": NO_ANSWER, "procs": 0}
        start = completion - self.shapes.walltime(asked, procs)
        return {"completion": self.unix(completion), "procs": procs, "start": self.unix(start)}

    def _answer(self, entry: Entry) -> dict[str, Any]:
        start, completion = self.batch.planned(entry.number)
        task = entry.parsed
        answer = {
            "completion": self.unix(completion),
            "procs": entry.procs,
            "start": self.unix(start),
            "walltime": self.shapes.walltime(task, entry.procs),
        }
        promise = self.batch.promise(entry.number)
        if promise is not None and self.batch.prepared.promise_kind == "end":
            answer["latest_end"] = self.unix(promise)
        return answer

    def submit(self, name: str, fence: str, task: dict[str, Any]) -> dict[str, Any]:
        known = self.queue.named(name)
        if known is not None:
            waits = known.number in self.entries
            return self._answer(known) if waits else {"completion": STARTED, "procs": 0}
        self.guard.permit("submit")
        self._catch_up()
        asked = Task.from_json(task)
        completion, procs = self._tuned(asked)
        if completion == NO_ANSWER:
            raise self.cannot_run(asked)
        now = self.now
        entry = self.queue.add(name, fence, asked.text(), procs, now)
        if self.asked is not None:
            self.asked.add(name)
        self.batch.open(now)
        now = self.batch.now
        self.queue.note(now, "submit", entry.number)
        self.entries[entry.number] = entry
        self.batch.submit(entry.number, self._job(asked, procs))
        self.batch.close()
        self._carry_out()
        return self._answer(self.entries[entry.number])

    def release(self, name: str) -> dict[str, Any]:
        entry = self._named(name)
        if not entry.held or entry.number not in self.entries:
            return {"released": True}
        self.guard.permit("submit")
        self._catch_up()
        if entry.number not in self.entries:  # somebody has taken it back meanwhile
            return {"released": True}
        entry = self.entries[entry.number]
        self._set(entry, held=0)
        if entry.state == "due":
            if self.now - (entry.started or 0) <= PATIENCE:
                self._set(entry, state="running")
                self.queue.commit()
                self._launch(self.entries[entry.number])
            else:
                self._end(entry, self.now)
                self.batch.close()
                self._join_again(entry)
        self._carry_out()
        return {"released": True}

    def _join_again(self, entry: Entry) -> None:
        """Let a job that has not begun stand at the end of the queue."""
        self._set(entry, state="waiting", started=None, began=None)
        self.batch.open(self.now)
        self.queue.note(self.batch.now, "submit", entry.number)
        self.batch.submit(entry.number, self._job_of(entry))
        self.batch.close()

    def cancel(self, name: str) -> dict[str, Any]:
        entry = self.queue.named(name)
        if entry is None or entry.state == "cancelled":
            # Whoever cancels a name that never came must not see it come later.
            return {"gone": True}
        self._catch_up()
        entry = self.queue.job(entry.number)
        if entry.state == "due" and entry.held:
            self.guard.permit("cancel")
            self._end(entry, self.now)
        elif entry.state == "waiting" and entry.runs == 0:
            self.guard.permit("cancel")
            self.batch.open(self.now)
            gone = self.batch.cancel(entry.number)
            self.queue.note(self.batch.now, "cancel" if gone else "turn", entry.number)
            if not gone:
                self.batch.close()
                self._carry_out()
                return {"gone": False}
        else:
            return {"gone": False}
        self._set(entry, state="cancelled", ended=self.unix(self.batch.now))
        self.batch.close()
        self._carry_out()
        return {"gone": True}

    def kill(self, name: str) -> dict[str, Any]:
        if self.cancel(name)["gone"]:
            return {"gone": True}
        entry = self._named(name)
        if entry.number not in self.entries:
            return {"gone": entry.state == "fenced"}  # one that ran to its end is not gone: it is over
        if entry.state == "suspended" and entry.pid is not None:
            raise Refused(f"{name} is suspended for an urgent job; it can be killed when it runs again")
        self.guard.permit("kill")
        fence = self._begun(entry)
        if fence is not None and fence.code is not None:  # it has ended by itself since somebody looked
            return {"gone": False}
        at = self._end(entry, self.now)
        self._set(entry, state="cancelled", ended=self.unix(at))
        self.batch.close()
        self.queue.commit()
        if entry.pid:
            self.processes.end(entry.pid, entry.name)
        self._carry_out()
        return {"gone": True}

    def poll(self, names: list[str], prefix: str = "") -> dict[str, Any]:
        self._catch_up()
        if prefix:
            self.asked = set(names)
        jobs = {name: self._state(self.queue.named(name)) for name in names}
        ours = [entry.name for entry in self.entries.values() if prefix and entry.name.startswith(prefix)]
        others = [name for name in ours if name not in jobs]
        return {"jobs": jobs, "others": others, "now": self.unix(self.now)}

    def _state(self, entry: Entry | None) -> dict[str, Any]:
        if entry is None:
            return {"state": "absent"}
        state = entry.state
        if state in ("waiting", "due"):
            state = "held" if entry.held else "waiting"
        found = {"state": state, "procs": entry.procs, "code": entry.code}
        if entry.state not in ("waiting", "due"):
            found |= {"started": entry.began, "ended": entry.ended}
            found |= {"runs": entry.runs, "why": entry.why, "pool": entry.pool}
        spans = self.queue.spans(entry.number)
        if spans:
            found["spans"] = spans
        if spans and entry.state in ("waiting", "suspended"):  # what was told when it came holds no more
            start, completion = self.batch.planned(entry.number)
            found |= {"start": self.unix(start), "completion": self.unix(completion)}
        return found

    def picture(self) -> dict[str, Any]:
        self._catch_up()
        jobs = []
        for entry in self.entries.values():
            start, completion = self.batch.planned(entry.number)
            running = entry.state in ("running", "suspended")
            jobs.append(
                {
                    "name": entry.name,
                    "state": "held" if entry.held and not running else entry.state,
                    "procs": entry.procs,
                    "start": entry.began if running else self.unix(start),
                    "completion": self.unix(completion),
                }
            )
        return {"procs": sum(self.batch.pools), "jobs": jobs, "now": self.unix(self.now)}

    def _named(self, name: str) -> Entry:
        entry = self.queue.named(name)
        if entry is None:
            raise Refused(f"{self.site.name} knows no job {name}")
        return entry

    def stop(self) -> None:
        with self.lock:
            self.queue.commit()
            self.queue.close()
            self.processes.leave()
