"""Random SWF texts for Hypothesis: mostly sound, with every oddity the reader knows."""

from __future__ import annotations

from hypothesis import strategies as st

from headway.workload import RULES

WHOLE = st.one_of(
    st.integers(-3, 6).map(str),
    st.integers(0, 10**6).map(str),
    st.integers(10**7, 10**17).map(str),
    st.sampled_from(["-1", "-1", "-1", "0", "+4", "007", "3.0", "-1.00", "1e3", "2.5", "-2.5", "1.50E1"]),
)
TIME = st.one_of(
    st.integers(-3, 300).map(str),
    st.integers(0, 10**10).map(str),
    st.decimals(0, 10**6, places=3).map(str),
    st.sampled_from(
        ["-1", "-1", "0", "552.21", "0.000001", "0.0000015", "12.50000000", "-0.5", "1.5e2", "5.", ".5"]
    ),
)
SMALL = st.integers(0, 5).map(str)
STATUS = st.sampled_from(["1", "1", "0", "5", "5", "2", "3", "4", "-1", "7", "-9"])
_FIELDS = (
    (SMALL | WHOLE, TIME, TIME, TIME, SMALL | WHOLE, TIME, WHOLE, SMALL | WHOLE, TIME, WHOLE, STATUS)
    + (WHOLE,) * 6
    + (TIME,)
)
JOB = st.builds(
    lambda fields, count, extra, gap: gap.join([*fields[:count], *extra[: 3 * (count == 18)]]),
    st.tuples(*_FIELDS),
    st.sampled_from([18] * 12 + [5, 11, 17]),
    st.lists(st.sampled_from(["9", "-1", "1.2.3", "text"]), max_size=2) | st.just([]),
    st.sampled_from([" ", " ", "\t", "   ", " \t "]),
)
COMMENT = st.sampled_from(["; Note: é", "; WholeJobs: all", ";", "  ; MaxProcs: 12", "", "   "])
LINES = st.lists(JOB | JOB | JOB | COMMENT, min_size=1, max_size=8).filter(
    lambda lines: any(line.strip() and not line.lstrip().startswith(";") for line in lines)
)
TEXTS = st.builds(
    lambda lines, end, last: end.join(lines) + end * last,
    LINES,
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
VALUES = RULES | {"zone": ("UTC", "none", "Europe/Berlin")}
"""Values of every rule."""
CHOSEN = st.fixed_dictionaries(
    {},
    optional={
        rule: st.sampled_from([value for value in values if value != "error"])
        for rule, values in VALUES.items()
        if rule != "too_large"
    },
)
"""Any choice of rules none of which stops at an oddity."""
