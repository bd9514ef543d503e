"""What each rule says about the facts of a table, and what it does not say."""

import json
import re
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from deltaweb.delta.snapshot.checksum import ChecksumState, Verdict
from deltaweb.health.examine import examine
from deltaweb.health.facts import (
    HealthFacts,
    HistoryFacts,
    HistoryPoint,
    IdentityFacts,
    LogFacts,
    PartitionFacts,
    SizeBin,
    StatisticsFacts,
    StoppedReader,
    UsedColumn,
    VectorFacts,
    WriteRhythm,
    milliseconds,
)
from deltaweb.health.finding import Finding, Severity, amount_text
from deltaweb.health.rules import RULES
from deltaweb.health.thresholds import HealthThresholdError, Thresholds
from tests.support import cases

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
MANUAL = Path(__file__).parents[4] / "docs/manual/how-to/what-health-tells-you.md"
HOUR = timedelta(hours=1)
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
PLAIN = HealthFacts(
    table="sales.orders",
    state="INDEXED",
    version=7,
    committed_at=NOW,
    num_files=2,
    size_bytes=200 * MIB,
    num_records=10,
    size_bins=(SizeBin(64 * MIB, 128 * MIB, 2, 200 * MIB),),
)


def of_small_files(count: int, size_bytes: int, *others: SizeBin) -> HealthFacts:
    """Return the facts of files of one small size, and others."""
    small = SizeBin(0, MIB, count, count * size_bytes)
    bins = (small, *others)
    return replace(
        PLAIN,
        num_files=sum(one.num_files for one in bins),
        size_bytes=sum(one.size_bytes for one in bins),
        size_bins=bins,
    )


def in_partitions(facts: HealthFacts, *partitions: PartitionFacts) -> HealthFacts:
    return replace(
        facts,
        partition_columns=("day",),
        num_partitions=len(partitions),
        partitions=partitions,
    )


def with_old_commits(count: int, *holes: tuple[int, int]) -> HealthFacts:
    """Return the facts of a log that is a year old, but for its newest commit."""
    log = LogFacts(
        first_commit=0,
        oldest_checkpoint=10,
        newest_checkpoint=count,
        hint_version=count,
        is_hint_dangling=False,
        is_hint_broken=False,
        retention_ms=timedelta(days=30) // timedelta(milliseconds=1),
        is_cleaned=True,
        checkpoint_interval=None,
    )
    old = HistoryPoint(count, milliseconds(NOW - timedelta(days=365)), None, None)
    history = HistoryFacts((old,), None, None)
    return replace(PLAIN, version=count, log=log, history=history, holes=holes)


def without_statistics(count: int, *partition_columns: str) -> HealthFacts:
    """Return the facts of files without statistics."""
    statistics = StatisticsFacts(
        size_bytes=0, path_bytes=0, num_without=count, columns={}, is_whole=False
    )
    return replace(
        PLAIN,
        num_files=count,
        statistics=statistics,
        partition_columns=partition_columns,
    )


def written_every(usual: timedelta, longest: timedelta) -> HealthFacts:
    """Return the facts of a table that was written in a rhythm, a month ago."""
    last, millisecond = NOW - timedelta(days=30), timedelta(milliseconds=1)
    writes = WriteRhythm(
        num_writes=60,
        first_ms=milliseconds(last - 60 * usual),
        last_ms=milliseconds(last),
        typical_gap_ms=usual // millisecond,
        longest_gap_ms=longest // millisecond,
    )
    return replace(PLAIN, writes=writes)


def with_identity(left: int) -> HealthFacts:
    """Return the facts of an identity column with some numbers left."""
    mark = (1 << 63) - 1 - left
    return replace(PLAIN, identities=(IdentityFacts("k", 1, 1, mark),))


def with_vectors(num_files: int) -> HealthFacts:
    """Return the facts of files with deletion vectors that mask every second row."""
    vectors = VectorFacts(
        num_files=num_files, size_bytes=GIB, rows=50_000, deleted_rows=25_000
    )
    return replace(PLAIN, vectors=vectors)


