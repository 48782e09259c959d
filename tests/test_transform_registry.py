"""One spec, three places: transformations by name, composed, recorded, and refused in a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from headway.errors import UsageError
from headway.workload.models import lublin
from headway.workload.table import Workload
from headway.workload.transform import TRANSFORMATIONS, apply, apply_each, deadlines, exact, merge, window

SPECS = [
    "window(from=3600, to=200000)",
    "window(from=7200, shift=false)",
    "first(40)",
    "from_zero",
    "limit(walltime=1h)",
    "limit(walltime=600, longer=drop)",
    "load(target=0.6)",
    "load(factor=1.5)",
    "machine(256)",
    "machine(procs=100, of=128, rounding=up)",
    "split(cores=16)",
    "without(flurries=[[2, 10, 50], [3]], users=[1], first_jobs=2)",
    "only(users=[0, 1], least_procs=2, most_procs=64)",
    "part(which=train, train=0.5)",
    "exact",
    "walltimes",
    "walltimes(margin=1.5)",
    "estimates(tsafrir(distinct=power), seed=2)",
    "estimates(f(2))",
    "shake(arrivals=30, runtimes=0.05, seed=4)",
    "feedback(by=fields, think=10min)",
    "deadlines",
    "deadlines(share=1/3, horizon=3600, factor=1.5, seed=1)",
    "urgent(share=0.2, users=[1], seed=3)",
    "inject(jobs=[[8, 60], [16, 30.5]], count=5, choose=random, seed=2)",
    "inject(procs=512, arrivals=poisson(3600), choose=all, stretch=1.5)",
    "inject(arrivals=[100, 50.25])",
    "files(memory=[128, 256, 1024], shares=[6, 3, 1], seed=1)",
    "files(chain=user, within=3600, least=4)",
    "memory(table, seed=3)",
    "memory(source=constant, mb=64.5)",
    "memory(source=log, missing=table)",
    "swap(table)",
    "swap(source=constant, seconds=0.844)",
    "moldable(seed=5)",
    "moldable(fractions=[0.5], limits=[8], shares=[1])",
    'home(clusters=[lyon, "bordeaux 2"], sizes=[64, 128], seed=1)',
]


@pytest.fixture(scope="module")
def work() -> Workload:
    made = lublin(300, procs=128, seed=7, estimates="tsafrir", load=0.9)
    columns = {"user": np.arange(300) % 5, "queue": np.arange(300) % 2, "preceding": np.arange(300) - 4}
    return made.with_columns(transformation=None, **columns)


def same(one: Workload, other: Workload) -> bool:
    return list(one.columns) == list(other.columns) and all(
        np.array_equal(one.columns[name], other.columns[name], equal_nan=one.columns[name].dtype.kind == "f")
        for name in one.columns
    )


def test_every_transformation_is_tried_and_every_parameter_explained() -> None:
    tried = {spec.split("(")[0] for spec in SPECS} | {"local", "merge", "weeks"}
    assert tried == set(TRANSFORMATIONS)
    for entry in TRANSFORMATIONS.values():
        assert entry.summary.endswith(".")
        assert [p.name for p in entry.parameters if not p.doc] == []


@pytest.mark.parametrize(
    "spec",
    ["walltimes(1e300)", "load(factor=1e-300)", "deadlines(factor=1e300)", "shake(arrivals=1e300)",
     "estimates(f(1e300))", "window(from=1e300)", "first(1e300)", "walltimes(1e9)"],
)  # fmt: skip
def test_numbers_that_lead_out_of_the_range_of_times_are_refused(work: Workload, spec: str) -> None:
    with pytest.raises(UsageError, match=r"are not possible|must be a whole number|longer than can be kept"):
        apply(work, spec)


@pytest.mark.parametrize("factor", [float("inf"), float("nan")])
def test_a_factor_from_python_that_is_no_number_is_refused(work: Workload, factor: float) -> None:
    with pytest.raises(UsageError, match=r"deadlines: factor must be a number, not (inf|nan)"):
        deadlines(work, factor=factor)


@pytest.mark.parametrize("spec", SPECS)
def test_what_provenance_says_does_the_same_again(work: Workload, spec: str) -> None:
    once = apply(work, spec)
    assert once.transformations[:-1] == work.transformations
    again = apply(work, once.transformations[-1])
    assert same(once, again) and again.transformations == once.transformations
    assert once.ledger.kept == len(once)
    assert len(np.unique(once.job)) == len(once)


def test_composing_is_applying_one_after_the_other(work: Workload) -> None:
    both = apply(work, "window(to=300000)", "exact")
    assert same(both, exact(window(work, to=300_000)))
    assert both.transformations[-2:] == ("window(from=0, to=300000, shift=true)", "exact(kills=after)")


def test_several_workloads_go_on_one_by_one(work: Workload) -> None:
    spec = "weeks(at_least=0, utilization=submitted, length=86400)"
    parts = apply_each(work, spec, "exact", "first(3)")
    assert len(parts) > 1 and all(len(part) <= 3 for part in parts)
    assert all(np.array_equal(part.walltime, part.runtime) for part in parts)
    assert all(part.transformations[-1] == "first(jobs=3)" for part in parts)
    with pytest.raises(UsageError, match="weeks gives several workloads"):
        apply(work, spec)


def test_local_follows_home(work: Workload) -> None:
    split = apply(work, "home([a, b])", "local(seed=2)")
    assert 0.5 < split.local.mean() < 0.8
    assert same(split, apply(work, "home([a, b])", split.transformations[-1]))
    with pytest.raises(UsageError, match="apply home or merge before"):
        apply(work, "local")


def test_a_merged_workload_is_named_in_provenance(work: Workload) -> None:
    other = lublin(5, procs=16, seed=1)
    told = merge(work, [other], names=["a", "b"]).transformations[-1]
    assert told.startswith('merge(with=["generated; lublin(jobs=5, procs=16')
    assert told.endswith("names=[a, b], align=start)")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("shift(3)", "no transformation shift (did you mean 'split'?); there are deadlines"),
        ("window(form=3)", "window: no parameter form (did you mean 'from'?); there are from, to, shift"),
        ("window(from=9, to=3)", "window: to (3) is before from (9)"),
        ("window(from=soon)", "from must be a number, not soon"),
        ("feedback(think=soon)", "think must be a number of seconds or a time such as 10min, not soon"),
        ("load", "either target or factor"),
        ("load(factor=0)", "above 0"),
        ("machine", "machine: procs is missing"),
        ("machine(0)", "procs must be at least 1"),
        ("split(cores=0)", "cores must be at least 1"),
        ("without(flurries=ctc)", "no flurries known of ctc; there are sdsc-sp2, osc"),
        ("without(flurries=[[1, 2]])", "[user, first job, last job] or [user]"),
        ("estimates(normal)", "no model normal"),
        ("shake(runtimes=1)", "a share of 0..1"),
        ("deadlines(every=0)", "every must be at least 1"),
        ("urgent", "give queues, users or a share"),
        ("urgent(share=2)", "share must be in 0..1"),
        ("inject(flood)", "no set of urgent jobs flood; there are tsunami"),
        ("inject(jobs=[[256, 60]])", "wider than the machine of 128"),
        ("inject(arrivals=monthly)", "uniform, poisson(seconds) or a list"),
        ("inject(jobs=[[8]])", "a job is [processors, seconds]"),
        ("files(memory=[128, 256], shares=[1])", "memory and shares go together"),
        ("memory(source=constant)", "constant needs mb"),
        ("memory(missing=median)", "names no job's memory"),
        ("swap", "apply memory(source=table) before"),
        ("swap(source=constant)", "constant needs seconds"),
        ("moldable(shares=[1, 2])", "lists of one length"),
        ("moldable(fractions=[2], limits=[4], shares=[1])", "fractions must be in 0..1"),
        ("home([a, a])", "different names"),
        ("home([a, b], shares=[0, 0])", "not all 0"),
        ("merge(with=[3])", "files or workloads, not 3"),
        ("weeks(length=0)", "length and step must be above 0"),
        ("weeks", "no waits, so its use is not known; give utilization=submitted"),
    ],
)
def test_mistakes_are_told_in_a_sentence(work: Workload, spec: str, says: str) -> None:
    with pytest.raises(UsageError) as error:
        apply_each(work, spec)
    assert says in str(error.value) and "\n" not in str(error.value)


def test_a_log_that_does_not_say_its_size_needs_procs() -> None:
    bare = Workload.from_arrays(unit="s", submit=[0, 9], procs=[1, 2], runtime=[5, 5])
    for spec in ("load(target=0.5)", "machine(8)", "weeks(utilization=submitted)"):
        with pytest.raises(UsageError, match="does not say how many processors"):
            apply_each(bare, spec)
