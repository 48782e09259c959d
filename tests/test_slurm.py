"""Reading `sacct --parsable2`: every oddity, columns in any order, one sentence for what is damaged."""

from __future__ import annotations

import gzip
import io
import json
import random
from pathlib import Path

import pytest

import headway
from commands import Headway
from headway.errors import InputError, UsageError
from headway.units import SECOND
from headway.workload import Workload, read
from headway.workload.slurm.export import COLUMNS as EXPORTED
from headway.workload.slurm.export import EXPORT
from sacct_texts import COLUMNS, T0, Export

HEAD = "JobID|User|Account|Partition|QOS|State|Submit|Start|End|Elapsed|Timelimit|ReqCPUS|AllocCPUS"


def parsed(text: str, **rules: str) -> Workload:
    return read(io.BytesIO(text.encode()), format=None, compiled=None, **rules)


def log(*records: str, head: str = HEAD, **rules: str) -> Workload:
    return parsed("\n".join((head, *records)) + "\n", **rules)


def job(
    number: str = "7", *, state: str = "COMPLETED", submit: int | str = 100, start: int | str = 130,
    end: int | str = 190, elapsed: str = "00:01:00", limit: str = "00:02:00", procs: str = "4|4",
    user: str = "ann",
) -> str:  # fmt: skip
    return f"{number}|{user}|chem|short|normal|{state}|{submit}|{start}|{end}|{elapsed}|{limit}|{procs}"


def rules_of(workload: Workload) -> dict[str, int]:
    counts: dict[str, int] = {}
    for entry in workload.ledger:
        counts[entry.rule] = counts.get(entry.rule, 0) + entry.count
    return counts


def test_one_record_by_hand() -> None:
    work = log(job(), job("8", submit=160, start=170, end=200, elapsed="00:30", user="bob"))
    assert work.job.tolist() == [7, 8]
    assert work.submit.tolist() == [0, 60 * SECOND]
    assert work.wait.tolist() == [30 * SECOND, 10 * SECOND]
    assert work.runtime.tolist() == [60 * SECOND, 30 * SECOND]
    assert work.walltime.tolist() == [120 * SECOND] * 2
    assert work.procs.tolist() == [4, 4] and work.status.tolist() == [1, 1]
    assert [work.labels["user"][code] for code in work.user] == ["ann", "bob"]
    assert work.labels["group"] == ["chem"] and work.labels["partition"] == ["short"]
    assert work.labels["queue"] == ["normal"]
    assert work.header.get("UnixStartTime") == "100" and work.source.format == "sacct"
    assert not len(work.ledger) and not work.source.not_modelled
    assert "at most 8 processors were in use at once" in (work.header.get("Note") or "")


def test_a_submission_that_was_refused_is_no_job() -> None:
    """Slurm records it: failed in the second of its submission, on no node. One that had nodes is a job."""
    at_once = job("8", state="FAILED", submit=160, start=160, end=160, elapsed="00:00:00")
    work = log(job() + "|n1", at_once + "|None assigned", at_once.replace("8", "9", 1) + "|n1",
               head=HEAD + "|NodeList")  # fmt: skip
    assert work.job.tolist() == [7, 9]
    assert rules_of(work) == {"cancelled": 1, "zero_runtime": 1}


