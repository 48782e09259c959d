"""Out of Slurm and in again: the script for a login node, its archive, and the folder made of it."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import tarfile
import tracemalloc
from pathlib import Path
from threading import Thread

import pytest

import headway
from commands import Headway
from headway.errors import InputError, UsageError
from headway.site import PARENT, Site, bringing_in
from headway.site.anonymise import anonymise_site
from headway.site.archive import MOST_FILES, Stream, members
from headway.site.bringing_in import bring_in, kind_of
from headway.site.export import script
from headway.units import SECOND
from hostile_archives import CONF, END, HOSTILE, hostile, member, nested
from slurm_files import slurm_file

STAND_INS = Path(__file__).parent / "stand_ins"


def exported(folder: Path, *options: str, before: Path = STAND_INS) -> Path:
    """The archive that the script writes where stand-ins are Slurm's commands."""
    file = folder / "export.sh"
    file.write_text(script())
    path = f"{before}:{STAND_INS}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    here = {"PATH": path, "HOME": str(folder), "TMPDIR": str(folder)}
    command = ["sh", str(file), *options, "2024-06-01", "2024-07-01"]
    done = subprocess.run(command, cwd=folder, env=os.environ | here, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["export.sh", "frost-site.tar.gz"]
    return folder / "frost-site.tar.gz"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(tmp_path_factory.mktemp("login-node"))


def test_jobs_that_wait_and_were_never_eligible_are_asked_for_by_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given dates alone, sacct leaves them out. What it tells twice is written down once."""
    asked = tmp_path / "asked"
    sacct = f'''#!/bin/sh
case "$*" in
*--jobs*) echo "$*" >> {asked}; echo "frost|109|109|eve" ;;
*) exec "{STAND_INS}/sacct" "$@" ;;
esac
'''
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "sacct").write_text(sacct)
    (commands / "sacct").chmod(0o755)
    monkeypatch.setenv("WAITING", "\n".join(map(str, (106, 109, 109, *range(2000, 3100)))))
    (login := tmp_path / "login").mkdir()
    with tarfile.open(exported(login, before=commands)) as found:
        [jobs] = (found.extractfile(one) for one in found.getmembers() if one.name.endswith("jobs.txt"))
        assert jobs is not None
        lines = jobs.read().decode().splitlines()
    assert lines[0].startswith("Cluster|JobID|") and lines.count("frost|109|109|eve") == 1
    numbers = [words.split("--jobs ")[1].split(",") for words in asked.read_text().splitlines()]
    assert [len(each) for each in numbers] == [1000, 102]


def test_jobs_that_were_held_while_they_ran_are_asked_for_by_their_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`scontrol hold` of a running job makes it one that was never eligible: sacct leaves it out."""
    held = r"s/|101_1|101|/|110|110|/; s/|[0-9]*|\([0-9]*|[0-9]*|300|\)/|Unknown|\1/p"
    sacct = f'''#!/bin/sh
"{STAND_INS}/sacct" "$@"
case "$*" in *--state*CD*) "{STAND_INS}/sacct" "$@" | sed -n "{held}" ;; esac
'''
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "sacct").write_text(sacct)
    (commands / "sacct").chmod(0o755)
    (login := tmp_path / "login").mkdir()
    bring_in([exported(login, before=commands)], tmp_path / "frost")
    jobs = Site.load(tmp_path / "frost").read_jobs()
    assert jobs.ledger.total == 9
    assert jobs.runtime[jobs.job == 110] == 300 * SECOND


def test_the_script_s_archive_becomes_a_site(tmp_path: Path, archive: Path) -> None:
    taken, passed = bring_in([archive], tmp_path / "frost")
    assert sorted(kind for _, kind in taken) == [
        "associations.txt", "config.txt", "events.txt", "jobs.txt", "nodes.txt", "partitions.txt", "qos.txt",
        "reservations.txt", "sdiag.txt", "shares.txt",
    ]  # fmt: skip
    assert passed == []
    site = Site.load(tmp_path / "frost")
    assert (site.name, site.cpus, site.nodes[0].sockets) == ("frost", 64, 2)
    assert site.partitions[1].allow_accounts == ("chem", "phys")
    users = {one.user: (one.account, one.shares) for one in site.associations if one.user}
    assert users["bob"] == ("phys", PARENT) and users["ann"] == ("chem", 10)
    assert site.usage["chem", "ann"] == 1500 and site.qos[1].limits.max_jobs_per_user == 3
    assert site.events[0].node == "n3" and site.reservations[0].nodes == (0, 1)
    assert site.config.get("PriorityWeightFairshare") == "10000"
    jobs = site.read_jobs()
    # Job 107 was held and cancelled: sacct leaves it out when it is given dates, and the script asks again.
    assert jobs.columns["cancelled_after"][jobs.job == 107] > 0
    assert jobs.ledger.total == 8 and "duplicates" not in {entry.rule for entry in jobs.ledger}


