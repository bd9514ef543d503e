"""How many files a condition leaves, step by step, and why each is read or skipped."""

import json
from pathlib import Path
from typing import Any

import pytest

from deltaweb.expressions.errors import ExpressionMistakenError
from deltaweb.index.query.explained_files import explained_files
from deltaweb.index.query.funnel import READ, SKIPPED, Funnel, explain
from deltaweb.index.query.questions import Question
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from tests.support import cases
from tests.support.logs.delta_logs import add, remove
from tests.support.logs.local_logs import LocalLog, stats_of, typed_schema

VECTOR = {
    "storageType": "u",
    "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
    "offset": 1,
    "sizeInBytes": 36,
    "cardinality": 2,
}


def file_of(path: str, p: int | None, low: int, high: int, **fields: Any):  # noqa: ANN401 (JSON)
    """A file of ten rows in a partition."""
    values = {"p": None if p is None else str(p)}
    stats = stats_of(10, {"id": low}, {"id": high})
    return add(path, partitionValues=values, stats=stats, **fields)


@pytest.fixture
def log(tmp_path: Path) -> LocalLog:
    """Five files in three partitions, of which one has no statistics."""
    unknown = add("e", partitionValues={"p": "2"}, size=1)
    return LocalLog(tmp_path).start(
        file_of("a", 1, 0, 9, size=100),
        file_of("b", 1, 10, 19, size=200),
        file_of("c", 2, 0, 9, size=400),
        file_of("d", None, 20, 29, size=800),
        unknown,
        partitionColumns=["p"],
    )


def opened(log: LocalLog) -> SharedVersion:
    return SharedTableReader().open_version(log.table, index_folder=None)


def asked(log: LocalLog, sql: str) -> tuple[Funnel, dict[str, str]]:
    """Explain a condition; return the reason of each file, too."""
    version = opened(log)
    question = Question(sql, version.schema, version.metadata)
    parts = [*version.live_parts()]
    found = explain(question, parts)
    batches = explained_files(found, [part for part, _ in parts])
    return found.funnel, {
        row["path"]: row["why"] for one in batches for row in one.to_pylist()
    }


def steps(found: Funnel) -> list[int]:
    amounts = (found.total, found.after_partitions, found.after_statistics)
    return [amount.num_files for amount in amounts]


@cases(
    "sql, left",
    {
        "statistics": ("id > 15", [5, 5, 3]),
        "partitions": ("p = 1", [5, 2, 2]),
        "both": ("p = 1 AND id > 15", [5, 2, 1]),
        "NULL": ("p IS NULL", [5, 1, 1]),
        "a function of a partition column": ("p + 1 = 2", [5, 2, 2]),
        "the same beside a data column": ("p + 1 = 2 AND id > 15", [5, 2, 1]),
        "either": ("p = 1 OR id > 15", [5, 5, 4]),
        "a denial": ("NOT (p = 1)", [5, 2, 2]),
        "unknown for every row": ("p > NULL", [5, 0, 0]),
        "nothing that is understood": ("id % 2 = 0", [5, 5, 5]),
        "no column": ("1 = 2", [5, 0, 0]),
    },
)
def test_files_are_left_by_partitions_then_by_statistics(
    log: LocalLog, sql: str, left: list[int]
) -> None:
    found, _ = asked(log, sql)

    assert steps(found) == left


@pytest.mark.parametrize(
    "sql", ["id > 15 AND p = 1", "id < 5", "p = 7", "id % 2 = 0 AND p = 2", "TRUE"]
)
def test_each_file_has_one_reason_and_the_reasons_add_up(log: LocalLog, sql: str):
    found, files = asked(log, sql)
    reasons = found.reasons

    def total(key: str, effect: str) -> int:
        return sum(getattr(one, key) for one in reasons if one.effect == effect)

    read, everything = found.after_statistics, found.total
    assert sorted(files) == ["a", "b", "c", "d", "e"]
    assert total("num_files", READ) == read.num_files
    assert total("num_files", SKIPPED) == everything.num_files - read.num_files
    assert total("size_bytes", READ) == read.size_bytes
    assert total("size_bytes", SKIPPED) == everything.size_bytes - read.size_bytes


def test_a_skipped_file_says_the_values_that_exclude_it(log: LocalLog):
    _, files = asked(log, "p = 1 AND id > 15")

    assert files == {
        "a": "id from 0 to 9, so id > 15 is not true",
        "b": "id from 10 to 19, p = 1",
        "c": "p = 2, so p = 1 is not true",
        "d": "p is NULL, so p = 1 is not true",
        "e": "p = 2, so p = 1 is not true",
    }


def test_a_file_without_statistics_is_read_because_nothing_is_known(log: LocalLog):
    found, files = asked(log, "id > 15")

    assert files["e"] == "no statistics of `id` in these files"
    (part,) = found.parts
    assert (part.by_partitions, part.by_statistics, part.num_unknown) == (0, 2, 1)
    assert part.obstacle is None


