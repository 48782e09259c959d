"""The catalogue, the registry of local copies, and downloads from a server on this machine."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request

import pytest

from commands import SWF, Headway
from headway.errors import HeadwayError, InputError, UsageError
from headway.workload import read
from headway.workload.datasets.download import _Guarded, download
from headway.workload.datasets.registry import (
    DATASETS,
    add,
    copies,
    data_folder,
    find,
    place_of,
    registry_file,
    remove,
)
from traces import FOLDER, KEPT

BODY = gzip.compress(SWF.encode() * 2000, mtime=0)
SUM = hashlib.sha256(BODY).hexdigest()


OPEN = ("--allow-http", "--sha256", "none")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_DATA_DIR", str(tmp_path / "data"))


class Server(BaseHTTPRequestHandler):
    """Serves BODY under /log.swf.gz; /cut sends half of it the first time, /plain knows no ranges."""

    asked: list[tuple[str, str | None]] = []  # noqa: RUF012
    tag = '"one"'

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.asked.append((self.path, wanted))
        if self.path not in ("/log.swf.gz", "/cut", "/plain"):
            self.send_error(404)
            return
        begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if self.path == "/plain" or self.headers.get("If-Range", self.tag) != self.tag:
            begin = 0
        if begin >= len(BODY):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(BODY)}")
            self.end_headers()
            return
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(BODY) - 1}/{len(BODY)}")
        self.send_header("ETag", self.tag)
        self.send_header("Content-Length", str(len(BODY) - begin))
        self.end_headers()
        half = len(BODY) // 2 if self.path == "/cut" and not begin else len(BODY)
        self.wfile.write(BODY[begin:half] if half < len(BODY) else BODY[begin:])


@pytest.fixture
def server() -> Iterator[str]:
    Server.asked, Server.tag = [], '"one"'
    running = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_address[1]}"
    finally:
        running.shutdown()
        running.server_close()
        thread.join()


def test_a_download_is_whole_and_checked(server: str, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    target = tmp_path / "new" / "log.swf.gz"

    def tell(*now: int) -> None:
        seen.append((now[0], now[1]))

    assert download(f"{server}/log.swf.gz", target, SUM, tell, unencrypted=True) == SUM
    assert target.read_bytes() == BODY and seen[-1] == (len(BODY), len(BODY))
    assert [path.name for path in target.parent.iterdir()] == ["log.swf.gz"]


def test_a_download_that_broke_off_goes_on(server: str, tmp_path: Path) -> None:
    target = tmp_path / "log.swf.gz"
    with pytest.raises(InputError, match=f"ended after {len(BODY) // 2} of {len(BODY)} bytes"):
        download(f"{server}/cut", target, unencrypted=True)
    assert not target.exists() and (tmp_path / "log.swf.gz.part").stat().st_size == len(BODY) // 2
    assert download(f"{server}/cut", target, SUM, unencrypted=True) == SUM
    assert target.read_bytes() == BODY
    assert Server.asked == [("/cut", None), ("/cut", f"bytes={len(BODY) // 2}-")]


def test_what_is_left_of_another_file_is_not_continued(server: str, tmp_path: Path) -> None:
    target = tmp_path / "log.swf.gz"
    with pytest.raises(InputError):
        download(f"{server}/cut", target, unencrypted=True)
    (tmp_path / "log.swf.gz.part").write_bytes(b"x" * 30)
    Server.tag = '"two"'
    download(f"{server}/log.swf.gz", target, SUM, unencrypted=True)
    assert target.read_bytes() == BODY


def test_a_server_without_ranges_starts_again(server: str, tmp_path: Path) -> None:
    target = tmp_path / "log.swf.gz"
    (tmp_path / "log.swf.gz.part").write_bytes(BODY[:100])
    (tmp_path / "log.swf.gz.part.tag").write_text('"one"')
    download(f"{server}/plain", target, SUM, unencrypted=True)
    assert target.read_bytes() == BODY


def test_a_part_that_is_whole_is_kept(server: str, tmp_path: Path) -> None:
    target = tmp_path / "log.swf.gz"
    (tmp_path / "log.swf.gz.part").write_bytes(BODY)
    (tmp_path / "log.swf.gz.part.tag").write_text('"one"')
    assert download(f"{server}/log.swf.gz", target, unencrypted=True) == SUM


def test_a_wrong_checksum_leaves_nothing(server: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has the checksum"):
        download(f"{server}/log.swf.gz", tmp_path / "log.swf.gz", "0" * 64, unencrypted=True)
    assert list(tmp_path.glob("log*")) == []


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("/nothing", "there is no such file; look for it on the dataset's page"),
        ("", "not an address"),
        ("http://127.0.0.1:1/x", "cannot be reached"),
    ],
)
def test_a_failed_download_is_one_sentence(server: str, tmp_path: Path, address: str, sentence: str) -> None:
    url = f"{server}{address}" if address.startswith("/") else address or "ftp://x/y"
    with pytest.raises(InputError, match=sentence) as error:
        download(url, tmp_path / "log.swf.gz", unencrypted=True)
    assert "\n" not in str(error.value) and list(tmp_path.glob("log*")) == []


def test_the_command_downloads_registers_and_reads(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    headway = Headway(tmp_path, capsys, monkeypatch)
    cut = headway("datasets", "download", "Mine", "--url", f"{server}/cut", *OPEN)
    assert cut.status == 2 and "run the same command again" in cut.err and copies() == {}
    done = headway("datasets", "download", "Mine", "--url", f"{server}/cut", "--sha256", SUM, "--allow-http")
    assert done.status == 0 and SUM in done.out.replace("\n", "") and copies()["mine"].sha256 == SUM
    assert headway("inspect", "mine").status == 0
    assert "Your own" in headway("datasets").out
    gone = headway("datasets", "download", "other", "--url", f"{server}/nothing", *OPEN)
    assert gone.status == 2 and "there is no such file" in gone.err and len(gone.err.splitlines()) == 1


def test_every_reader_takes_a_registered_name(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text(SWF)
    copy = add(log, "Mine-1")
    assert copy.sha256 == hashlib.sha256(SWF.encode()).hexdigest() and copies() == {"mine-1": copy}
    assert read("MINE-1").job.tolist() == [1, 2, 3, 4]
    assert json.loads(registry_file().read_text())["mine-1"]["path"] == str(log)
    log.write_text(SWF + "; changed\n")
    with pytest.raises(InputError, match="has changed since it was registered"):
        read("mine-1")
    log.unlink()
    with pytest.raises(InputError, match="the file of the dataset mine-1 is gone"):
        read("mine-1")
    remove("mine-1")
    with pytest.raises(UsageError, match="no dataset mine-1 is registered"):
        remove("mine-1")
    with pytest.raises(InputError, match="there is no such file"):
        read("mine-1")


def test_a_file_comes_before_a_dataset_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kth-sp2").write_text(SWF)
    assert len(read("kth-sp2")) == 4


def test_a_known_log_without_a_copy_says_where_to_get_it() -> None:
    with pytest.raises(UsageError) as error:
        find("KTH-SP2")
    assert DATASETS["kth-sp2"].page in str(error.value) and "datasets add FILE kth-sp2" in str(error.value)
    assert find("no-such-log") is None and find("some/path") is None


@pytest.mark.parametrize("name", ["a/b", "", "-x", "ü", "a b"])
def test_a_name_that_is_no_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(SWF)
    with pytest.raises(UsageError, match="cannot name a dataset"):
        add(tmp_path / "log.swf", name)


def test_a_missing_file_and_a_broken_registry(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        add(tmp_path / "nothing", "x")
    data_folder().mkdir()
    registry_file().write_text("not json")
    with pytest.raises(HeadwayError, match="is not a registry of datasets"):
        copies()


def test_the_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert data_folder() == tmp_path / "data"
    monkeypatch.delenv("HEADWAY_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert data_folder() == tmp_path / "xdg" / "headway"


def test_the_catalogue_is_complete_and_agrees_with_the_files_at_hand() -> None:
    for entry in DATASETS.values():
        assert entry.contains and entry.page.startswith("http") and entry.title
        assert not entry.archived or (entry.file and entry.url and entry.period)
    counted = {entry.file: entry.jobs for entry in DATASETS.values() if entry.counted}
    assert counted == {file: lines for file, (lines, _) in KEPT.items()}
    for entry in DATASETS.values():
        path = FOLDER / f"{entry.file}.swf.gz"
        if entry.counted and entry.name in ("kth-sp2", "sdsc-par96") and path.exists():
            assert read(path).header.max_procs == entry.procs, entry.name


def test_only_encrypted_addresses_unless_told_and_no_way_round_by_a_redirection(
    server: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="is not encrypted"):
        download(f"{server}/log.swf.gz", tmp_path / "log")
    handler = _Guarded(unencrypted=False)
    for elsewhere in ("http://example.org/log", "file:///etc/passwd", "ftp://example.org/x"):
        with pytest.raises(InputError):
            handler.redirect_request(Request("https://example.org"), None, 302, "", {}, elsewhere)


def test_a_checksum_is_asked_for_where_none_is_known(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    headway = Headway(tmp_path, capsys, monkeypatch)
    for words in (("mine", "--url", f"{server}/log.swf.gz"), ("nasa-ipsc",)):
        told = headway("datasets", "download", *words)
        assert told.status == 2 and "--sha256 none" in told.err
    assert "64 digits" in headway("datasets", "download", "mine", "--url", "https://x", "--sha256", "abc").err
    at_hand = [entry for entry in DATASETS.values() if entry.sha256]
    assert len(at_hand) >= 8 and all(re.fullmatch("[0-9a-f]{64}", entry.sha256) for entry in at_hand)


@pytest.mark.parametrize(
    "address",
    ["/datasets.json", "/..", "/../../x", "/..%2f..%2fx", "/a/../datasets.json", "/c:\\x", "/"],
)
def test_an_address_names_no_file_of_ours_and_climbs_nowhere(tmp_path: Path, address: str) -> None:
    place = place_of("mine", f"https://example.org{address}")
    assert place.parent == tmp_path / "data" / "logs" and place.name.startswith("mine")
    assert place != registry_file()
