"""Our policies behind Batsim, over a socket: an exchange in the words of Batsim 3's own documentation."""

from __future__ import annotations

import json
import math
import socket
import threading
from typing import Any

import pytest

from headway.batsim.decide import Decider
from headway.batsim.exchange import connected
from headway.batsim.messages import parse
from headway.errors import HeadwayError
from headway.policies.spec import parse_spec

pytest.importorskip("zmq", reason="needs the extra batsim")

BEGINS: dict[str, Any] = {
    "nb_resources": 4,
    "nb_compute_resources": 4,
    "nb_storage_resources": 0,
    "allow_compute_sharing": False,
    "allow_storage_sharing": True,
    "config": {
        "redis-enabled": False,
        "profiles-forwarded-on-submission": False,
        "dynamic-jobs-enabled": False,
        "dynamic-jobs-acknowledged": False,
    },
    "compute_resources": [
        {"id": i, "name": f"host{i}", "state": "idle", "properties": {"role": ""}, "zone_properties": {}}
        for i in range(4)
    ],
    "storage_resources": [],
    "workloads": {"w0": "/tmp/workload.json"},
    "profiles": {"w0": {"d": {"type": "delay", "delay": 12.5}}},
}


def submitted(job: str, procs: int, walltime: float | None, subtime: float) -> dict[str, Any]:
    described: dict[str, Any] = {"id": job, "profile": "d", "res": procs, "subtime": subtime}
    if walltime is not None:
        described["walltime"] = walltime
    return {"type": "JOB_SUBMITTED", "data": {"job_id": job, "job": described}}


def completed(job: str, alloc: str, state: str = "COMPLETED_SUCCESSFULLY") -> dict[str, Any]:
    code = 0 if state == "COMPLETED_SUCCESSFULLY" else -1
    data = {"job_id": job, "job_state": state, "return_code": code, "kill_reason": "", "alloc": alloc}
    return {"type": "JOB_COMPLETED", "data": data}


# Four processors. Job 1 has three from 10 and is expected to end at 30. Job 2 wants all four: its shadow is
# 30. Job 3 is over at 24.5 and passes; job 4 has no walltime and must not. Job 1 ends early, at 22.5.
EXCHANGE: list[tuple[float, list[dict[str, Any]], list[tuple[str, str, str | None]]]] = [
    (0.0, [{"type": "SIMULATION_BEGINS", "data": BEGINS}], []),
    (10.0, [submitted("w0!1", 3, 20, 10.0)], [("EXECUTE_JOB", "w0!1", "0-2")]),
    (
        12.0,
        [submitted("w0!2", 4, 10.0, 12.0), submitted("w0!3", 1, 12.5, 12.0)],
        [("EXECUTE_JOB", "w0!3", "3")],
    ),
    (20.087881, [completed("w0!3", "3"), submitted("w0!4", 1, None, 20.087881)], []),
    (22.5, [completed("w0!1", "0-2")], [("EXECUTE_JOB", "w0!2", "0-3")]),
    (
        32.5,
        [
            completed("w0!2", "0-3", "COMPLETED_WALLTIME_REACHED"),
            submitted("w0!5", 9, 5.0, 32.5),
            {"type": "NOTIFY", "data": {"type": "no_more_static_job_to_submit"}},
        ],
        [("REJECT_JOB", "w0!5", None), ("EXECUTE_JOB", "w0!4", "0")],
    ),
    (40.5, [completed("w0!4", "0")], []),
    (40.5, [{"type": "SIMULATION_ENDS", "data": {}}], []),
]


def asked(now: float, events: list[dict[str, Any]]) -> str:
    return json.dumps({"now": now, "events": [{"timestamp": now, **event} for event in events]})


def test_decide_answers_batsims_own_words_over_a_socket() -> None:
    from headway.cli.batsim import decide

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        endpoint = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    listening = threading.Thread(target=decide, args=("easy", endpoint, True), daemon=True)
    listening.start()
    with connected(endpoint, 60_000) as say:
        for now, events, wanted in EXCHANGE:
            answer = json.loads(say(asked(now, events)))
            assert answer["now"] == now
            got = [
                (event["type"], event["data"]["job_id"], event["data"].get("alloc"))
                for event in answer["events"]
            ]
            assert got == wanted, now
            assert all(event["timestamp"] == now for event in answer["events"])
    listening.join(20)
    assert not listening.is_alive()


@pytest.mark.parametrize(
    ("begins", "later", "said"),
    [
        ({"allow_time_sharing_on_compute": True}, [], "allow_time_sharing_on_compute"),
        ({"config": {"redis-enabled": True}}, [], "without Redis"),
        ({"config": {"redis": {"enabled": True}}}, [], "without Redis"),
        (
            {},
            [{"type": "NOTIFY", "data": {"type": "event_machine_unavailable", "resources": "0-1"}}],
            "NOTIFY of event_machine_unavailable",
        ),
        ({}, [{"type": "RESOURCE_STATE_CHANGED", "data": {"resources": "1", "state": "42"}}], "RESOURCE_"),
        ({}, [{"type": "JOB_SUBMITTED", "data": {"job_id": "w0!1"}}], "a job with res"),
        ({}, [submitted("w0!1", 1.5, 9, 1)], "a job with res"),  # type: ignore[arg-type]
        ({}, [submitted("w0!1", 1, math.nan, 1)], "a walltime in seconds"),
        ({}, [submitted("w0!1", 1, 1e300, 1)], "a walltime in seconds"),
        ({}, [submitted("w0!1", 1, 9, 1), submitted("w0!1", 1, 9, 1)], "submitted the job w0!1 twice"),
        ({}, [completed("w0!1", "0")], "JOB_COMPLETED of w0!1, which does not run"),
        ({}, [{"type": "SIMULATION_BEGINS", "data": BEGINS}], "SIMULATION_BEGINS twice"),
        ({}, [{"type": "QUERY", "data": {"requests": 5}}], "QUERY for 5"),
        ({"compute_resources": [{"id": 0}, {"id": 0}]}, [], "an id each"),
        ({"compute_resources": [{"id": math.inf}]}, [], "an id each"),
    ],
)
def test_what_would_make_the_policy_count_wrongly_is_refused(
    begins: dict[str, Any], later: list[dict[str, Any]], said: str
) -> None:
    decider = Decider(parse_spec("fcfs"))
    first = asked(0.0, [{"type": "SIMULATION_BEGINS", "data": BEGINS | begins}])
    with pytest.raises(HeadwayError, match=said):
        decider.answer(parse(first, "Batsim"))
        decider.answer(parse(asked(1.0, later), "Batsim"))


def test_time_goes_on() -> None:
    decider = Decider(parse_spec("fcfs"))
    for now in (0, 5, 5):
        decider.answer(
            parse(asked(now, [{"type": "SIMULATION_BEGINS", "data": BEGINS}] if not now else []), "Batsim")
        )
    with pytest.raises(HeadwayError, match="the time 4 s after 5 s"):
        decider.answer(parse(asked(4, []), "Batsim"))


def test_a_walltime_without_end_is_none() -> None:
    decider = Decider(parse_spec("easy"))
    decider.answer(parse(asked(0, [{"type": "SIMULATION_BEGINS", "data": BEGINS}]), "Batsim"))
    for now in (1, 2.3e12):  # in the first and the last second that can be counted with
        told = parse(asked(now, [submitted(f"w0!{now}", 1, 2.3e12, now)]), "Batsim")
        assert [event.type for event in decider.answer(told).events] == ["EXECUTE_JOB"]
