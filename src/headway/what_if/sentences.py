"""What a person should take away from an answer, one sentence each."""

from __future__ import annotations

from collections.abc import Sequence

from headway.campaign.intervals import Paired
from headway.changes import counts_processors
from headway.plain import counted, signed_percent
from headway.policies.spec import parse_spec
from headway.units import span_text
from headway.what_if.answer import Answer, Class, Part

FEWEST = 5
"""Jobs that a class must have to be named among those that gain or lose."""
NAMED = 2
"""Classes of each kind that are named."""
LARGE = 10.0
"""Relative changes beyond which an interval is one of times: +300,000 % says nothing."""


def sentences(found: Answer) -> list[str]:
    """The change, who gains, who loses, how sure that is, and what nobody knows."""
    return [*findings(found), *cautions(found)]


def findings(found: Answer) -> list[str]:
    """What the change does, and to whom."""
    if found.same:
        said = [f"With {found.name} every job starts at the same time as without it.", *_counted(found)]
    else:
        said = [*_headline(found), *_ended(found)]
        said += [_who(found.classes, gain=True), _who(found.classes, gain=False)]
        said += [*_users(found.users), *_unsure(found.classes)]
        said += [*_counted(found), *_small(found)]
    if len(found.variant) != len(found.base):
        both = found.overall.pairs + found.ended_early * _leaves_out(found)
        said.append(
            f"The base runs {counted(len(found.base), 'job')} and the variant {len(found.variant):,}; the "
            f"{both:,} that both have are compared."
        )
    return said


def cautions(found: Answer) -> list[str]:
    """What holds for every change of the same base: how close it comes, and what it does not know."""
    return [*_truth(found), _unknown(found)]


def _headline(found: Answer) -> list[str]:
    """The mean waits before and after: first of whomever the change names and of all others."""
    whole = f"the mean wait{_whose(found)} {_means(found.whole)}."
    if not found.named:
        return [f"With {found.name} {whole}"]
    named, others = found.named
    said = [f"With {found.name} jobs of {named.whose} wait {_much_longer(named)}, {others.whose} "
            f"{_much_longer(others)}."]  # fmt: skip
    for part in found.named:
        jobs = counted(part.waits.pairs, "job")
        said.append(f"{_capital(part.whose)} ({jobs}): the mean wait {_means(part)}.")
    return [*said, _capital(whole)]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _much_longer(part: Part) -> str:
    """The change in a word or two, and whether it may be chance."""
    waits = part.waits
    if waits.change is None:
        text = f"{span_text(abs(waits.difference))} "
    elif abs(waits.change) < 0.005:
        return "as long as before"
    else:
        text = f"{abs(waits.change):.0%} "
    text += "shorter" if waits.difference < 0 else "longer"
    chance = (waits.enough and not waits.significant) or min(part.changes) < 0 < max(part.changes)
    return text + ", which may be chance" * chance


def _whose(found: Answer) -> str:
    """Of which jobs the mean is, where it is not of all."""
    jobs = counted(found.overall.pairs, "job")
    if _leaves_out(found):
        return f" of the {jobs} that the change does not cut short"
    if found.overall.pairs < len(found.base):
        return f" of the {jobs} that run either way"
    return " over all jobs" if found.named else ""


def _leaves_out(found: Answer) -> bool:
    """Whether jobs that are cut short are left out of the means; not where all are."""
    return 0 < found.ended_early <= len(found.base) - found.overall.pairs


def _means(part: Part) -> str:
    """The mean waits before and after, the change, and how sure that is."""
    waits = part.waits
    value, base = span_text(waits.value), span_text(waits.base)
    text = f"stays at {base}" if value == base else f"is {value} instead of {base}"
    if waits.change is not None:
        much = "less than 1%" if abs(waits.change) < 0.005 else f"{abs(waits.change):.0%}"
        text += f", {much} {'shorter' if waits.difference < 0 else 'longer'}"
    text += _over_weeks(waits)
    if len(part.changes) > 1:
        low, high = min(part.changes), max(part.changes)
        text += f"; {len(part.changes)} phases of the controller's clocks give {_span(low, high)}"
        text += ", so it may be chance" if low < 0 < high else ""
    return text


def _span(low: float, high: float) -> str:
    """From one relative change to another, with a decimal where both are small.

    >>> _span(-0.34, 0.1), _span(-0.004, -0.0001), _span(-0.352, -0.349)
    ('-34% to +10%', '-0.4% to 0.0%', '-35%')
    """
    decimals = 1 if max(abs(low), abs(high)) < 0.01 else 0
    ends = [signed_percent(low, decimals), signed_percent(high, decimals)]
    return " to ".join(dict.fromkeys(ends))


def _over_weeks(overall: Paired) -> str:
    """The interval over weeks: of the relative change, or of the difference where that has no useful one."""
    sure = "" if overall.significant else ", so it may be chance"
    head = f" (95% interval over {overall.blocks} weeks: "
    low, high = overall.change_low, overall.change_high
    if overall.enough and low is not None and high is not None and high <= LARGE:
        return f"{head}{_span(max(low, -1), high)}{sure})"
    if overall.enough and overall.difference_low is not None and overall.difference_high is not None:
        return f"{head}{signed(overall.difference_low)} to {signed(overall.difference_high)}{sure})"
    weeks = "1 week is" if overall.blocks == 1 else f"{overall.blocks} weeks are"
    return f"; {weeks} too few for an interval"