def test_rows_are_unknown_where_a_file_does_not_tell(log: LocalLog):
    found, _ = asked(log, "p = 1")

    assert found.total.num_records is None
    assert found.after_partitions.num_records == 20


def test_rows_that_a_vector_deletes_do_not_count(tmp_path: Path):
    log = LocalLog(tmp_path).start(
        file_of("a", 1, 0, 9, deletionVector=VECTOR), partitionColumns=["p"]
    )

    assert asked(log, "id > 5")[0].after_statistics.num_records == 8


def test_a_removed_file_counts_nowhere(log: LocalLog):
    reader = SharedTableReader()
    reader.open_version(log.table, index_folder=None)
    log.commit(1, remove("b"))

    found, files = asked(log, "p = 1")

    assert steps(found) == [4, 1, 1]
    assert "b" not in files


def test_sizes_of_any_length_add_up_exactly(tmp_path: Path):
    largest = (1 << 63) - 1
    log = LocalLog(tmp_path).start(
        *(file_of(name, 1, 0, 9, size=largest) for name in "abc"),
        partitionColumns=["p"],
    )

    found, _ = asked(log, "id > 100")

    assert found.total.size_bytes == 3 * largest
    assert found.after_statistics.size_bytes == 0


def test_a_cast_is_blamed_and_the_suggestion_skips(tmp_path: Path):
    def day(path: str, low: str, high: str):
        return add(path, stats=stats_of(1, {"day": low}, {"day": high}))

    log = LocalLog(tmp_path).start(
        day("a", "2026-01-01", "2026-09-30"), day("b", "2026-09-01", "2026-12-31")
    )

    found, _ = asked(log, "CAST(day AS STRING) >= '2026-10-01' AND id IS NULL")

    (reason,) = found.reasons
    assert reason.why == "the cast prevents skipping by `day`"
    assert reason.effect == READ
    assert reason.suggestion == "day >= DATE '2026-10-01'"
    assert found.suggestion == "day >= DATE '2026-10-01' AND id IS NULL"
    assert steps(asked(log, found.suggestion)[0]) == [2, 2, 1]


def test_the_cast_of_a_partition_column_prevents_nothing(log: LocalLog):
    found, _ = asked(log, "CAST(p AS STRING) = '1' AND id > 15")

    assert steps(found) == [5, 2, 1]
    assert [part.obstacle for part in found.parts] == [None, None]


@cases(
    "properties, said",
    {
        "by place": (
            {"delta.dataSkippingNumIndexedCols": "1"},
            "no statistics of `name`: it is column 2, and the first 1 have them",
        ),
        "by name": (
            {"delta.dataSkippingStatsColumns": "id"},
            "no statistics of `name`: delta.dataSkippingStatsColumns does not name it",
        ),
    },
)
def test_a_part_over_a_column_without_statistics_says_which_setting_it_needs(
    tmp_path: Path, properties: dict[str, str], said: str
):
    log = LocalLog(tmp_path).start(
        add("a", stats=stats_of(1, {"id": 1}, {"id": 2})), configuration=properties
    )

    found, _ = asked(log, "name = 'x' AND id < 2")

    obstacle = found.parts[0].obstacle
    assert obstacle is not None
    assert obstacle.reason == said
    assert [one.why for one in found.reasons] == [said]


def test_json_has_the_keys_that_scripts_rely_on(log: LocalLog):
    found = json.loads(json.dumps(asked(log, "p = 1 AND id > 15")[0].document()))

    assert found["files"] == {"total": 5, "after_partitions": 2, "after_statistics": 1}
    assert found["bytes"]["after_statistics"] == 200
    assert found["rows"] == {
        "total": None,
        "after_partitions": 20,
        "after_statistics": 10,
    }
    keys = {"why", "effect", "files", "bytes", "suggestion"}
    assert {frozenset(one) for one in found["reasons"]} == {frozenset(keys)}


def test_a_page_of_one_reason_is_listed(log: LocalLog):
    version = opened(log)
    question = Question("p = 1", version.schema, version.metadata)
    parts = [*version.live_parts()]
    found = explain(question, parts)

    listed = [
        path
        for batch in explained_files(
            found,
            [part for part, _ in parts],
            reasons=found.funnel.reasons_of(SKIPPED),
            first=1,
            limit=1,
        )
        for path in batch["path"].to_pylist()
    ]

    assert listed == ["d"]


def test_a_condition_over_no_column_of_the_table_is_refused(log: LocalLog):
    version = opened(log)

    with pytest.raises(ExpressionMistakenError, match="no column 'nothing'"):
        Question("nothing = 1", version.schema, version.metadata)


def test_a_function_of_spark_alone_is_explained(tmp_path: Path):
    log = LocalLog(tmp_path).start(
        add("a", stats="{}"), schemaString=typed_schema(at="timestamp")
    )

    found, _ = asked(log, "date_format(at, 'yyyy') = '2026'")

    assert steps(found) == [1, 1, 1]
    assert [one.why for one in found.reasons] == [
        "the function date_format prevents skipping by `at`"
    ]
