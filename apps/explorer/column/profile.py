"""The profile of a column as a page shows it, from the job that made it."""

from dataclasses import dataclass
from typing import Any

from deltaweb.web.jobs.models import Job

PERCENT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequentValue:
    """A value and how often it is there.

    `percent` is of the rows, `share` of the most frequent value's count.
    """

    text: str
    count: int
    percent: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownProfile:
    """A profile ready to render; None is not told of this type.

    Attributes:
        facts: Label and value: extremes, mean, lengths.
        quantiles: Label and value.
        top: The most frequent values.
    """

    num_rows: int
    num_nulls: int
    null_percent: float
    num_distinct: int | None
    distinct_percent: float | None
    facts: tuple[tuple[str, str], ...]
    quantiles: tuple[tuple[str, str], ...]
    top: tuple[FrequentValue, ...]
    top_error: int
    num_nan: int | None


def shown_profile(job: Job | None) -> ShownProfile | None:
    """Return the profile that a job has made; None where it has not."""
    if job is None or job.state != Job.State.DONE or not isinstance(job.result, dict):
        return None
    found: dict[str, Any] = job.result
    rows, nulls = found["num_rows"], found["num_nulls"]
    present = rows - nulls
    distinct = found.get("num_distinct")
    top = found.get("top") or ()
    most = max((count for _, count in top), default=0)
    return ShownProfile(
        num_rows=rows,
        num_nulls=nulls,
        null_percent=_percent(nulls, rows),
        num_distinct=distinct,
        distinct_percent=None if distinct is None else _percent(distinct, present),
        facts=_facts(found),
        quantiles=tuple(
            (_share(share), value) for share, value in found.get("quantiles") or ()
        ),
        top=tuple(
            FrequentValue(
                text=text,
                count=count,
                percent=_percent(count, rows),
                share=_percent(count, most),
            )
            for text, count in top
        ),
        top_error=found.get("top_error") or 0,
        num_nan=found.get("num_nan"),
    )


def _facts(found: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    facts = []
    for label, key in (("Smallest", "minimum"), ("Largest", "maximum")):
        if found.get(key) is not None:
            facts.append((label, found[key] or '""'))
    for label, key in (("Mean", "mean"), ("Standard deviation", "deviation")):
        if found.get(key) is not None:
            facts.append((label, f"{found[key]:.6g}"))
    if found.get("max_length") is not None:
        reach = f"{found['min_length']:,} to {found['max_length']:,}"
        facts.append(("Length", f"{reach}, {found['mean_length']:.4g} on average"))
    for label, key in (("Empty", "num_empty"), ("NaN", "num_nan")):
        if found.get(key):
            facts.append((label, f"{found[key]:,}"))
    return tuple(facts)


def _share(share: float) -> str:
    names = {0.0: "least", 0.5: "median", 1.0: "most"}
    return names.get(share, f"{share * PERCENT:.0f} %")


def _percent(part: int, whole: int) -> float:
    return round(PERCENT * part / whole, 2) if whole else 0.0
