from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import UsageError
from headway.policies.catalogue import ALIASES, POLICIES
from headway.policies.entry import Parameter
from headway.policies.queueing.policy import ORDERS
from headway.policies.spec import Spec, make_spec, parse_spec


def test_defaults_are_filled_in() -> None:
    spec = parse_spec("easy")
    assert spec.params == {
        "order": "fcfs",
        "backfill": "fcfs",
        "estimate": "requested",
        "age": "none",
        "depth": 1,
        "urgent": "ignore",
    }
    assert str(spec) == (
        "easy(order=fcfs, backfill=fcfs, estimate=requested, age=none, depth=1, urgent=ignore)"
    )
    assert spec.brief == "easy"
    assert not spec.is_user


def test_backfill_follows_order_unless_given() -> None:
    assert parse_spec("easy(order=sjf)").params["backfill"] == "sjf"
    spec = parse_spec("easy(order=sjf, backfill=fcfs)")
    assert spec.params["backfill"] == "fcfs"
    assert spec.brief == "easy(order=sjf, backfill=fcfs)"
    assert parse_spec("easy(backfill=sjf)").brief == "easy(backfill=sjf)"


def test_spaces_quotes_and_order_of_parameters_do_not_matter() -> None:
    plain = parse_spec("easy(order=sjf,depth=3)")
    assert parse_spec("  easy( depth = 3 , order = 'sjf' ) ") == plain
    assert parse_spec('easy(order="sjf", depth=3)') == plain
    assert parse_spec("easy()") == parse_spec("easy")


def test_values_have_their_types() -> None:
    params = parse_spec("easy(estimate=1.5, age=3600, depth=all)").params
    assert (params["estimate"], params["age"], params["depth"]) == (1.5, 3600.0, "all")
    assert parse_spec("easy(estimate=2)").params["estimate"] == 2.0
    assert type(parse_spec("easy(depth=7)").params["depth"]) is int
    assert parse_spec("easy(age=none)") == parse_spec("easy")
    assert parse_spec("conservative(compress=none)").params["compress"] == "none"
    assert parse_spec("redirection(theta=inf)").params["theta"] == math.inf
    assert "theta=inf" in str(parse_spec("redirection(theta=inf)"))


def test_alias_has_the_canonical_name() -> None:
    assert ALIASES["cbf"] == "conservative"
    assert parse_spec("cbf(hole=open)") == parse_spec("conservative(hole=open)")
    assert str(parse_spec("cbf")).startswith("conservative(")


def test_nested_policies_are_specs_with_their_defaults() -> None:
    spec = parse_spec("redirection(principal=cbf(compress=every), redirected=easy(order=sjf))")
    assert spec.params["principal"] == parse_spec("conservative(compress=every)")
    assert spec.params["redirected"] == parse_spec("easy(order=sjf)")
    assert spec.brief == "redirection(principal=conservative(compress=every), redirected=easy(order=sjf))"


def test_group_stands_instead_of_alpha() -> None:
    assert "group" not in parse_spec("redirection").params
    assert parse_spec("redirection").params["alpha"] == 0.15
    spec = parse_spec("redirection(group=30)")
    assert spec.params["group"] == 30
    assert "alpha" not in spec.params
    assert parse_spec(str(spec)) == spec
    with pytest.raises(UsageError, match="either alpha or group, not both"):
        parse_spec("redirection(group=30, alpha=0.2)")


def test_user_policies_from_file_and_module() -> None:
    spec = parse_spec("./mine.py:Mine(k=3, label='a, b', fast=true, limit=none, base=easy(order=sjf), x=0.5)")
    assert (spec.file, spec.module, spec.attribute) == ("./mine.py", None, "Mine")
    assert spec.is_user
    assert spec.params == {
        "k": 3,
        "label": "a, b",
        "fast": True,
        "limit": None,
        "base": parse_spec("easy(order=sjf)"),
        "x": 0.5,
    }
    assert parse_spec(str(spec)) == spec
    assert spec.brief == str(spec)
    spec = parse_spec("site.policies:Fair")
    assert (spec.file, spec.module, spec.attribute) == (None, "site.policies", "Fair")
    assert str(spec) == "site.policies:Fair"


