"""Batsim's protocol: pybatsim's schedulers on our engine, our policies behind Batsim, what is refused."""

from __future__ import annotations

import csv
import inspect
import json
import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headway
from commands import SWF, Headway
from headway import Schedule
from headway.batsim.decide import Decider
from headway.batsim.exchange import asking, connected, recorded, replayed
from headway.batsim.messages import Event, Message, parse, processors, ranges
from headway.batsim.outcome import schedule_of, write_files
from headway.batsim.profiles import lasting
from headway.batsim.simulation import Settings, Simulation
from headway.errors import HeadwayError, InputError
from headway.policies.spec import parse_spec
from headway.workload import Workload
from instances import busy
from pybatsim_schedulers import in_order, listening, pybatsim

pytest.importorskip("zmq", reason="needs the extra batsim")

M = 16


Answer = Callable[[Message], list[Event]]


def log_of_blocks(jobs: int = 60, width: int = 4, seed: int = 2) -> Workload:
    """Jobs of one width: a scheduler that wants neighbouring processors finds them if enough are free."""
    random = np.random.default_rng(seed)
    run = random.integers(1, 60, jobs)
    return Workload.from_arrays(
        unit="s",
        submit=np.sort(random.integers(0, 400, jobs)),
        procs=np.full(jobs, width),
        runtime=run,
        walltime=run * random.choice([1, 2, 3], jobs),
    )


def small(jobs: int = 80, seed: int = 6) -> Workload:
    return busy(jobs, M, 1.0, seed=seed)


def by(
    scheduler: Any, log: Workload, settings: Settings | None = None, record: Path | None = None
) -> Schedule:
    """What a scheduler makes of a log over a socket."""
    with listening(scheduler) as endpoint, connected(endpoint, 20_000) as say:
        if record is None:
            return finished(Simulation(log, M, asking(say), settings))
        with record.open("w") as file:
            return finished(Simulation(log, M, asking(recorded(say, file)), settings))


def finished(simulation: Simulation) -> Schedule:
    simulation.run()
    made = schedule_of(simulation, "other")
    verdict = headway.audit(made)
    assert verdict.ok, verdict
    return made


def scripted(log: Workload, answer: Answer, settings: Settings | None = None) -> Simulation:
    """A simulation whose scheduler is a function of each message."""
    return Simulation(log, M, lambda message: Message(message.now, tuple(answer(message))), settings)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of pybatsim's schedulers write files where they stand."""
    monkeypatch.chdir(tmp_path)


