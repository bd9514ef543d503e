"""Recorded tables of widened types and variants: both engines see the same rows."""

from collections import Counter
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from deltaweb.delta.changes import RowDiffRequest
from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.storage.place import TablePlace
from tests.support import matrix
from tests.support.golden.golden_modern import NAMES, ModernTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WITH_VARIANTS = [
    name
    for name in ("delta-spark__variants", "variant-plain", "variant-shredded")
    if name in NAMES
]
TABLES = [
    *(
        name
        for name in ("delta-spark__widened", "widen-nested", "widen-mapped-dv")
        if name in NAMES
    ),
    *WITH_VARIANTS,
]
OFTEN = [TABLES[0], WITH_VARIANTS[0]]


def counted(rows: pa.Table) -> Counter[str]:
    return Counter(map(repr, rows.to_pylist()))


@matrix(
    "name, every",
    product(TABLES, [1, 4]),
    often=[*product(OFTEN, [4])],
)
def test_rows_of_every_version_are_the_same(
    spark: "SparkSession", name: str, every: int
) -> None:
    from deltaweb.spark.writing.frame_read import read_table

    golden = ModernTable(name)
    for version in sorted(golden.versions, reverse=True)[::every]:
        here = golden.table.snapshot(version).read()
        there = read_table(spark, str(golden.folder), version=version).toArrow()

        assert there.column_names == here.column_names, version
        assert counted(there.cast(here.schema)) == counted(here), version


def test_a_part_of_a_variant_is_left_to_sparks_own_functions(spark: "SparkSession"):
    from deltaweb.spark.writing.frame_read import read_table

    folder = str(ModernTable(WITH_VARIANTS[0]).folder)

    with pytest.raises(ColumnNotFoundError, match=r"'v:\$.a::bigint'"):
        read_table(spark, folder, columns=["v:$.a::bigint"])


@matrix("name", WITH_VARIANTS, often=WITH_VARIANTS[:1])
def test_parts_of_variants_are_what_spark_finds(spark: "SparkSession", name: str):
    table = ModernTable(name).table.snapshot()
    asked = [
        (path, kind)
        for path in ("$.a", "$.b", "$.c", "$.c.d", "$.n", "$")
        for kind in ("bigint", "double", "string", "boolean", "decimal(38, 1)")
    ]
    here = table.read(["id", *(f"v:{path}::{kind}" for path, kind in asked)])
    texts = spark.createDataFrame(table.read(["id", "v"])).selectExpr(
        "id", "parse_json(v) AS v"
    )

    there = texts.selectExpr(
        "id",
        *(
            f"try_variant_get(v, '{path}', '{kind}') AS `v:{path}::{kind}`"
            for path, kind in asked
        ),
    )

    assert counted(there.toArrow().cast(here.schema)) == counted(here)


@matrix("name", TABLES, often=OFTEN)
def test_versions_differ_by_the_same_rows(spark: "SparkSession", name: str) -> None:
    from deltaweb.spark.table_changes import diff_rows

    golden = ModernTable(name)
    first, *_, last = golden.versions
    diff = golden.table.compare(first, last)
    by_spark = partial(diff_rows, spark, TablePlace(str(golden.folder)))

    here, there = (diff.rows(RowDiffRequest(), *engine) for engine in ((), (by_spark,)))

    assert (there.inserted, there.deleted) == (here.inserted, here.deleted)
    for kind in ("inserted", "deleted"):
        mine, theirs = getattr(here.sample, kind), getattr(there.sample, kind)
        assert counted(theirs) == counted(mine)