def with_hint(hint: int | None, *, newest: int | None) -> HealthFacts:
    """Return the facts of a table whose hint names no checkpoint, or nothing."""
    log = LogFacts(
        first_commit=0,
        oldest_checkpoint=newest,
        newest_checkpoint=newest,
        hint_version=hint,
        is_hint_dangling=hint is not None,
        is_hint_broken=hint is None,
        retention_ms=None,
        is_cleaned=True,
        checkpoint_interval=None,
    )
    return replace(PLAIN, log=log)


def day(number: int, num_files: int, size_bytes: int) -> PartitionFacts:
    return PartitionFacts({"day": f"d{number}"}, num_files, size_bytes)


def found(facts: HealthFacts, rule: str) -> list[Finding]:
    return [one for one in examine(facts, Thresholds(), NOW) if one.rule == rule]


LARGE = SizeBin(128 * MIB, 256 * MIB, 21, 21 * 128 * MIB)
WITHOUT = "None of the 60 files has statistics, so {} reads all of these files."
MASKED = "25,000 of 50,000 rows in {} are deleted, and still read."
LATE = (
    "Last written 30 days ago. Before, a pause was usually 1 hour, and 1 day at most."
)
FINE = (
    "60 partitions of 9 MiB on average, in 180 files; without partitions, 5 files "
    "would do."
)
LOST = (
    "`_last_checkpoint` names version 7, which has no checkpoint: some readers fail, "
    "others list the whole log."
)
RULE_OF = {rule.name: rule for rule in RULES}
SAID = {
    "small files that fit into one": (
        "small-files",
        of_small_files(84, 3 * KIB),
        "84 files of 3 KiB; one file of 252 KiB would do.",
    ),
    "small files beside large ones": (
        "small-files",
        of_small_files(300, MIB // 2, LARGE),
        "300 of 321 files are small (512 KiB on average); 2 files would do.",
    ),
    "each file in its own partition": (
        "fine-partitions",
        in_partitions(
            of_small_files(84, 3 * KIB), *(day(one, 1, 3 * KIB) for one in range(84))
        ),
        "84 files of 3 KiB, each in its own partition; one file of 252 KiB would do.",
    ),
    "small partitions of several files": (
        "fine-partitions",
        in_partitions(
            of_small_files(180, 3 * MIB), *(day(one, 3, 9 * MIB) for one in range(60))
        ),
        FINE,
    ),
    "one partition with most bytes": (
        "skewed-partitions",
        in_partitions(
            replace(PLAIN, num_files=30, size_bytes=10 * GIB),
            day(1, 10, 8 * GIB),
            day(2, 10, GIB),
            day(3, 10, GIB),
        ),
        "80 % of the bytes are in one of 3 partitions, day = d1: 8 GiB of 10 GiB.",
    ),
    "a commit that is missing": (
        "log-gap",
        replace(PLAIN, fault="commit 8 is missing"),
        "Readers fail, or get version 7 at most: commit 8 is missing.",
    ),
    "a log of which no version can be read": (
        "log-gap",
        HealthFacts(table="t", fault="commit 0 does not read"),
        "No version can be read: commit 0 does not read.",
    ),
    "a hole in the history": (
        "log-gap",
        replace(PLAIN, holes=((3, 5),)),
        "The log has a hole: versions 3 to 5 cannot be read.",
    ),
    "a checksum file that differs": (
        "wrong-checksum",
        replace(PLAIN, checksum=Verdict(ChecksumState.WRONG, ("numFiles",))),
        "The checksum file of version 7 differs from the log in numFiles.",
    ),
    "a checksum file that does not read": (
        "wrong-checksum",
        replace(PLAIN, checksum=Verdict(ChecksumState.UNREADABLE)),
        "The checksum file of version 7 cannot be read.",
    ),
    "a hint that is damaged": (
        "dangling-hint",
        with_hint(None, newest=5),
        "`_last_checkpoint` is damaged, so a reader lists the whole log.",
    ),
    "a hint to a lost checkpoint, with an older one": (
        "dangling-hint",
        with_hint(7, newest=5),
        LOST,
    ),
    "files without statistics": (
        "missing-statistics",
        without_statistics(60),
        WITHOUT.format("every filter"),
    ),
    "files without statistics in partitions": (
        "missing-statistics",
        without_statistics(60, "day"),
        WITHOUT.format("every filter by anything but `day`"),
    ),
    "a table that was written every hour": (
        "late-writes",
        written_every(HOUR, HOUR),
        "Last written 30 days ago. Before, no pause was longer than 1 hour.",
    ),
    "a table that was usually written every hour": (
        "late-writes",
        written_every(HOUR, 24 * HOUR),
        LATE,
    ),
    "a log that was never cleaned": (
        "log-not-cleaned",
        with_old_commits(2_000),
        "About 2,000 commits are older than the log's retention of 30 days.",
    ),
    "a log that was never cleaned, with a hole": (
        "log-not-cleaned",
        with_old_commits(2_000, (101, 200)),
        "About 1,900 commits are older than the log's retention of 30 days.",
    ),
    "deleted rows in one file": (
        "masked-rows",
        with_vectors(1),
        MASKED.format("one file with a deletion vector"),
    ),
    "deleted rows in several files": (
        "masked-rows",
        with_vectors(3),
        MASKED.format("3 files with deletion vectors"),
    ),
}
SILENT = {
    "a table without an index": HealthFacts(table="t"),
    "a table of two large files": PLAIN,
    "49 small files": of_small_files(49, KIB),
    "few small files among many": of_small_files(
        60, KIB, SizeBin(128 * MIB, 256 * MIB, 900, 900 * 128 * MIB)
    ),
    "small files, one in each of some partitions": in_partitions(
        replace(of_small_files(49, 20 * KIB), target_file_bytes=MIB),
        *(day(one, 1, 20 * KIB) for one in range(49)),
    ),
    "an identity column that has used 91 % of its numbers": with_identity(
        9 * (1 << 63) // 100
    ),
    "an identity column with a trillion numbers left": with_identity(1_000_000_000_000),
    "a hint to a lost checkpoint, with a newer one": with_hint(3, newest=5),
    "a checksum file that is missing": replace(
        PLAIN, checksum=Verdict(ChecksumState.MISSING)
    ),
    "a checksum file that is right": replace(
        PLAIN, checksum=Verdict(ChecksumState.RIGHT)
    ),
}


@cases("rule, facts, sentence", SAID)
def test_a_rule_says(rule: str, facts: HealthFacts, sentence: str) -> None:
    findings = found(facts, rule)
    assert [one.sentence for one in findings] == [sentence]
    assert findings[0].severity in RULE_OF[rule].severities


@pytest.mark.parametrize(
    ("num_files", "operation"), [(60, "partitions"), (180, "optimize")]
)
def test_optimize_is_offered_if_fine_partitions_have_several_files(
    num_files: int, operation: str
) -> None:
    facts = in_partitions(
        of_small_files(num_files, 3 * MIB),
        *(day(one, num_files // 60, num_files // 60 * 3 * MIB) for one in range(60)),
    )

    (finding,) = found(facts, "fine-partitions")

    assert finding.remedy is not None
    assert finding.remedy.operation == operation


@cases("facts", SILENT)
def test_no_rule_speaks_of(facts: HealthFacts) -> None:
    assert examine(facts, Thresholds(), NOW) == ()


@cases(
    "left, severity",
    {
        "fewer than a trillion numbers": (999_999_999_999, Severity.TO_KNOW),
        "a billion numbers": (1_000_000_000, Severity.TO_KNOW),
        "fewer than a billion numbers": (999_999_999, Severity.ACT_NOW),
    },
)
def test_the_end_of_an_identity_column_is_urgent_by_what_is_left(
    left: int, severity: Severity
) -> None:
    (finding,) = found(with_identity(left), "identity-end")
    assert finding.severity is severity


@pytest.mark.parametrize(
    ("name", "num_files"), [("note", 60), ("NOTE", 60), ("day", 0), ("DAY", 0)]
)
def test_a_used_column_is_found_in_upper_and_lower_case(
    name: str, num_files: int
) -> None:
    """No statistics are kept of `Note`; files are in partitions by `Day`."""
    statistics = StatisticsFacts(
        size_bytes=0, path_bytes=0, num_without=0, columns={"Note": 0}, is_whole=True
    )
    used = (UsedColumn(name, "2 recipients filter by it"),)
    facts = replace(
        without_statistics(60, "Day"), statistics=statistics, used_columns=used
    )
    lacking = [
        one.cost.amount for one in found(facts, "missing-statistics") if one.cost
    ]
    assert lacking == ([num_files] if num_files else [])


def test_a_used_column_has_its_statistics_in_upper_and_lower_case() -> None:
    statistics = StatisticsFacts(
        size_bytes=0, path_bytes=0, num_without=0, columns={"Note": 60}, is_whole=True
    )
    used = (UsedColumn("note", "2 recipients filter by it"),)
    facts = replace(without_statistics(60), statistics=statistics, used_columns=used)
    assert found(facts, "missing-statistics") == []


def test_versions_that_are_missing_are_no_old_commits() -> None:
    """The hole begins below the newest old version, and ends above it."""
    assert found(with_old_commits(9_999, (14, 9_998)), "log-not-cleaned") == []
    assert found(with_old_commits(5_000, (14, 9_998)), "log-not-cleaned") == []


def test_the_worst_finding_comes_first() -> None:
    facts = replace(of_small_files(84, 3 * KIB), fault="commit 8 is missing")
    findings = examine(facts, Thresholds(), NOW)
    assert [one.severity for one in findings] == [Severity.ACT_NOW, Severity.COSTS]


def test_a_finding_as_json_has_numbers_with_units_and_a_remedy() -> None:
    (finding,) = examine(of_small_files(84, 3 * KIB), Thresholds(), NOW)
    values = finding.to_json()
    assert values["cost"] == {
        "amount": 83,
        "unit": "files",
        "about": "more to open for a full scan",
    }
    assert values["remedy"]["command"] == "deltaweb table optimize sales.orders"
    assert {"label": "Small files", "value": 84, "unit": "files"} in values["evidence"]


def test_the_names_of_rules_differ_and_their_thresholds_exist() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert all(getattr(Thresholds(), name) >= 0 for name in rule.thresholds)
        assert rule.title
        assert all(said.endswith(".") for said in (rule.about, rule.advice))


def test_a_stopped_reader_names_no_recipient() -> None:
    """Viewers see the finding of a table, and neither recipients nor shares."""
    reader = StoppedReader(
        client="Polars 1.30",
        version=5,
        feature="typeWidening",
        error="acme: cannot read typeWidening of partners.crm.orders",
        recipients=("acme", "globex"),
    )

    (found,) = examine(replace(PLAIN, stopped_readers=(reader,)), Thresholds(), NOW)

    told = json.dumps(found.to_json())
    assert found.rule == "stopped-readers"
    assert [name for name in ("acme", "globex", "partners") if name in told] == []
    assert {"label": "Reads for", "value": 2, "unit": "recipients"} in [
        dict(one) for one in found.to_json()["evidence"]
    ]


@cases(
    "minutes, said",
    {
        "a limit that is over": (60, "The limit of its namespace is 1 hour."),
        "a limit that is not over": (43_200, None),
    },
)
def test_a_declared_limit_replaces_the_usual_pauses(
    minutes: int, said: str | None
) -> None:
    facts = written_every(timedelta(hours=1), timedelta(hours=1))
    limits = Thresholds().changed({"late_minutes": minutes})

    sentences = [
        one.sentence for one in examine(facts, limits, NOW) if one.rule == "late-writes"
    ]
    assert sentences == ([f"Last written 30 days ago. {said}"] if said else [])


def test_a_threshold_can_be_changed() -> None:
    facts = of_small_files(20, KIB)
    changed = Thresholds().changed({"small_files": 10})
    assert [one.rule for one in examine(facts, changed, NOW)] == ["small-files"]


@cases(
    "values",
    {
        "an unknown name": {"smal_files": 10},
        "a text": {"small_files": "10"},
        "zero": {"small_files": 0},
        "a boolean": {"small_files": True},
    },
)
def test_a_threshold_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(HealthThresholdError) as caught:
        Thresholds().changed(values)
    assert next(iter(values)) in str(caught.value)


def test_the_manual_has_each_rule_and_each_threshold() -> None:
    text = MANUAL.read_text(encoding="utf-8")
    for rule in RULES:
        severities = ", ".join(one.value.replace("-", " ") for one in rule.severities)
        assert re.search(rf"\| `{rule.name}` \| .* \| {severities} \|", text)
    for one in fields(Thresholds):
        default = amount_text(getattr(Thresholds(), one.name), one.metadata["unit"])
        row = f"| `{one.name}` | {default} | {one.metadata['about']} |"
        assert row in text
