"""Unusual SQL is refused soon and by name, and Spark stays for everybody else."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deltaweb.delta.errors import DeltaError
from tests.spark.writing.changed_tables import make_table, rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from deltaweb.table import DeltaTable

WITHIN_S = 5
TOO_LARGE = [
    "length(lpad(s, 2000000000, 'x')) > 1",
    "rpad(s, 1000 * 1000 * 1000, 'x') = 'x'",
    "size(array_repeat(s, 2000000000)) > 1",
    "length(repeat(s, 2000000000)) > 1",
    "length(repeat(repeat(repeat(s, 1000), 1000), 1000)) > 1",
    "size(sequence(1, 2000000000)) > 1",
    "length(space(2000000000)) > 1",
    "array_insert(array(1), 2000000000, 1)[0] = 1",
    "format_string('%2000000000d', n) = 'x'",
    "format_number(n, 2000000000) = 'x'",
    "bround(CAST(n AS DOUBLE), 2000000000) = 1",
    "aggregate(sequence(1, 40), 'x', (a, x) -> concat(a, a)) = 'x'",
    "size(transform(sequence(1, 100000), x -> sequence(1, 100000))) > 1",
]
MISTAKEN = [
    "size(sequence(1, n)) > 1",
    "length(lpad(s, n, 'x')) > 1",
    f"{'(' * 8000}n{')' * 8000} = hash(n)",
    f"{' || '.join(['s'] * 5000)} = 'x'",
    f"hash(n{'::BIGINT' * 3000}) = 1",
    f"{'NOT ' * 3000} hash(n) = 1",
    f"n IN ({', '.join(map(str, range(20_001)))}) AND hash(n) = 1",
    "'" + "x" * 100_001 + "' = s",
    "sum(n) > 1",
    "count(DISTINCT n) = 1",
    "lag(n) OVER (ORDER BY n) = 1",
    "grouping(n) = 1",
    "xpath_int(s, 'a[') = 1",
    "explode(array(n)) = 1",
    "json_tuple(s, 'a') = 'x'",
    "x -> x",
    "struct(*) = n",
    "*",
    "nope(n) = 1",
    "n.n = hash(n)",
    "hash(n)[0] = 1",
    "s COLLATE nope = 'x' AND hash(n) = 1",
    "from_json(s, 'not a type').a = 1",
    "window(now(), '1 day').start > now()",
    "rand() > 0.5",
    "hash(n) = 1; SELECT 1",
    "n = hash(n) AND",
    "?",
]
WITHOUT_VALUE = [
    "s RLIKE '('",
    "regexp_extract(s, '(', 1) = 'x'",
    "split(s, '(')[0] = 'x'",
    "hash(n) <> 1 AND 1 / (n - n) > 1",
    "if(n >= 0, raise_error(s), s) = 'y'",
    "assert_true(n < 0) IS NULL",
    "element_at(array(n), 5) = 1",
    "decode(unhex('ff'), 'utf-99') = 'x'",
    "aes_decrypt(unhex('00'), 'k') = 'x'",
    "parse_json(s) IS NULL",
    "hash(make_date(n, 99, 99)) = 1",
    "to_number(s, '999') = hash(n)",
    "url_decode('%zz') = s",
]
EVALUATED = [
    f"{'hash(' * 19}n{')' * 19} = 1",
    f"{' + '.join(['hash(n)'] * 140)} = 1.5",
    f"{' || '.join(['s'] * 140)} = 'x' OR hash(n) = 1",
    f"{' AND '.join(['hash(n) = 1'] * 1500)}",
    f"{'CASE WHEN hash(n) = 1 THEN 1 ELSE ' * 18} 2 {' END' * 18} = 1",
    f"hash(n) IN ({', '.join(map(str, range(5000)))})",
    "hash(n) = 1 AND lpad(s, 1000, 'x') = 'x'",
    "bround(n, 100) = 1000",
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> "DeltaTable":
    return make_table(Path(tmp_path_factory.mktemp("unusual")) / "t")


@pytest.fixture(autouse=True)
def survivor(spark: "SparkSession", table: "DeltaTable") -> Iterator[None]:
    """See to it that the session goes on, and that nothing was written."""
    before = rows_of(table)
    yield
    assert spark.range(3).count() == 3
    assert rows_of(table) == before


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        *((sql, "expression-too-large") for sql in TOO_LARGE),
        *((sql, "expression-") for sql in MISTAKEN),
    ],
)
def test_what_cannot_be_evaluated_is_refused_at_once(
    spark: "SparkSession", table: "DeltaTable", sql: str, code: str
) -> None:
    from deltaweb.spark import delete_rows, update_rows

    started_s = time.monotonic()
    with pytest.raises(DeltaError) as deleted:
        delete_rows(spark, table.root, sql)
    with pytest.raises(DeltaError) as updated:
        update_rows(spark, table.root, {"s": f"CAST({sql} AS STRING)"}, "hash(n) <> 1")

    assert time.monotonic() - started_s < 2 * WITHIN_S
    assert deleted.value.code.startswith(code)
    assert updated.value.code.startswith("expression-")


@pytest.mark.parametrize("sql", WITHOUT_VALUE)
def test_what_has_no_value_for_a_row_ends_as_an_error_of_ours(
    spark: "SparkSession", table: "DeltaTable", sql: str
) -> None:
    from deltaweb.spark import delete_rows, update_rows

    with pytest.raises(DeltaError) as deleted:
        delete_rows(spark, table.root, sql)
    with pytest.raises(DeltaError) as updated:
        update_rows(spark, table.root, {"s": f"CAST({sql} AS STRING)"}, "hash(n) <> 1")

    assert {deleted.value.code, updated.value.code} <= {
        "change-not-evaluated",
        "expression-mistaken",
        "expression-value",
    }


@pytest.mark.parametrize("sql", EVALUATED)
def test_what_is_long_and_small_is_evaluated(
    spark: "SparkSession", table: "DeltaTable", sql: str
) -> None:
    from deltaweb.spark import delete_rows

    assert delete_rows(spark, table.root, sql).num_rows_deleted == 0
