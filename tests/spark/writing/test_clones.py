"""Tables whose files are another table's, read by Spark."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.logs.shallow_clones import NUMBERS, shallow_clone, source_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_rows_are_read_where_the_root_is_allowed(spark: "SparkSession", tmp_path: Path):
    from pyspark.errors import PySparkException

    from deltaweb.spark import read_table

    source = source_table(tmp_path / "source")
    clone = shallow_clone(source, tmp_path / "clone")

    rows = read_table(spark, str(clone), allowed_roots=[source.root])
    assert sorted(row.n for row in rows.collect()) == NUMBERS

    with pytest.raises(PySparkException, match="its path is outside the table"):
        read_table(spark, str(clone)).collect()
