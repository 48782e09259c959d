"""The spec grammar and the binding of specs to functions."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.binding import bind, canonical, describe, summary
from headway.errors import UsageError
from headway.grammar import Call, Value, parse_call


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("easy", Call("easy")),
        ("easy()", Call("easy")),
        (" easy ( ) ", None),
        ("easy(backfill=sjf, depth=3)", Call("easy", (), {"backfill": "sjf", "depth": 3})),
        ("f(2)", Call("f", (2,))),
        (
            "a(b(1, c=2.5), d=[1, 'x y', e])",
            Call("a", (Call("b", (1,), {"c": 2.5}),), {"d": [1, "x y", "e"]}),
        ),
        ("local(share=2/3)", Call("local", (), {"share": 2 / 3})),
        ("x(a=-1e3, b=+.5, c=true, d=none)", Call("x", (), {"a": -1000.0, "b": 0.5, "c": True, "d": None})),
        ("./mine.py:Policy(k=3)", Call("./mine.py:Policy", (), {"k": 3})),
        (r"""m(with=["a\"b.swf", 'c:\\d'])""", Call("m", (), {"with": ['a"b.swf', "c:\\d"]})),
        ("m(with=[[1, 2], []])", Call("m", (), {"with": [[1, 2], []]})),
    ],
)
def test_texts_and_what_they_mean(text: str, call: Call | None) -> None:
    if call is None:
        with pytest.raises(UsageError):
            parse_call(text)
    else:
        assert parse_call(text) == call


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected a name, a number, a time such as 10min, a quoted text or a list at the end"),
        ("easy(", "at the end"),
        ("easy(a=1", "expected ',' or ')' at the end"),
        ("easy(a=1 b=2)", "before 'b=2)'"),
        ("easy(a=1, a=2)", "the parameter a is given twice"),
        ("easy(a=1, 2)", "expected 'name=value'"),
        ("easy(x=[1, 2)", "expected ',' or ']'"),
        ("easy(x='abc)", "a closing '"),
        ("easy)", "expected nothing more"),
        ("3", "expected a name, optionally with parameters"),
        ("a(b=1/0)", "a number other than 0"),
    ],
)
def test_mistakes_show_their_place(text: str, says: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_call(text)
    assert says in str(error.value)


names = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True).filter(
    lambda n: n not in ("true", "false", "none")
)
values: st.SearchStrategy[Value] = st.recursive(
    st.one_of(
        st.integers(-(10**9), 10**9),
        st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not x.is_integer()),
        st.text(max_size=8),
        st.booleans(),
        st.none(),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.builds(
            Call,
            names,
            st.lists(inner, min_size=1, max_size=2).map(tuple),
            st.dictionaries(names, inner, max_size=2),
        ),
    ),
    max_leaves=8,
)


@given(
    st.builds(
        Call, names, st.lists(values, max_size=2).map(tuple), st.dictionaries(names, values, max_size=3)
    )
)
def test_what_is_written_reads_back(call: Call) -> None:
    assert parse_call(str(call)) == call


def sample(work: object, size: int, mode: Literal["fast", "slow"] = "fast", from_: float = 0.0,
           users: list[int | str] | None = None, exact: bool = False) -> None:  # fmt: skip
    """Do a thing.

    size: how large,
        in all.
    mode: how.
    from: since when.
    users, exact: who, and
        whether.
    """


PARAMETERS = describe(sample, skip=1)


def test_a_function_describes_itself() -> None:
    assert [p.name for p in PARAMETERS] == ["size", "mode", "from", "users", "exact"]
    assert [p.doc for p in PARAMETERS] == [
        "how large, in all.",
        "how.",
        "since when.",
        "who, and whether.",
        "who, and whether.",
    ]
    assert PARAMETERS[0].required and not PARAMETERS[1].required
    assert PARAMETERS[1].expected() == "fast|slow"
    assert summary(sample) == "Do a thing."


def test_values_are_checked_and_converted() -> None:
    bound = bind(parse_call("sample(4, from=2, users=7)"), PARAMETERS, where="sample")
    assert bound == {"size": 4, "from_": 2.0, "users": [7]} and isinstance(bound["from_"], float)
    assert (
        canonical("sample", PARAMETERS, bound) == "sample(size=4, mode=fast, from=2, users=[7], exact=false)"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sample", "sample: size is missing; give a whole number"),
        ("sample(size=x)", "size must be a whole number, not x"),
        ("sample(size=1.5)", "size must be a whole number, not 1.5"),
        ("sample(size=true)", "size must be a whole number, not true"),
        ("sample(1, mode=quick)", "mode must be fast|slow, not quick"),
        ("sample(1, exact=1)", "exact must be true|false, not 1"),
        ("sample(1, users=[[1]])", "users must be a list"),
        (
            "sample(1, sice=2)",
            "no parameter sice (did you mean 'size'?); there are size, mode, from, users, exact",
        ),
        ("sample(1, size=2)", "size is given twice"),
        ("sample(1, fast, 0, [], true, 6)", "takes 5 parameters"),
    ],
)
def test_wrong_values_are_told_with_what_is_right(text: str, says: str) -> None:
    with pytest.raises(UsageError) as error:
        bind(parse_call(text), PARAMETERS, where="sample")
    assert says in str(error.value)


def test_times_may_have_units() -> None:
    call = parse_call("limit(walltime=24h, a=90min, b=1.5d, c=10s, d=3)")
    assert call.kwargs == {"walltime": 86400, "a": 5400, "b": 129600, "c": 10, "d": 3}
    with pytest.raises(UsageError, match="expected"):
        parse_call("limit(walltime=24hours)")