OWN = (
    "schedFcfs", "schedFiller", "fillerSched", "fillerSchedWithEvents", "easyBackfill",
    "schedEasySjfBackfill", "schedSendRecv",
)  # fmt: skip
"""Schedulers of pybatsim that need neither energy nor shared processors."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OWN)
def test_pybatsims_own_schedulers_live_and_from_the_record(name: str, tmp_path: Path) -> None:
    log, record = log_of_blocks(40), tmp_path / "exchange.jsonl"
    live = by(pybatsim(name), log, record=record)
    assert len(live) == 40 and live.pieces is not None and live.pieces.processors is not None
    again = finished(Simulation(log, M, asking(replayed(record))))
    assert (again.start == live.start).all() and again.pieces is not None
    assert again.pieces.processors == live.pieces.processors


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("strict", [True, False])
def test_fcfs_and_filler_are_ours_job_for_job(strict: bool) -> None:
    log = small()
    assert (by(in_order(strict), log).start == ours(strict, log)).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "strict"), [("schedFcfs", True), ("schedFiller", False)])
def test_pybatsims_fcfs_and_filler_are_ours_where_neighbours_are_free(name: str, strict: bool) -> None:
    log = log_of_blocks()
    assert (by(pybatsim(name), log).start == ours(strict, log)).all()


def ours(strict: bool, log: Workload) -> np.ndarray:
    def filler(view: Any) -> Any:
        free, starts = view.free, []
        for job in view.waiting:
            if job.procs <= free:
                free -= job.procs
                starts.append(job)
        return starts

    return headway.simulate(log, M, "fcfs" if strict else filler).start


@pytest.mark.parametrize("spec", ["fcfs", "easy", "easy(backfill=sjf)", "conservative", "sjf"])
def test_our_policies_decide_as_in_simulate(spec: str) -> None:
    log, decider = small(), Decider(parse_spec(spec))

    def ask(message: Message) -> Message:
        return parse(decider.answer(parse(message.text(), "Batsim")).text(), "the scheduler")

    made = finished(Simulation(log, M, ask))
    assert (made.start == headway.simulate(log, M, spec).start).all()
    assert decider.over and decider.finished == len(log)


def test_a_policy_that_cannot_take_jobs_one_by_one_is_refused_at_once() -> None:
    with pytest.raises(HeadwayError, match="dialect=pyss cannot be"):
        Decider(parse_spec("easy(dialect=pyss)"))


# ---- requests, by hand -------------------------------------------------------------------------------------

THREE = Workload.from_arrays(
    unit="s", submit=[0, 5, 10], procs=[4, 16, 8], runtime=[20, 10, 30], walltime=[60, 5, 60]
)


def test_kill_reject_call_and_thinking_time() -> None:
    heard: list[tuple[float, str]] = []

    def answer(message: Message) -> list[Event]:
        requests = []
        for event in message.events:
            heard.append((event.at / 1e6, event.type))
            name = event.data.get("job_id")
            if event.type == "JOB_SUBMITTED" and name == "w0!1":
                requests += [
                    Event(message.now, "EXECUTE_JOB", {"job_id": name, "alloc": "0-1 4 7"}),
                    Event(message.now, "CALL_ME_LATER", {"timestamp": 7.5}),
                ]
            elif event.type == "JOB_SUBMITTED" and name == "w0!2":
                requests.append(Event(message.now, "REJECT_JOB", {"job_id": name}))
            elif event.type == "REQUESTED_CALL":
                requests.append(Event(message.now, "KILL_JOB", {"job_ids": ["w0!1"]}))
            elif event.type == "JOB_SUBMITTED":  # it thinks for two seconds
                requests.append(
                    Event(message.now + 2_000_000, "EXECUTE_JOB", {"job_id": name, "alloc": "8-15"})
                )
        return requests

    simulation = scripted(THREE, answer)
    made = finished(simulation)
    assert heard == [
        (0, "SIMULATION_BEGINS"),
        (0, "JOB_SUBMITTED"),
        (5, "JOB_SUBMITTED"),
        (7.5, "REQUESTED_CALL"),
        (7.5, "JOB_COMPLETED"),
        (7.5, "JOB_KILLED"),
        (10, "JOB_SUBMITTED"),
        (10, "NOTIFY"),
        (42, "JOB_COMPLETED"),
        (42, "SIMULATION_ENDS"),
    ]
    assert made.workload.job.tolist() == [1, 3]
    assert made.start.tolist() == [0, 12_000_000] and made.end.tolist() == [7_500_000, 42_000_000]
    rules = {entry.rule: entry.count for entry in made.workload.ledger}
    assert rules == {"rejected": 1, "killed": 1}
    assert made.pieces is not None and made.pieces.processors == ["0-1,4,7", "8-15"]


def test_a_job_that_reaches_its_walltime_is_told_so() -> None:
    log = Workload.from_arrays(unit="s", submit=[0], procs=[1], runtime=[20], walltime=[5])
    states: list[str] = []

    def answer(message: Message) -> list[Event]:
        states.extend(event.data["job_state"] for event in message.events if event.type == "JOB_COMPLETED")
        return [
            Event(message.now, "EXECUTE_JOB", {"job_id": event.data["job_id"], "alloc": "3"})
            for event in message.events
            if event.type == "JOB_SUBMITTED"
        ]

    made = finished(scripted(log, answer))
    assert states == ["COMPLETED_WALLTIME_REACHED"] and made.killed.tolist() == [True]


def test_jobs_are_registered_while_it_runs(tmp_path: Path) -> None:
    log = Workload.from_arrays(unit="s", submit=[0], procs=[2], runtime=[10])

    def answer(message: Message) -> list[Event]:
        requests = []
        for event in message.events:
            if event.type == "JOB_SUBMITTED":
                alloc = "0-1" if event.data["job_id"] == "w0!1" else "5"
                requests.append(
                    Event(message.now, "EXECUTE_JOB", {"job_id": event.data["job_id"], "alloc": alloc})
                )
            if event.type == "JOB_COMPLETED" and event.data["job_id"] == "w0!1":
                profile = {"type": "delay", "delay": 7}
                twice = {"type": "composed", "repeat": 2, "seq": ["short"]}
                for name, what in (("short", profile), ("twice", twice)):
                    data = {"workload_name": "dyn", "profile_name": name, "profile": what}
                    requests.append(Event(message.now, "REGISTER_PROFILE", data))
                job = {"id": "dyn!a", "res": 1, "walltime": -1, "profile": "twice", "subtime": 10}
                requests += [
                    Event(message.now, "REGISTER_JOB", {"job_id": "dyn!a", "job": job}),
                    Event(message.now, "SET_JOB_METADATA", {"job_id": "dyn!a", "metadata": "second"}),
                    Event(message.now, "NOTIFY", {"type": "registration_finished"}),
                ]
        return requests

    simulation = scripted(log, answer, Settings(dynamic=True))
    made = finished(simulation)
    assert made.workload.job.tolist() == [1, 2]
    assert made.start.tolist() == [0, 10_000_000] and made.end.tolist() == [10_000_000, 24_000_000]
    jobs, totals, machines = write_files(simulation, tmp_path / "out")
    rows = rows_of(jobs)
    assert [row["job_id"] for row in rows] == ["1", "a"] and rows[1]["workload_name"] == "dyn"
    assert rows[1]["allocated_resources"] == "5" and rows[1]["metadata"] == "second"
    assert rows[1]["requested_time"] == "-1" and rows[1]["final_state"] == "COMPLETED_SUCCESSFULLY"
    assert rows_of(totals)[0]["nb_jobs_success"] == "2"
    computing = [(row["time"], row["nb_computing"]) for row in rows_of(machines)]
    assert computing == [("0", "2"), ("10", "1"), ("24", "0")]
    with pytest.raises(HeadwayError, match="--enable-dynamic-jobs"):
        scripted(log, answer).run()


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ({"job_id": "w0!3"}, "'w0!3', which there is already"),  # it is submitted later
        ({"job": {"res": 2.5, "profile": "p"}}, "2.5 is not a number of processors"),
        ({"job": {"res": 1 << 70, "profile": "p"}}, "is not a number of processors"),
        ({"job": {"res": 1, "profile": "p", "walltime": math.inf}}, "inf is not a time in seconds"),
        ({"job": {"res": 1, "profile": "p", "walltime": math.nan}}, "nan is not a time in seconds"),
    ],
)
def test_jobs_that_cannot_be_registered(job: dict[str, Any], said: str) -> None:
    with pytest.raises(HeadwayError, match=said):
        scripted(
            THREE, send("REGISTER_JOB", **{"job_id": "w0!9", "job": {}} | job), Settings(dynamic=True)
        ).run()


def test_sequences_of_sequences_are_added_up_once() -> None:
    profiles: dict[str, Any] = {"0": {"type": "delay", "delay": 1}}
    for k in range(40):
        profiles[str(k + 1)] = {"type": "composed", "seq": [str(k)] * 2}
    assert lasting("40", profiles) == 2**40 * 1_000_000


def test_an_answer_in_two_parts() -> None:
    zmq = pytest.importorskip("zmq")
    with zmq.Context() as context, context.socket(zmq.REP) as scheduler:
        port = scheduler.bind_to_random_port("tcp://127.0.0.1")

        def answer() -> None:
            for _ in range(2):
                scheduler.recv()
                scheduler.send_multipart([b'{"now": 0, ', b'"events": []}'])

        thread = threading.Thread(target=answer)
        thread.start()
        with connected(f"tcp://127.0.0.1:{port}", 20_000) as say:
            assert [parse(say("{}"), "the scheduler").now for _ in range(2)] == [0, 0]
        thread.join()


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def start_on(alloc: str) -> Answer:
    return lambda message: [
        Event(message.now, "EXECUTE_JOB", {"job_id": event.data["job_id"], "alloc": alloc})
        for event in message.events
        if event.type == "JOB_SUBMITTED"
    ]


def send(kind: str, **data: Any) -> Answer:
    return lambda message: [Event(message.now, kind, data)]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (start_on("0-2"), "w0!1 on 0-2, but it asked for 4 processors"),
        (start_on("14-17"), "the machine has the processors 0 to 15"),
        (start_on("abc"), "on 'abc', which is not a set of processors like 0-3 7"),
        (send("EXECUTE_JOB", job_id="w0!9", alloc="0"), "started w0!9, which was not submitted"),
        (
            send("SET_RESOURCE_STATE", resources="0", state="1"),
            "energy and states of machines are not modelled",
        ),
        (send("QUERY", requests={"consumed_energy": {}}), "QUERY for consumed_energy: energy and temp"),
        (send("DANCE"), "sent DANCE, which is not a request of the protocol"),
        (send("QUERY", requests=5), "QUERY for 5: energy and temp"),
        (send("KILL_JOB"), "KILL_JOB with data that do not fit"),
        (send("KILL_JOB", job_ids="w0!1"), "job_ids is not a list"),
        (send("CALL_ME_LATER", timestamp=math.inf), "inf is not a time in seconds"),
        (send("CALL_ME_LATER", timestamp=1e18), r"1e\+18 is not a time in seconds"),
        (lambda message: [], "left 3 jobs waiting for ever, the first of them w0!1"),
    ],
)
def test_what_cannot_be_done_is_said(answer: Answer, said: str) -> None:
    with pytest.raises(HeadwayError, match=said):
        scripted(THREE, answer).run()


def test_processors_that_are_busy_are_not_shared() -> None:
    log = Workload.from_arrays(unit="s", submit=[0, 5], procs=[4, 4], runtime=[20, 10])
    with pytest.raises(HeadwayError, match="w0!2 on 0-3, of which 0-3 are busy"):
        scripted(log, start_on("0-3")).run()


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_of_energy_is_refused_by_name() -> None:
    with pytest.raises(HeadwayError, match="SET_RESOURCE_STATE: energy and states of machines"):
        by(pybatsim("fcfsSchedSleep"), log_of_blocks(10))


@pytest.mark.parametrize(
    "text", ["", "{}", '{"now": -1, "events": []}', '{"now": 1, "events": [{}]}', "[1]", "null"]
)
def test_texts_that_are_no_messages(text: str) -> None:
    with pytest.raises(HeadwayError, match="not a message of Batsim's protocol"):
        parse(text, "the scheduler")


def test_allocations_as_text() -> None:
    assert processors("0-3 7,9") == [0, 1, 2, 3, 7, 9] and ranges([0, 1, 2, 3, 7, 9]) == "0-3 7 9"
    for bad in ("", "3-1", "-1", "0-999999999", "a", 3):
        with pytest.raises(ValueError):
            processors(bad)


# ---- the commands ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_the_command_writes_both_kinds_of_files(run: Headway) -> None:
    jobs = [{"id": i, "subtime": i, "res": 4, "walltime": 50, "profile": "d"} for i in range(1, 9)]
    document = {"nb_res": M, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 12.5}}}
    log = run.write("work.json", json.dumps(document))
    with listening(pybatsim("schedFcfs")) as endpoint:
        done = run("batsim", "run", log, "--socket", endpoint, "--out", "out", "--record", "exchange.jsonl")
    assert done.status == 0, done.err
    assert "spent in the scheduler" in done.out and "all hold" in done.out
    names = {path.name for path in (run.folder / "out").iterdir()}
    assert {"schedule.csv", "run.json", "out_jobs.csv", "out_schedule.csv", "out_machine_states.csv"} <= names
    again = run("batsim", "run", log, "--replay", "exchange.jsonl", "--json")
    assert again.status == 0 and json.loads(again.out)["jobs"] == 8


def test_profiles_of_networks_are_refused_at_the_start(run: Headway) -> None:
    job = {"id": 1, "subtime": 0, "res": 4, "walltime": 50, "profile": "p"}
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 1e6}}
    log = run.write("work.json", json.dumps({"nb_res": M, "jobs": [job], "profiles": profiles}))
    done = run("batsim", "run", log, "--socket", "tcp://127.0.0.1:1")
    assert done.status == 2 and "parallel_homogeneous (as 'p')" in done.err
    missing = run("batsim", "run", log)
    assert missing.status == 2 and "--socket URL" in missing.err


@pytest.mark.parametrize(
    "words", ["decide fcfs --socket tcp://127.0.0.1:99999999", "batsim log.swf --socket tcp://x:0"]
)
def test_ports_that_there_are_not(run: Headway, words: str) -> None:
    """ZeroMQ takes another one, or waits for ever."""
    pytest.importorskip("zmq")
    run.write("log.swf", SWF)
    done = run(*words.split())
    assert done.status == 2 and "a port is from 1 to 65535" in done.err


def test_decide_listens_on_this_machine_alone() -> None:
    """Batsim's protocol knows no token."""
    from headway.cli.batsim import decide

    assert inspect.signature(decide).parameters["socket"].default == "tcp://127.0.0.1:28000"


def test_an_answer_that_is_no_text() -> None:
    zmq = pytest.importorskip("zmq")
    with zmq.Context() as context, context.socket(zmq.REP) as scheduler:
        port = scheduler.bind_to_random_port("tcp://127.0.0.1")

        def answer() -> None:
            scheduler.recv()
            scheduler.send(b"\xff\xfe")

        thread = threading.Thread(target=answer)
        thread.start()
        with (
            connected(f"tcp://127.0.0.1:{port}", 20_000) as say,
            pytest.raises(InputError, match="not a message"),
        ):
            parse(say("{}"), "the scheduler")
        thread.join()
