"""Mistakes in a user's policy: the user's line, the instant, the jobs, one sentence, status 2."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import headway as package
import own_policies
from commands import SWF, Headway
from headway.errors import HeadwayError, UsageError
from headway.policies.own.loading import find

FILE = Path(own_policies.__file__)


@pytest.fixture
def headway(headway: Headway) -> Headway:
    headway.write("log.swf", SWF)
    return headway


def refused(headway: Headway, policy: str) -> str:
    result = headway("simulate", "log.swf", "--policy", policy)
    assert result.status == 2
    assert result.out == ""
    assert "Traceback" not in result.err and "numba" not in result.err.lower()
    sentences = [line for line in result.err.splitlines() if not line.startswith("compiling")]
    assert len(sentences) == 1, result.err
    return sentences[0]


def test_an_exception_shows_line_instant_and_jobs(headway: Headway) -> None:
    headway.write("mine.py", "def mine(view):\n    n = len(view.waiting)\n    return [][n]\n")
    assert refused(headway, "./mine.py:mine") == (
        "headway: mine.py:3 (return [][n]): the policy raised IndexError: list index out of range, at 0 s, "
        "with job 1 waiting and 4 of 4 processors free"
    )


def test_a_field_that_a_job_has_not_names_those_it_has() -> None:
    log = package.Workload.from_arrays(unit="s", submit=[0], procs=[1], runtime=[1], executable=[3])
    has = "a job has no {!r}; it has number, id, submit, procs, walltime, user, group, queue, partition, "
    has += "start, expected_end{}, at 0 s, with job 1 waiting and 4 of 4 processors free"
    there = ", and there is view.waiting.executable for all who wait"
    hidden = "; when a job will end is not known before it has ended"
    for name, more in (("executable", there), ("runtime", hidden)):
        with pytest.raises(HeadwayError) as error:
            package.simulate(log, 4, lambda view, name=name: getattr(view.waiting[0], name))
        assert str(error.value).endswith(has.format(name, more))


def test_a_parameter_that_a_key_has_not(headway: Headway) -> None:
    headway.write("mine.py", "def key(job, now, power=2):\n    return job.procs**power\n")
    for order in ("./mine.py:key(pow=3)", "./mine.py:key(now=3)"):
        said = refused(headway, f"easy(order={order})")
        assert said.endswith(f"./mine.py:key has no parameter {order[14:17]!r}; it has power")


def test_a_path_with_blanks_that_is_not_quoted(headway: Headway) -> None:
    for policy in ("./my policies/mine.py:mine", "easy(order=./my policies/mine.py:key)"):
        assert refused(headway, policy).endswith("; put a path with blanks in quotes")


def test_a_file_of_a_package_is_named_as_its_module(headway: Headway) -> None:
    (headway.folder / "pack").mkdir()
    headway.write("pack/__init__.py", "")
    headway.write("pack/mine.py", "from .other import pick\n")
    headway.write("alone.py", "from .other import pick\n")
    said = refused(headway, "./pack/mine.py:mine")
    assert said.startswith("headway: pack/mine.py:1 (from .other import pick): ImportError: ")
    assert said.endswith(f"; set PYTHONPATH={headway.folder.resolve()} and name the policy pack.mine:Name")
    said = refused(headway, "./alone.py:mine")
    assert said.endswith("; name the module without dots: the file's own folder is searched")


def test_a_wrong_mark_is_told_with_its_line(headway: Headway) -> None:
    text = "from headway.policies.own.words import *\n\n@compiled(k='x')\ndef mine(t, state):\n    pass\n"
    headway.write("mine.py", text)
    assert refused(headway, "./mine.py:mine") == (
        "headway: mine.py:3 (@compiled(k='x')): @compiled: the default of k must be a whole number, not 'x'"
    )


def test_a_text_is_no_key(headway: Headway) -> None:
    headway.write("mine.py", "def key(job, now):\n    return str(now)\n")
    said = refused(headway, "easy(order=./mine.py:key)")
    assert said == "headway: mine.py:1: the key of job 1 at 0 s is '0.0'; it must be a number"


def test_an_exception_that_fails_at_its_own_words(headway: Headway) -> None:
    text = "class Odd(Exception):\n    def __str__(self):\n        return 1 / 0\n\n"
    text += "def mine(view):\n    raise Odd\n"
    headway.write("mine.py", text)
    assert "mine.py:6 (raise Odd): the policy raised Odd, at 0 s" in refused(headway, "./mine.py:mine")


def test_the_line_is_the_users_also_when_a_library_raises(headway: Headway) -> None:
    headway.write("mine.py", "import numpy as np\n\ndef mine(view):\n    np.concatenate([1])\n")
    assert "mine.py:4 (np.concatenate([1])): the policy raised ValueError" in refused(
        headway, "./mine.py:mine"
    )


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "return view.waiting",
            "at 1 s the policy started job 2, which needs 4 processors, when 2 of 4 were free",
        ),
        (
            "return [job.number + 1 for job in view.waiting]",
            "started job 2, which has not been submitted yet (1 counts arrivals from 0 and is no id;",
        ),
        ("return list(view.waiting) * 2", "started job 1, which runs already; a job starts once"),
        (
            "return [0] if view.now >= 10_000_000 else view.waiting if not view.now else []",
            "job 1, which has ended",
        ),
        ("return [99]", "started job number 99, and there are only the numbers 0 to 0"),
        ("return 'ab'", "must answer with the jobs to start or a Decision, not 'ab'"),
        ("return 5", "must answer with the jobs to start or a Decision, not 5"),
        ("return [True]", "must answer with the jobs to start or a Decision, not [True]"),
        ("yield list(view.waiting)", "not a list with a list in it (give that alone)"),
        ("import headway; yield headway.Decision()", "not a list with a Decision in it (give that alone)"),
        ("return view.waiting[0]", "not job 1 alone (write [job])"),
        ("return lambda: []", "not <lambda> itself (call it)"),
        ("import itertools; return itertools.repeat(view.waiting[0])", "started job 1, which runs already"),
        ("return [1.5]", "must answer with the jobs to start or a Decision, not [1.5]"),
        ("return []", "left 4 of 4 jobs waiting for ever (jobs 1, 2, 3, 4): after 3 s nothing runs on 4"),
        ("return []", "and no job arrives any more; a policy starts jobs by returning them"),
        ("view.free += 9; return view.waiting", "needs 4 processors, when 2 of 4 were free"),
        ("view.free = 9; raise KeyError", "at 0 s, with job 1 waiting and 4 of 4 processors free"),
        ("view.now += 1; return []", "waiting for ever (jobs 1, 2, 3, 4): after 3 s"),
        ("return [view.waiting.pop()]", "these jobs are for reading, without 'pop'; take list(...) of them"),
        ("view.waiting = []", "(jobs and view are for reading; keep what you change in variables"),
        ("view.waiting[0].procs = 1", "(jobs and view are for reading; keep what you change in variables"),
        ("return [view.waiting[0].runtime]", "; when a job will end is not known before it has ended"),
        ("return Decision(wake=view.now)", "asked to be woken at 0 s, which is not later than now"),
        ("return Decision(wake=2**62)", "s, which is beyond all times; leave wake out"),
        ("return Decision(wake=1.5)", "asked to be woken at 1.5, which is not a whole number"),
        ("return Decision(kill=[0])", "at 0 s the policy stopped job 1, which does not run"),
    ],
)
def test_what_cannot_be_done_is_told_by_job_and_instant(headway: Headway, body: str, says: str) -> None:
    headway.write("mine.py", f"from headway import Decision\n\n\ndef mine(view):\n    {body}\n")
    sentence = refused(headway, "./mine.py:mine")
    unplaced = body in ("return []", "view.now += 1; return []") or "yield" in body
    line = "mine.py:4: " if unplaced else f"mine.py:5 ({body}): "
    assert sentence.startswith(f"headway: {line}")
    assert says in sentence


def test_the_line_is_the_one_that_returned_at_that_pass(headway: Headway) -> None:
    text = (
        "class Mine:\n    def __init__(self):\n        self.passes = 0\n"
        "    def decide(self, view):\n        self.passes += 1\n"
        "        if self.passes > 1:\n            return helped(view)\n        return view.new\n"
        "def helped(view):\n    return view.waiting\n"
    )
    headway.write("mine.py", text)
    assert "mine.py:7 (return helped(view)): at 1 s the policy started job 2" in refused(
        headway, "./mine.py:Mine"
    )


def test_a_policy_that_differs_every_time_is_told_where_it_stands(headway: Headway) -> None:
    text = (
        "TIMES = []\n\ndef mine(view):\n    TIMES.append(view.now)\n"
        "    return view.waiting if TIMES.count(0) == 1 else view.new[:0]\n"
    )
    headway.write("mine.py", text)
    assert "mine.py:3: at 1 s the policy started job 2" in refused(headway, "./mine.py:mine")


@pytest.mark.parametrize(
    ("text", "policy", "says"),
    [
        ("def mine(view:\n", "mine", "mine.py:1 (def mine(view:): this is not Python"),
        ("x = 1\ny = x / 0\n", "mine", "mine.py:2 (y = x / 0): ZeroDivisionError"),
        ("import nowhere\n", "mine", "mine.py:1 (import nowhere): ModuleNotFoundError"),
        ("def other(view): pass\n", "othr", "there is no 'othr' (did you mean 'other'?); it defines other"),
        ("def mine(view, k=1): pass\n", "mine(j=2)", "has no parameter 'j'; it has k"),
        (
            "class Mine:\n    def __init__(self, k): pass\n",
            "Mine",
            "k must be given, as in ./mine.py:Mine(k=1)",
        ),
        ("class Mine:\n    pass\n", "Mine", "this is not a policy; write a function of the view"),
        ("class Mine:\n    def decide(self): pass\n", "Mine", "policy's method is written decide(self, view"),
        ("def mine(view, now): pass\n", "mine", "a policy is called with the view alone, def mine(view)"),
        ("def mine(t, state): pass\n", "mine", "parameters t and state is compiled; write @compiled above"),
        (
            "class Mine:\n    def __init__(self, k):\n        raise ValueError('k is odd')\n",
            "Mine(k=1)",
            "mine.py:3 (raise ValueError('k is odd')): ValueError: k is odd when ./mine.py:Mine was made",
        ),
    ],
)
def test_what_cannot_be_loaded_is_told_by_file_and_line(
    headway: Headway, text: str, policy: str, says: str
) -> None:
    headway.write("mine.py", text)
    assert says in refused(headway, f"./mine.py:{policy}")


def test_files_and_modules_that_do_not_exist(headway: Headway) -> None:
    assert "./none.py: there is no such file" in refused(headway, "./none.py:mine")
    assert "there is no module 'nowhere'; a file is written with its ending" in refused(
        headway, "nowhere:mine"
    )


def test_a_file_below_the_home_of_nobody(headway: Headway, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "~nobody-here/mine.py: there is no such file" in refused(headway, "~nobody-here/mine.py:mine")
    sweep = '[[workload]]\ntrace = "log.swf"\n[[policy]]\npolicy = "~nobody-here/mine.py:mine"\n'
    headway.write("s.toml", sweep)
    assert "there is no file ~nobody-here" in headway("sweep", "s.toml", "--out", "new").err
    monkeypatch.setenv("HEADWAY_DATA_DIR", "~nobody-here/data")
    assert headway("datasets").status == 0


def test_a_class_in_place_of_its_object_and_other_things_are_refused() -> None:
    log = package.Workload.from_arrays(unit="s", submit=[0], procs=[1], runtime=[1])
    with pytest.raises(HeadwayError, match=r"give an object of it, Limited\(\)"):
        package.simulate(log, 4, own_policies.Limited)
    with pytest.raises(HeadwayError, match="is not a policy"):
        package.simulate(log, 4, 7)


def test_other_things_in_the_place_of_workload_platform_and_schedule_are_refused() -> None:
    log = package.Workload.from_arrays(unit="s", submit=[0], procs=[1], runtime=[1])
    for platform in ("rackham", None, 4.0):
        with pytest.raises(UsageError, match=r"is not a platform; give a number of processors"):
            package.simulate(log, platform, "easy")  # type: ignore[arg-type]
    assert package.simulate(log, np.int64(4), "easy").capacity == 4  # type: ignore[arg-type]
    for workload in ("log.swf", None):
        with pytest.raises(UsageError, match=r"is not a workload; read a log with headway.read"):
            package.simulate(workload, 4, "easy")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"'result' is not a schedule; load a folder with"):
        package.compare([package.simulate(log, 4, "fcfs"), "result"])  # type: ignore[list-item]
    with pytest.raises(UsageError, match=r"'result' is not a schedule; load a folder with"):
        package.audit("result")  # type: ignore[arg-type]


def test_verdicts_and_comparisons_are_shown_in_a_line() -> None:
    log = package.Workload.from_arrays(unit="s", submit=[0], procs=[1], runtime=[1])
    made = [package.simulate(log, 4, policy) for policy in ("easy", "fcfs")]
    assert repr(package.audit(made[1])) == f"<Audit: {package.audit(made[1])}>"
    assert repr(package.compare(made)).startswith("<Comparison of easy, fcfs on ")


def test_compiled_policies_are_listed_too(tmp_path: Path) -> None:
    file = tmp_path / "both.py"
    file.write_text(
        "from headway.policies.own.words import *\n\n\n"
        "@compiled\ndef fast(t, state):\n    return\n\n\ndef plain(view):\n    return []\n"
    )
    with pytest.raises(UsageError, match=r"; it defines fast, plain$"):
        find(str(file), None, "absent")


@pytest.mark.parametrize(
    ("policy", "place"),
    [
        ("./mine.py:mine", "mine.py:4 (sys.exit(0)): the policy raised SystemExit: 0, at 0 s"),
        ("./mine.py:lazy", "mine.py:7 (yield sys.exit(0)): the policy raised SystemExit: 0, at 0 s"),
        ("./mine.py:Made", "mine.py:12 (sys.exit(0)): SystemExit: 0 when ./mine.py:Made was made"),
        ("easy(order=./mine.py:key)", "mine.py:18 (sys.exit(0)): the key raised SystemExit: 0, for job 1"),
        ("./ends.py:mine", "ends.py:1 (import sys; sys.exit(0)): SystemExit: 0 when the file was loaded"),
    ],
)
def test_a_policy_does_not_end_the_command(headway: Headway, policy: str, place: str) -> None:
    """Else a run of which nothing was done would count as a success."""
    headway.write("ends.py", "import sys; sys.exit(0)\n")
    headway.write(
        "mine.py",
        "import sys\n\ndef mine(view):\n    sys.exit(0)\n\ndef lazy(view):\n    yield sys.exit(0)\n\n\n"
        "class Made:\n    def __init__(self):\n        sys.exit(0)\n\n    def decide(self, view):\n"
        "        return []\n\ndef key(job):\n    sys.exit(0)\n",
    )
    assert place in refused(headway, policy)


OWN_END = """\
class End(BaseException):
    pass