@pytest.mark.parametrize(
    ("seed", "records"), [(1, 15_000), (2, 5_000), pytest.param(1, 100_000, marks=pytest.mark.long)]
)
def test_every_oddity_in_many_records(seed: int, records: int) -> None:
    export = Export(seed=seed)
    work = parsed(export.text(records))
    expected = export.expected
    assert work.ledger.total == expected.jobs == len(expected.kept) + sum(expected.dropped.values())
    assert work.ledger.kept == len(work) == len(expected.kept)
    dropped: dict[str, int] = {}
    for entry in work.ledger:
        if entry.dropped:
            dropped[entry.rule] = dropped.get(entry.rule, 0) + entry.count
    assert dropped == expected.dropped
    counts = rules_of(work)
    assert counts["steps"] == expected.steps
    assert counts["extra_fields"] == expected.pipes
    assert work.source.not_modelled["GPUs"] == expected.gpus
    assert work.source.not_modelled["job arrays"] == expected.tasks
    origin = int(work.header.get("UnixStartTime") or 0) - T0
    columns = (work.job.tolist(), work.submit.tolist(), work.runtime.tolist(), work.procs.tolist())
    found = {
        number: (submit // SECOND + origin, run // SECOND, procs)
        for number, submit, run, procs in zip(*columns, strict=True)
    }
    assert found == expected.kept
    assert set(work.used_memory_kb.tolist()) > {-1, 2048}


@pytest.mark.parametrize("epoch", [True, False])
def test_columns_in_any_order_give_the_same_jobs(epoch: bool) -> None:
    whole = parsed(Export(epoch=epoch).text(3_000))
    shuffled = list(COLUMNS)
    random.Random(3).shuffle(shuffled)
    other = parsed(Export(tuple(shuffled), epoch=epoch).text(3_000))
    for name in ("job", "submit", "wait", "runtime", "walltime", "procs", "user", "memory_kb"):
        assert whole.columns[name].tolist() == other.columns[name].tolist(), name
    assert whole.labels == other.labels and whole.ledger == other.ledger


def test_a_few_columns_are_enough() -> None:
    few = ("JobIDRaw", "Submit", "Start", "End", "AllocTRES", "State")
    export = Export(few)
    work = parsed(export.text(2_000))
    kept = export.expected.kept
    assert work.procs.tolist() == [kept[number][2] for number in work.job.tolist()]
    assert work.runtime.tolist() == [kept[number][1] * SECOND for number in work.job.tolist()]
    assert (work.walltime == work.runtime).all() and "no_estimate" in rules_of(work)


@pytest.mark.parametrize(
    ("gone", "sentence"),
    [
        (("Submit",), "has no column Submit, which gives the submit time"),
        (("JobID", "JobIDRaw"), "JobID"),
        (("Elapsed", "End"), "ElapsedRaw or Elapsed or Start with End, which gives the run time"),
        (("ReqCPUS", "AllocCPUS", "ReqTRES", "AllocTRES"), "which gives the processors"),
    ],
)
def test_a_missing_column_is_named_with_the_export_line(gone: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(InputError) as error:
        parsed(Export(tuple(name for name in COLUMNS if name not in gone)).text(20))
    assert sentence in str(error.value) and EXPORT in str(error.value)


def test_the_documented_export_line_is_complete() -> None:
    assert set(EXPORT.split("--format ")[1].split(" ")[0].split(",")) == set(EXPORTED)
    cells = dict.fromkeys(EXPORTED, "") | {
        "JobID": "9_3", "JobIDRaw": "12", "User": "ann", "State": "COMPLETED", "Submit": "100",
        "Start": "130", "End": "190", "ElapsedRaw": "60", "TimelimitRaw": "2", "ReqCPUS": "4",
        "AllocCPUS": "4", "TotalCPU": "02:00.000",
    }  # fmt: skip
    work = log("|".join(cells[name] for name in EXPORTED), head="|".join(EXPORTED))
    assert (work.job[0], work.runtime[0], work.walltime[0]) == (12, 60 * SECOND, 120 * SECOND)
    assert work.cpu_time[0] == 30 * SECOND and not len(work.ledger)


def test_array_tasks_without_raw_numbers_get_their_own() -> None:
    work = log(job("5_1"), job("5_2"), job("9"))
    assert work.job.tolist() == [10, 11, 9]
    assert rules_of(work)["array_tasks"] == 2 and work.source.not_modelled["job arrays"] == 2


def test_new_numbers_are_those_of_nobody_in_the_log() -> None:
    """Job 9 waits and is left out; the tasks of array 7 do not get its number."""
    waits = job("9", state="PENDING", start="Unknown", end="Unknown", elapsed="00:00:00")
    work = log(job("7_1"), job("7_2"), waits)
    assert work.job.tolist() == [10, 11] and work.ledger.dropped_jobs().tolist() == [9]


def test_heterogeneous_jobs_are_counted() -> None:
    work = log(job("5+0"), job("5+1"), head=HEAD)
    assert len(work) == 2 and work.source.not_modelled == {"heterogeneous jobs": 2}


def test_requeued_runs_as_jobs_of_their_own() -> None:
    first, second = job("7", state="NODE_FAIL"), job("7", submit=190, start=200, end=260)
    assert log(first, second).submit.tolist() == [0] and log(first, second).ledger.dropped == 1
    each = log(first, second, requeues="each")
    assert len(each) == 2 and each.job.tolist() == [7, 8] and each.ledger.dropped == 0


@pytest.mark.parametrize("later_first", [False, True])
def test_jobs_that_an_earlier_export_saw_running_or_waiting(later_first: bool) -> None:
    """Exports of two months, each made at its end: job 7 ran then, 8 waited, 9 ran and was requeued since."""
    wait = {"start": "Unknown", "end": "Unknown", "elapsed": "00:00:00"}
    then = [
        job("7", state="RUNNING", end="Unknown", elapsed="00:00:20"),
        job("8", state="PENDING", **wait),
        job("9", state="RUNNING", submit=110, end="Unknown", elapsed="00:00:20"),
    ]
    later = [
        job("7"),
        job("8"),
        job("9", state="NODE_FAIL", submit=110),
        job("9", submit=190, start=200, end=260),
    ]
    work = log(*(later + then if later_first else then + later))
    assert sorted(work.job.tolist()) == [7, 8, 9] and set(work.runtime.tolist()) == {60 * SECOND}
    assert rules_of(work)["duplicates"] == 3 and rules_of(work)["requeues"] == 1
    assert work.source.not_modelled["requeues"] == 1
    assert work.ledger.total == 7 == work.ledger.kept + work.ledger.dropped


def test_a_job_that_two_exports_saw_running_has_its_longest_run() -> None:
    seen = [job(state="RUNNING", end="Unknown", elapsed=elapsed) for elapsed in ("00:00:20", "00:00:50")]
    assert log(*seen, unfinished="keep").runtime.tolist() == [50 * SECOND]


def test_a_number_used_again_after_a_reset_is_another_job() -> None:
    work = log(job("7"), job("7", user="bob", submit=5000, start=5000, end=5060))
    assert work.job.tolist() == [7, 8] and rules_of(work)["duplicates"] == 1


def test_jobs_of_two_clusters_may_have_one_number() -> None:
    head = "Cluster|" + HEAD
    work = log("a|" + job("7"), "b|" + job("7"), head=head)
    assert len(work) == 2 and work.labels["cluster"] == ["a", "b"]
    assert work.source.not_modelled["federation"] == 1


def test_a_running_job_is_dropped_or_kept_so_far() -> None:
    line = job(state="RUNNING", end="Unknown")
    done = job("8")
    assert log(line, done).job.tolist() == [8]
    assert log(line, done, unfinished="keep").runtime.tolist() == [60 * SECOND] * 2


WAITING = job("9", state="PENDING", start="Unknown", end="Unknown", elapsed="00:00:00", procs="4|0")


def test_who_had_not_started_is_written_without_a_run_time(run: Headway) -> None:
    """SWF says -1 where a run time is not known; the time that the job asked for is none."""
    running = job("8", state="RUNNING", end="Unknown")
    source = run.write("jobs.txt", "\n".join((HEAD, job(), running, WAITING)) + "\n")
    told = run("convert", source, "all.swf", "--rule", "unfinished=open").out
    assert "still waiting when the log was taken: written with -1, unknown, for the run time" in told
    lines = [line.split() for line in Path("all.swf").read_text().splitlines() if line[0] != ";"]
    assert [line[3] for line in lines] == ["60", "60", "-1"]
    assert [line[8] for line in lines] == ["120"] * 3 and lines[2][10] == "-1"
    assert read("all.swf", format=None, compiled=None).job.tolist() == [7, 8]
    refused = run("convert", source, "all.json", "--rule", "unfinished=open")
    assert refused.status == 2 and "unfinished=keep" in refused.err and not Path("all.json").exists()


def test_run_times_that_nobody_knows_are_not_inspected(run: Headway) -> None:
    source = run.write("jobs.txt", "\n".join((HEAD, job(), WAITING)) + "\n")
    told = json.loads(run("inspect", source, "--rule", "unfinished=open", "--json").out)
    assert told["facts"]["jobs"][0] == 1 and told["facts"]["longest run time"][0] == 60


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1-02:03:04", 93784), ("02:03:04", 7384), ("03:04", 184), ("184", 184), ("03:04.500", 184.5)],
)
def test_durations(text: str, seconds: float) -> None:
    assert log(job(elapsed=text, limit="2-00:00:00")).runtime.tolist() == [int(seconds * SECOND)]


@pytest.mark.parametrize(
    ("limit", "seconds"), [("1-00:00:00", 86400), ("90", 5400), ("UNLIMITED", 60), ("Partition_Limit", 60)]
)
def test_limits(limit: str, seconds: int) -> None:
    work = log(job(limit=limit))
    assert work.walltime.tolist() == [seconds * SECOND]
    assert ("no_limit" in rules_of(work)) == (seconds == 60)


@pytest.mark.parametrize(
    ("memory", "kb"),
    [
        ("4Gc", 4 << 20),
        ("4Gn", 2 << 20),
        ("4G", 1 << 20),
        ("16000M", 4_096_000),
        ("512000K", 128_000),
        ("0", -1),
    ],
)
def test_memory_is_per_processor(memory: str, kb: int) -> None:
    # Four processors on two nodes.
    work = log(job() + f"|{memory}|2", head=HEAD + "|ReqMem|NNodes")
    assert (work.memory_kb.tolist() if "memory_kb" in work else [-1]) == [kb]


def test_nodes_are_counted_from_their_names() -> None:
    work = log(job() + "|4Gn|cn[01-03,07]", head=HEAD + "|ReqMem|NodeList")
    assert work.memory_kb.tolist() == [4 << 20]


def test_clock_times_and_the_zone() -> None:
    text = job(submit="2024-07-01T12:00:00", start="2024-07-01T12:00:30", end="2024-07-01T12:01:30")
    plain = log(text)
    assert plain.header.get("UnixStartTime") == "1719835200" and rules_of(plain) == {"zone": 1}
    berlin = log(text, zone="Europe/Berlin")
    assert berlin.header.get("UnixStartTime") == "1719828000" and not len(berlin.ledger)
    with pytest.raises(UsageError, match="no time zone 'Atlantis'"):
        log(text, zone="Atlantis")
    offset = log(text.replace("T12:00:00", "T12:00:00+02:00"))
    assert offset.header.get("UnixStartTime") == "1719828000"


def test_the_hour_that_comes_twice() -> None:
    # On 27 October 2024 Berlin's clock went from 03:00 back to 02:00. The start at 02:10 must be the second
    # 02:10, as the submission at 02:50 comes before it even if that is the first 02:50.
    text = job(submit="2024-10-27T02:50:00", start="2024-10-27T02:10:00", end="2024-10-27T02:11:00")
    work = log(text, zone="Europe/Berlin")
    assert work.wait.tolist() == [20 * 60 * SECOND]
    assert rules_of(work) == {"zone": 1}
    assert "shows twice" in work.ledger.entries[0].action


def test_a_start_in_the_hour_that_comes_twice_agrees_with_end_and_run() -> None:
    """02:30 on 27 October 2024 in Berlin was twice; who ran 40 minutes until 03:10 started at the second."""
    clock = {"submit": "2024-10-27T01:00:00", "start": "2024-10-27T02:30:00", "end": "2024-10-27T03:10:00"}
    runs = {"00:40:00": 9000, "01:40:00": 5400}
    for elapsed, wait in runs.items():
        work = log(job(**clock, elapsed=elapsed, limit="02:00:00"), zone="Europe/Berlin")
        assert work.wait.tolist() == [wait * SECOND]


NAMED = "JobID|JobIDRaw|Timelimit|User|State|Submit|JobName|Eligible|Start|End|Elapsed|ReqCPUS|SubmitLine"
AT = "1718000000"


@pytest.mark.parametrize("name", ["|", "3", "a|b", f"x|{AT}", "a|1|2"])
@pytest.mark.parametrize("line", ["sbatch --wrap 'a|b'", "/usr/bin/srun a | b", ""])
def test_names_and_submit_lines_with_separators(name: str, line: str) -> None:
    """Several ways fit the columns; times, numbers and commands agree in one of them."""
    times = f"{AT}|1718000030|1718000090|00:01:00"
    work = log(f"7|7|00:02:00|ann|COMPLETED|{AT}|{name}|{times}|4|{line}", head=NAMED)
    assert (work.procs.tolist(), work.wait.tolist()) == ([4], [30 * SECOND])
    assert (work.runtime.tolist(), work.walltime.tolist()) == ([60 * SECOND], [120 * SECOND])


def test_the_hour_that_never_was() -> None:
    text = job(submit="2024-03-31T02:30:00", start="2024-03-31T03:40:00", end="2024-03-31T03:41:00")
    work = log(text, zone="Europe/Berlin")
    assert work.wait.tolist() == [10 * 60 * SECOND] and "skips" in work.ledger.entries[0].action


def test_what_is_not_modelled_is_counted() -> None:
    head = HEAD + "|Reservation|Constraints|ReqTRES|SubmitLine|Eligible"
    odd = job(procs="4|8").replace("normal", "urgent")
    odd += "|maint|skylake|cpu=4,gres/gpu=2,license/matlab=1|sbatch --dependency=afterok:3 -x cn1 job.sh|125"
    work = log(odd, job("8") + "|||cpu=4|sbatch job.sh|100", head=head)
    assert work.source.not_modelled == dict.fromkeys(
        ("QOS", "dependencies", "held back", "reservations", "GPUs", "features", "chosen nodes", "licences",
         "exclusive nodes"), 1,
    )  # fmt: skip
    eligible = log(odd, job("8") + "|||cpu=4|sbatch job.sh|100", head=head, submit="eligible")
    assert eligible.submit.tolist() == [25 * SECOND, 0]


def test_a_state_of_its_own_and_states_in_short() -> None:
    work = log(job("1", state="CD"), job("2", state="ASTRAY"), job("3", state="TO"), job("4", state="CA"))
    assert work.status.tolist() == [1, -1, 0, 5] and rules_of(work) == {"foreign_status": 1}


def test_gzip_parsable_repeated_headers_blank_lines_and_crlf(tmp_path: Path) -> None:
    plain = f"{HEAD}|\r\n{job()}|\r\n\r\n{HEAD}|\r\n{job('8')}|\r\n"
    path = tmp_path / "jobs.txt.gz"
    path.write_bytes(gzip.compress(plain.encode()))
    work = read(path)
    assert work.job.tolist() == [7, 8] and not len(work.ledger)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{HEAD}\n{job()}\n{job('8')[:20]}", "ends in the middle of a record"),
        (f"{HEAD}\n{job()}\n{job('8')[:20]}\n{job()}\n", "3: has 5 fields and the first line names 13"),
        (f"{HEAD}\n{job()}\nJobID|Submit\n8|100\n", "names other columns"),
        (f"{HEAD}\n{job(submit='chem')}\n", "2: Submit: 'chem' cannot be read"),
        (f"{HEAD}\n{job()}\n{job('x8')}\n", "3: JobID: 'x8' cannot be read"),
        (f"{HEAD}\n{job(elapsed='yesterday')}\n", "2: Elapsed: 'yesterday' cannot be read"),
        (f"{job()}\n{job('8')}\n", "begins with a record"),
        (f"{HEAD}\n", "no records of jobs"),
        ("JobID JobName State\n---- ---- ----\n7 a COMPLETED\n", "is not output of sacct --parsable2"),
        (f"{HEAD}|User\n{job()}|u\n", "has the column User twice"),
    ],
)
def test_a_damaged_file_gets_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        parsed(text)
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_a_last_line_without_an_end_is_mentioned() -> None:
    work = parsed(f"{HEAD}\n{job()}")
    assert len(work) == 1 and rules_of(work) == {"line_end": 1}