def _who(classes: Sequence[Class], *, gain: bool) -> str:
    """The classes of each kind that gain or lose most, of those that are sure to if any can be."""
    sign = -1 if gain else 1
    listed, others = [], 0
    for kind in dict.fromkeys(one.kind for one in classes):
        chosen = [
            one
            for one in classes
            if one.kind == kind and one.jobs >= FEWEST
            if one.sure is not False and sign * one.difference >= 1
        ]
        for one in sorted(chosen, key=lambda one: -sign * one.difference)[:NAMED]:
            listed.append(f"{one.kind} {one.name} by {_much(one)}")
        others += max(len(chosen) - NAMED, 0)
    title = "Who gains" if gain else "Who loses"
    if listed:
        more = f"; and {counted(others, 'other')}" if others else ""
        return f"{title}: {'; '.join(listed)}{more}."
    if any(one.sure is None for one in classes):
        return f"No group {'gains' if gain else 'loses'} a second or more."
    return f"No group clearly {'gains' if gain else 'loses'}."


def _much(one: Class) -> str:
    """The difference, and how many jobs have it."""
    return f"{span_text(abs(one.difference))} ({counted(one.jobs, 'job')})"


def _users(users: Sequence[Class]) -> list[str]:
    """How many users gain and lose, and the one who does most."""
    known = [one for one in users if one.jobs >= FEWEST]
    if len(known) < 2:
        return []
    gain = [one for one in known if one.sure is not False and one.difference <= -1]
    lose = [one for one in known if one.sure is not False and one.difference >= 1]
    clearly = "" if any(one.sure is None for one in known) else "clearly "
    if not gain and not lose:
        return [f"None of {len(known):,} users {clearly}gains or loses."]
    less, more = (f"{len(some):,}" if some else "none" for some in (gain, lose))
    gains, loses = ("s" * (len(some) < 2) for some in (gain, lose))
    text = f"Of {len(known):,} users, {less} {clearly}gain{gains} and {more} lose{loses}"
    if gain:
        most = min(gain, key=lambda one: one.difference)
        text += f"; {most.name} gains most, {_much(most)}"
    if lose:
        most = max(lose, key=lambda one: one.difference)
        text += f"; {most.name} loses most, {_much(most)}"
    return [f"{text}."]


def _unsure(classes: Sequence[Class]) -> list[str]:
    names = [f"{one.kind} {one.name}" for one in classes if one.sure is False and abs(one.difference) >= 1]
    if not names:
        return []
    more = f" and {len(names) - 6:,} more" if len(names) > 6 else ""
    return [f"Unclear, because clock phases or weeks disagree: {', '.join(names[:6])}{more}."]


def _ended(found: Answer) -> list[str]:
    if not found.ended_early:
        return []
    jobs = counted(found.ended_early, "job")
    left_out = "they are left out of the means, but " if _leaves_out(found) else ""
    return [
        f"The shorter limit ends {jobs} before the work is done, {found.undone:.1%} of all processor time: "
        f"{left_out}part of any gain comes from that. People would split such jobs or submit them again, "
        "which is not simulated."
    ]


def _offs(found: Answer) -> list[float]:
    """By which share the base's mean wait is longer than the recorded one, for each seed."""
    true = found.fidelity
    mean = None if true is None else true.overall["mean_recorded"]
    return [row["bias"] / mean for row in true.seeds] if true is not None and mean else []


def _truth(found: Answer) -> list[str]:
    """How near the base is to the log, and what that means for a change."""
    true, offs = found.fidelity, _offs(found)
    if true is None or not offs:
        return []
    off = true.overall["bias"] / true.overall["mean_recorded"]
    way = "longer" if off > 0 else "shorter"
    ends = dict.fromkeys(signed_percent(one) for one in (min(offs), max(offs)))
    band = f" ({' to '.join(ends)})" if len(ends) > 1 else ""
    bound = max(0.01, *(abs(one) for one in offs))  # nothing is known better than that
    return [
        f"How close the base comes: its mean wait is {abs(off):.0%} {way} than the recorded one{band}, "
        f"and {true.overall['within_600']:.0%} of its starts are within ten minutes of the recorded ones; "
        f"do not trust changes smaller than {bound:.0%}."
    ]


def _small(found: Answer) -> list[str]:
    """A change that is lost in how far the base is off."""
    bound, change = max(map(abs, _offs(found)), default=0.0), found.overall.change
    if change is None or abs(change) >= bound:
        return []
    much = f"{bound:.0%}" if bound >= 0.005 else "less than 1%"
    return [f"This change is smaller than the error of the base itself ({much}), so it is not certain."]


def _counted(found: Answer) -> list[str]:
    """What a policy that counts processors leaves out of a site."""
    site = found.variant.platform.site
    policies = [run.policy for run in (found.base, found.variant) if counts_processors(run.policy)]
    plain = list(dict.fromkeys(parse_spec(policy).name for policy in policies))
    if site is None or not plain:
        return []
    return [
        f"{' and '.join(plain)} see{'s' * (len(plain) == 1)} the site as {found.variant.capacity:,} "
        "interchangeable processors, without its nodes, memory, partitions, priorities and limits."
    ]


def _unknown(found: Answer) -> str:
    site = found.base.platform.site
    names = [one.name for one in site.not_modelled] if site is not None else []
    text = "What it leaves out: people would react to the change, with other requests and at other times; "
    if not names:
        return text + "and whatever is not modelled."
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return text + f"and what is not modelled of the site ({', '.join(names[:5])}{more})."


def signed(seconds: float) -> str:
    """A difference of times with its sign."""
    return ("+" if seconds > 0 else "") + span_text(seconds)