def mine(view):
    raise End("enough")

def lazy(view):
    yield from (mine(view) for _ in view.waiting)

class Made:
    def __init__(self):
        raise End

    def decide(self, view):
        return []

class Kept(Made):
    def __init__(self):
        pass

    def __deepcopy__(self, memo):
        raise End

def key(job):
    raise End
"""


@pytest.mark.parametrize(
    ("policy", "place"),
    [
        ("./mine.py:mine", 'mine.py:5 (raise End("enough")): the policy raised End: enough, at 0 s'),
        ("./mine.py:lazy", 'mine.py:5 (raise End("enough")): the policy raised End: enough, at 0 s'),
        ("./mine.py:Made", "mine.py:12 (raise End): End when ./mine.py:Made was made"),
        ("./mine.py:Kept", "mine.py:14: the policy cannot be copied (End), and every simulation"),
        ("easy(order=./mine.py:key)", "mine.py:25 (raise End): the key raised End, for job 1"),
        ("./ends.py:mine", "ends.py:1 (raise BaseException): BaseException when the file was loaded"),
    ],
)
def test_what_is_no_plain_exception_is_a_mistake_all_the_same(
    headway: Headway, policy: str, place: str
) -> None:
    headway.write("ends.py", "raise BaseException\n")
    headway.write("mine.py", OWN_END)
    assert place in refused(headway, policy)


@pytest.mark.parametrize("policy", ["./mine.py:mine", "./mine.py:lazy", "./mine.py:Made", "./mine.py:key"])
def test_an_interrupt_in_a_policy_is_an_interrupt(headway: Headway, policy: str) -> None:
    text = OWN_END.replace("class End(BaseException):\n    pass", "End = KeyboardInterrupt\n")
    headway.write("mine.py", text)
    spec = f"easy(order={policy})" if policy.endswith("key") else policy
    result = headway("simulate", "log.swf", "--policy", spec)
    assert result.status == 130
    at = {
        "./mine.py:mine": '; the policy was at mine.py:5 (raise End("enough"))',
        "./mine.py:lazy": '; the policy was at mine.py:5 (raise End("enough"))',
    }
    assert result.err.splitlines()[-1] == f"headway: interrupted{at.get(policy, '')}"


def test_a_policy_that_cannot_be_copied_is_refused(headway: Headway) -> None:
    headway.write(
        "mine.py",
        "import threading\n\nclass Mine:\n    def __init__(self):\n        self.lock = threading.Lock()\n\n"
        "    def decide(self, view):\n        return view.waiting\n",
    )
    assert "mine.py:7: the policy cannot be copied (TypeError: " in refused(headway, "./mine.py:Mine")


def test_a_key_beyond_the_floats_is_refused(headway: Headway) -> None:
    headway.write("mine.py", "def key(job):\n    return 10**400\n")
    assert "the key of job 1 at 0 s is 1000" in refused(headway, "easy(order=./mine.py:key)")


def test_a_package_that_offers_a_policy_under_a_name_of_ours(
    headway: Headway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``easy`` stays ours, so the list shows the name under which the package's policy is found."""
    (headway.folder / "pack-1.0.dist-info").mkdir()
    headway.write("pack-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: pack\nVersion: 1.0\n")
    offers = "[headway.policies]\neasy = pack.mine:late\nlate = pack.mine:late\n"
    headway.write("pack-1.0.dist-info/entry_points.txt", offers)
    monkeypatch.syspath_prepend(headway.folder)
    listed = [line.split(maxsplit=1) for line in headway("policies").out.splitlines() if "pack" in line]
    assert [(name, words.strip()) for name, words in listed if "package pack" in words] == [
        ("pack.mine:late", "from the installed package pack; the name easy is ours"),
        ("late", "from the installed package pack"),
    ]