def test_an_error_rule_names_the_column() -> None:
    with pytest.raises(InputError, match="2: Timelimit: no requested time"):
        log(job(limit="UNLIMITED"), no_estimate="error")


def test_blocks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    from headway.workload import stream
    from headway.workload.slurm import text

    whole = parsed(Export().text(3_000))
    monkeypatch.setattr(stream, "CHUNK", 1000)
    monkeypatch.setattr(text, "BLOCK", 20_000)
    parts = parsed(Export().text(3_000))
    assert whole.ledger == parts.ledger and whole.source.not_modelled == parts.source.not_modelled
    for name, column in whole.columns.items():
        if name in ("user", "group", "queue", "partition"):
            assert [whole.labels[name][code] for code in column] == [
                parts.labels[name][code] for code in parts.columns[name]
            ]
        else:
            assert column.tolist() == parts.columns[name].tolist(), name


DIVIDED = (
    "JobID|User|Account|Partition|QOS|State|Submit|Start|End|Elapsed|Timelimit|ReqCPUS|AllocCPUS\n"
    "1|ann|physics|long|high|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|01:00:00|02:00:00|4|4\n"
    "2|bob|biology|short|low|COMPLETED|2024-01-01T00:01:00|2024-01-01T01:00:00|2024-01-01T01:30:00|00:30:00|01:00:00|4|4\n"
)


def test_partitions_accounts_and_qos_are_told_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "jobs.txt").write_text(DIVIDED)
    workload = headway.read(tmp_path / "jobs.txt")
    schedule = headway.simulate(workload, headway.Platform.procs(4), "fcfs")
    schedule.save(tmp_path / "run")
    loaded = headway.Schedule.load(tmp_path / "run")
    for each in (schedule, loaded):
        summary = each.summary()
        assert [row["partition"] for row in summary["by_partition"]] == ["long", "short"]
        assert [row["account"] for row in summary["by_account"]] == ["biology", "physics"]
        assert [(row["qos"], row["mean_wait"]) for row in summary["by_qos"]] == [("high", 0), ("low", 3540)]
        changes = headway.compare([each, each]).differences[0].classes
        assert list(changes) == ["size", "user", "partition", "account", "qos"]
    assert loaded.frame()["account"].to_list() == ["physics", "biology"]