def test_a_network_that_stands_in_a_file_of_its_own_is_told(tmp_path: Path) -> None:
    """Since 25.05 topology.yaml counts, whatever TopologyPlugin says."""
    commands, login = tmp_path / "bin", tmp_path / "login"
    for folder in (commands, login):
        folder.mkdir()
    config = f'echo "SLURM_CONF              = {tmp_path}/slurm.conf"'
    shown = f'''#!/bin/sh
"{STAND_INS}/scontrol" "$@"
case "$*" in *config*) {config} ;; esac
'''
    (commands / "scontrol").write_text(shown)
    (commands / "scontrol").chmod(0o755)
    (tmp_path / "topology.yaml").write_text(
        "- topology: hall\n  cluster_default: true\n  tree:\n    switches: []\n"
    )
    _, passed = bring_in([exported(login, before=commands)], tmp_path / "frost")
    assert passed == []
    assert "topology.yaml" in [one.name for one in Site.load(tmp_path / "frost").not_modelled]


def test_names_are_replaced_on_the_login_node(tmp_path: Path) -> None:
    archive = exported(tmp_path, "--anonymous")
    with archive.open("rb") as file:
        texts = {str(each.name): each.peek().decode() for each in members(Stream(file, archive))}
    assert "sdiag.txt" not in texts and "SubmitLine" not in texts["jobs.txt"]
    for name, text in texts.items():
        for secret in ("ann", "eve", "bob", "chem", "phys", "munge", "slurm(", "broke"):
            assert not re.search(rf"\b{re.escape(secret)}", text), (name, secret)
    bring_in([archive], tmp_path / "frost")
    site = Site.load(tmp_path / "frost")
    accounts = {one.account for one in site.associations if not one.user}
    assert set(site.partitions[1].allow_accounts or ()) == accounts - {"root"}
    jobs = site.read_jobs()
    users = {one.user for one in site.associations}
    assert set(jobs.labels["user"]) <= users and site.usage[accounts_of(site, jobs.labels["user"][0])] > 0


def accounts_of(site: Site, user: str) -> tuple[str, str]:
    return next((one.account, one.user) for one in site.associations if one.user == user)