def test_make_spec_from_python() -> None:
    assert make_spec("easy", order="sjf", depth=2) == parse_spec("easy(order=sjf, depth=2)")
    assert make_spec("redirection", principal=parse_spec("cbf")) == parse_spec("redirection(principal=cbf)")
    assert parse_spec(make_spec("easy")) == make_spec("easy")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("eazy", "no policy 'eazy' (did you mean 'easy'?); there are fcfs, sjf,"),
        ("EASY", "did you mean 'easy'?"),
        ("zzz", "there is no policy 'zzz'; there are fcfs"),
        ("easy(age=1e300)", "easy: age is longer than can be kept: 1e+300 seconds"),
        ("reallocation(period=1e13)", "reallocation: period is longer than can be kept: 10000000000000"),
        ("reallocation(threshold=1e300)", "reallocation: threshold is longer than can be kept"),
        ("reallocation(period=1e-7)", "reallocation: period is shorter than a microsecond: 1e-07 seconds"),
        ("area-filling(areas=1e15)", "area-filling: areas is longer than can be kept"),
        ("lem(threshold=1e300)", "lem: threshold is larger than 1e+15, beyond which nothing can be computed"),
        ("ujfb(host_memory=1e16)", "ujfb: host_memory is larger than 1e+15, beyond which nothing can be"),
        ("easy(ordr=sjf)", "easy has no parameter 'ordr' (did you mean 'order'?); it has order, backfill,"),
        ("fcfs(order=sjf)", "fcfs has no parameter 'order'; it has urgent"),
        ("easy(order=conservative)", "easy: order must be fcfs, sjf"),
        ("easy(depth=0)", "easy: depth must be all or a whole number of at least 1, not 0"),
        ("easy(depth=1.5)", "not 1.5"),
        ("easy(depth=inf)", "not 'inf'"),
        ("easy(depth=many)", "not 'many'"),
        ("easy(depth=true)", "not true"),
        (
            "easy(estimate=0)",
            "easy: estimate must be requested, exact, average2, last2, a number above 0 or a function of "
            "your own",
        ),
        ("easy(estimate=-1)", "not -1"),
        ("easy(age=-5)", "easy: age must be none or a number of seconds of at least 0, not -5"),
        ("easy(age='1 hour')", "not '1 hour'"),
        ("easy(urgent=second)", "easy: urgent must be ignore or first, not 'second'"),
        ("conservative(compress=always)", "must be early, every, fixpoint, scratch or none, not 'always'"),
        ("conservative(hole=3)", "hole must be closed or open, not 3"),
        ("redirection(theta=-1)", "theta must be inf or a whole number of at least 0, not -1"),
        ("redirection(alpha=1)", "alpha must be a number of at least 0 and below 1, not 1"),
        ("redirection(group=-1)", "group must be a whole number of processors of at least 0, not -1"),
        ("redirection(principal=redirection)", "principal must be easy, conservative, dbf, fcfs"),
        ("redirection(principal=3)", "principal must be easy"),
        ("redirection(principal=./mine.py:Mine)", "principal must be easy"),
        ("redirection(principal=easy(depth=0))", "easy: depth must be"),
        ("redirection(principal=eazy)", "did you mean 'easy'?"),
        ("easy(sjf)", "easy: write parameters as name=value, not 'sjf' alone"),
        ("easy(order=sjf", "expected ',' or ')' at the end"),
        ("easy(order=sjf))", "expected nothing more before ')'"),
        ("easy(order=)", "expected a name, a number"),
        ("easy(order=sjf, order=fcfs)", "the parameter order is given twice"),
        ("easy(order='sjf)", "expected a closing '"),
        ("", "the policy is empty"),
        ("  ", "the policy is empty"),
        ("42", "expected a name"),
        ("redirection(principal=" * 5000, "is nested too deeply"),
        ("mine.py", "names a file but no policy in it; write mine.py:Name"),
        ("./mine.py:", "a policy of your own is written ./file.py:Name"),
        ("./mine.py:3x", "a policy of your own is written ./file.py:Name"),
        ("./mine.txt:Mine", "neither a Python file (.py) nor the name of a module"),
    ],
)
def test_mistakes_say_what_exists(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_spec(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_specs_are_never_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setattr(os, "system", lambda command: pytest.fail(f"ran {command}"))
    for text in ("__import__('os').system('true')", "easy(order=__import__('os').system('true'))"):
        with pytest.raises(UsageError):
            parse_spec(text)


def values(parameter: Parameter) -> st.SearchStrategy[object]:
    options: list[st.SearchStrategy[object]] = []
    if parameter.policies:
        options.append(st.sampled_from(parameter.policies).map(parse_spec))
    if parameter.choices:
        options.append(st.sampled_from(parameter.choices))
    if parameter.number is int:
        options.append(st.integers(int(parameter.low), 10**9))
    if parameter.number is float:
        high = min(parameter.high, 1e7 if parameter.unit == "days" else 1e12)
        least = 1e-6 if parameter.open_low and parameter.unit else parameter.low
        options.append(
            st.floats(
                least,
                high,
                exclude_min=parameter.open_low,
                exclude_max=parameter.open_high,
                allow_subnormal=False,
            )
        )
    return st.one_of(options)


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    info = POLICIES[draw(st.sampled_from(sorted(POLICIES)))]
    names = [parameter.name for parameter in info.parameters]
    taken = draw(st.sets(st.sampled_from(names))) if names else set()
    params: dict[str, object] = {}
    for parameter in info.parameters:
        if parameter.name in taken and parameter.instead_of not in params:
            params[parameter.name] = draw(values(parameter))
    return make_spec(info.name, **params)


@given(specs())
def test_canonical_and_brief_texts_parse_back(spec: Spec) -> None:
    assert parse_spec(str(spec)) == spec
    assert parse_spec(spec.brief) == spec
    assert hash(parse_spec(spec.brief)) == hash(spec)


user_values = st.one_of(
    st.integers(-(10**12), 10**12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
    st.text(st.characters(exclude_categories=["Cs"])),
)


@given(st.dictionaries(st.from_regex(r"[a-z_][a-z_0-9]{0,8}", fullmatch=True), user_values, max_size=4))
def test_user_parameters_parse_back(params: dict[str, object]) -> None:
    spec = Spec("./mine.py:Mine", params, file="./mine.py", attribute="Mine")
    assert parse_spec(str(spec)) == spec


@given(st.text(st.sampled_from("easyfcs(=,)'\"[]./:3-_ \\\n"), max_size=30))
def test_no_text_gives_anything_but_a_spec_or_one_sentence(text: str) -> None:
    try:
        spec = parse_spec(text)
    except UsageError as error:
        assert "\n" not in str(error)
    else:
        assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize("name", POLICIES)
def test_every_entry_is_complete(name: str) -> None:
    info = POLICIES[name]
    assert info.name == name
    assert info.summary and not info.summary.endswith(".")
    # Slides and drafts have no identifier; reports and proceedings of one series have a number.
    known = ("doi:10.", "hal-", "slides", "drafts", "CRPIT ", "technical report ")
    assert info.citation and all(any(mark in text for mark in known) for text in info.citation)
    assert parse_spec(info.example).name == name
    for parameter in info.parameters:
        assert parameter.doc and parameter.accepts and parameter.default_words
        # The default stands first among the choices, as everywhere in the documentation.
        if parameter.choices and isinstance(parameter.default, str):
            assert parameter.choices[0] == parameter.default
    assert not set(info.aliases) & set(POLICIES)


def test_the_orders_of_the_field_are_there() -> None:
    assert ORDERS == (
        "fcfs", "sjf", "ljf", "sqf", "lqf", "saf", "laf", "lxf", "wfp3", "unicef", "f1", "f2", "f3", "f4",
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        'easy(order="{}:key")',
        'easy(order="{}:key"(power=3))',
        '"{}:Mine"',
        '"{}:Mine"(k=4)',
        'redirection(principal=easy(order="{}:key"))',
        'agent(file="{}")',
    ],
)
def test_paths_with_blanks_and_quotes_are_written_so_that_they_can_be_read(tmp_path: Path, text: str) -> None:
    """The text stands in run.json, and is what explain and audit go by."""
    file = tmp_path / "it's my own.py"
    file.write_text(
        "class Mine:\n    def __init__(self, k=3): ...\ndef key(job, now, power=2): return power\n"
    )
    spec = parse_spec(text.format(file))
    assert str(parse_spec(str(spec))) == str(spec)
    assert str(parse_spec(spec.brief)) == str(spec)