def test_the_script_is_sound_shell_and_tells_its_use(tmp_path: Path) -> None:
    (tmp_path / "export.sh").write_text(script())
    assert subprocess.run(["sh", "-n", "export.sh"], cwd=tmp_path, check=False).returncode == 0
    told = subprocess.run(["sh", "export.sh"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 2 and "sh export.sh 2024-01-01 2025-01-01" in told.stdout
    assert "@" not in script().replace("$@", "")


@pytest.mark.parametrize("version", ["22.05", "24.11", "26.05"])
def test_what_people_already_have_is_brought_in(tmp_path: Path, version: str) -> None:
    """The files of a real site under the names that somebody gave them."""
    folder = slurm_file(f"sacct/{version}")
    names = ("config.txt", "dump.cfg", "node.txt", "partition.txt", "doc.txt", "sinfo.json", "sinfo.json.gz")
    taken, passed = bring_in([folder / name for name in names if (folder / name).exists()], tmp_path / "site")
    assert dict(taken)["dump.cfg"] == "associations.cfg" and dict(taken)["node.txt"] == "nodes.txt"
    assert passed[0].startswith("sinfo.json")
    site = Site.load(tmp_path / "site")
    assert site.nodes and site.associations and len(site.read_jobs()) > 20


def test_monthly_logs_go_behind_each_other(tmp_path: Path) -> None:
    head = "JobID|Submit|Start|End|ReqCPUS\n"
    for number, name in enumerate(("january.txt", "february.txt"), 1):
        (tmp_path / name).write_text(f"{head}{number}|100|110|120|2\n")
    bring_in([tmp_path / "january.txt", tmp_path / "february.txt"], tmp_path / "site")
    assert (tmp_path / "site" / "jobs.txt").read_text().count(head) == 2
    (tmp_path / "march.txt").write_text("JobID|Submit|Elapsed|ReqCPUS\n3|1|2|3\n")
    with pytest.raises(InputError, match=r"march.txt: has other columns"):
        bring_in([tmp_path / "january.txt", tmp_path / "march.txt"], tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_an_occupied_folder_and_rubbish_are_refused(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "precious").write_text("x")
    (tmp_path / "rubbish.txt").write_text("nothing of a site\n")
    with pytest.raises(UsageError, match="is not empty"):
        bring_in([tmp_path / "rubbish.txt"], tmp_path / "old")
    with pytest.raises(InputError, match="holds nothing of a site"):
        bring_in([tmp_path / "rubbish.txt"], tmp_path / "new")
    (tmp_path / "bad.tar.gz").write_bytes(b"\x1f\x8b rubbish")
    with pytest.raises(InputError, match=r"bad.tar.gz: cannot be unpacked \(.*\); copy it again"):
        bring_in([tmp_path / "bad.tar.gz"], tmp_path / "new")
    with pytest.raises(UsageError, match="is a file, not a folder"):
        bring_in([tmp_path / "bad.tar.gz"], tmp_path / "rubbish.txt")


def test_an_archive_writes_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text("ClusterName=x\nNodeName=n1\nPartitionName=p Nodes=n1\n")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "slurm.conf", arcname="../../slurm.conf")
        link = tarfile.TarInfo("site/qos.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    bring_in([tmp_path / "a.tar.gz"], tmp_path / "deep" / "site")
    assert [path.name for path in (tmp_path / "deep" / "site").iterdir()] == ["slurm.conf"]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("trick", HOSTILE)
def test_hostile_archives_are_refused_in_a_sentence_and_leave_nothing(
    tmp_path: Path, trick: str, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members are streamed: neither what one claims nor what it holds comes into the memory as a whole."""
    large = 16 << 20
    monkeypatch.setattr(bringing_in, "MOST", large // 8)
    content = hostile(trick, large)
    (tmp_path / "a.tar").write_bytes(gzip.compress(content, 1) if packed else content)
    del content
    for read in (lambda *paths: bring_in(paths[:1], paths[1]), anonymise_site):
        tracemalloc.start()
        try:
            with pytest.raises(InputError) as refused:
                read(tmp_path / "a.tar", tmp_path / "new")
            assert tracemalloc.get_traced_memory()[1] < large // 2
        finally:
            tracemalloc.stop()
        assert "\n" not in str(refused.value) and len(str(refused.value)) < 300
        assert [path.name for path in tmp_path.iterdir()] == ["a.tar"]


def test_an_archive_of_many_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(CONF + member("site/x") * MOST_FILES + END)
    with pytest.raises(InputError, match="more than 10,000 files"):
        bring_in([tmp_path / "a.tar"], tmp_path / "new")


def test_all_files_of_a_site_together_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bringing_in, "LARGEST", 1000)
    files = (member(f"site/{name}.conf", b"#" * 400) for name in "abc")
    (tmp_path / "a.tar").write_bytes(CONF + b"".join(files) + END)
    with pytest.raises(InputError, match="which is too much"):
        bring_in([tmp_path / "a.tar"], tmp_path / "new")


def test_archives_inside_an_archive_are_no_part_of_a_site(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(nested())
    taken, passed = bring_in([tmp_path / "a.tar"], tmp_path / "new")
    assert [name for name, _ in taken] == ["slurm.conf"]
    assert sorted(passed) == ["inner.tar", "inner.tar.gz", "twice.gz"]


def test_kinds_of_files() -> None:
    assert kind_of("x", b"; MaxProcs: 4\n1 2 3\n") == "jobs.swf"
    assert kind_of("nodes.conf", b"NodeName=n1\n") == "nodes.conf"
    assert kind_of("x.json", b'{"jobs": [{"array_task_string": ""}]}') is None


def test_the_command(
    tmp_path: Path, archive: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    headway = Headway(tmp_path, capsys, monkeypatch)
    assert headway("site", "export").out == script()
    done = headway("site", "import", archive, "frost")
    assert done.status == 0 and "frost: 4 nodes, 64 CPUs, 2 partitions, 2 QOS, 7 associations" in done.out
    assert "8 jobs in the log = 4 scheduled + 4 dropped" in done.out
    shown = headway("site", "frost")
    assert shown.status == 0 and "n[1-4]" in shown.out and "PriorityWeightFairShare" in shown.out
    assert headway("site", "frost", "--json").status == 0
    assert headway("simulate", "frost", "--policy", "easy", "--quiet").status == 0
    (tmp_path / "log.txt").write_bytes((tmp_path / "frost" / "jobs.txt").read_bytes())
    assert headway("simulate", "log.txt", "--site", "frost", "--policy", "easy", "--quiet").status == 0
    refused = headway("simulate", "log.txt", "--site", "frost", "--procs", 4, "--policy", "easy")
    assert refused.status == 2 and "either --site or --procs" in refused.err
    (tmp_path / "bad.conf").write_text("ClusterName=frost\nNodeName=n[1-4] CPUs=many\n", "utf-8")
    for _ in range(2):  # nothing is left that would be in the way of the second time
        refused = headway("site", "import", "bad.conf", "bad")
        assert refused.status == 2 and "bad was not made" in refused.err and "not empty" not in refused.err
        assert not (tmp_path / "bad").exists()
    refused = headway("site", "import", archive)
    assert refused.status == 2 and "Missing argument 'ARCHIVE...'" in refused.err


def test_archives_are_known_by_what_they_hold(tmp_path: Path, archive: Path) -> None:
    """A pipe has no name; a file packed by itself is unpacked, unless it is a log, which is read packed."""
    bring_in([archive], tmp_path / "named")
    os.mkfifo(tmp_path / "pipe")
    sender = Thread(target=(tmp_path / "pipe").write_bytes, args=(archive.read_bytes(),))
    sender.start()
    bring_in([tmp_path / "pipe"], tmp_path / "piped")
    sender.join()
    packed = tmp_path / "packed"
    packed.mkdir()
    for file in (tmp_path / "named").iterdir():
        (packed / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    bring_in(sorted(packed.iterdir()), tmp_path / "single")
    found = [
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()}
        for name in ("named", "piped", "single")
    ]
    assert found[0] == found[1]
    assert gzip.decompress(found[2].pop("jobs.txt.gz")) == found[0].pop("jobs.txt")
    assert found[0] == found[2]


def test_packed_files_that_are_damaged_or_without_end(tmp_path: Path) -> None:
    sound = gzip.compress(b"NodeName=n1\n" * 999, mtime=0)
    for data in (sound[:30], sound[:-4] + b"\0\0\0\0", sound[:20] + b"\xff" * 40):
        (tmp_path / "slurm.conf.gz").write_bytes(data)
        with pytest.raises(InputError, match=r"slurm\.conf\.gz: cannot be unpacked"):
            bring_in([tmp_path / "slurm.conf.gz"], tmp_path / "site")
    (tmp_path / "slurm.conf.gz").write_bytes(gzip.compress(sound))
    with pytest.raises(InputError, match="holds nothing of a site"):
        bring_in([tmp_path / "slurm.conf.gz"], tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_import_tells_what_slurms_rules_do_not_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays, QOS and exclusive nodes are modelled on a site, components that start together are not. What
    newer versions show of each node (SuspendTime, NextState, ReservationName) decides no schedule."""
    run = Headway(tmp_path, capsys, monkeypatch)
    run.write("slurm.conf", "NodeName=n[1-2] CPUs=4\nPartitionName=p Nodes=ALL Default=YES\n")
    nodes = "".join(
        f"NodeName=n{k} Arch=x86_64 CoresPerSocket=1\n   CPUTot=4 Sockets=4 State=IDLE ThreadsPerCore=1\n"
        "   NextState=IDLE ReservationName=maint\n   ResumeAfterTime=None SuspendTime=INFINITE\n"
        for k in (1, 2)
    )
    run.write("node.txt", nodes)
    row = (
        "{}|ann|c|p|high|COMPLETED|1714557600|1714557600|1714557601|1714558201|600|30|4|4|sbatch --exclusive"
    )
    names = "JobID|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS"
    rows = [f"{names}|AllocCPUS|SubmitLine", *(row.format(number) for number in ("1", "2_1", "3+0", "3+1"))]
    run.write("sacct.txt", "\n".join(rows) + "\n")
    done = run("site", "import", "slurm.conf", "node.txt", "sacct.txt", "made")
    assert done.status == 0, done.err
    listed = done.out.partition("Not modelled")[2].split("written to")[0]
    assert "heterogeneous jobs" in listed
    assert not any(word in listed for word in ("QOS", "exclusive nodes", "job arrays"))
    assert "Not modelled" not in run("site", "made").out
    run.write("sacct.json", '{"jobs": [{"job_id": 1, "association": {}}]}')
    both = run("site", "import", "slurm.conf", "sacct.txt", "sacct.json", "both")
    assert "sacct.json: a second log, not read; the log is jobs.txt" in both.out


@pytest.mark.parametrize("shown", ["01.05.2024 10:00:00", "Wed 01 May", "10:00:00"])
def test_times_in_a_format_of_the_users_own_are_told_with_the_remedy(tmp_path: Path, shown: str) -> None:
    """As sacct prints them where SLURM_TIME_FORMAT is set."""
    log = tmp_path / "jobs.txt"
    log.write_text(f"JobID|State|Submit|Start|End|AllocCPUS\n1|COMPLETED|{shown}|{shown}|{shown}|4\n")
    with pytest.raises(InputError, match=r"jobs.txt:2: Submit: .*SLURM_TIME_FORMAT=%s"):
        headway.read(log)
