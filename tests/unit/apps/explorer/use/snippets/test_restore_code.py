"""The code that brings an old version back does, and names the table as it is."""

import shutil
from pathlib import Path

from apps.explorer.use.snippets import ShownView, restore_snippets
from deltaweb.table import DeltaTable


def test_python_brings_the_version_back(location: str, tmp_path: Path) -> None:
    folder = tmp_path / Path(location).name
    shutil.copytree(location, folder)

    exec(code(str(folder), 0)["restore-python"], {})  # noqa: S102 (what people run)

    restored = DeltaTable(str(folder)).snapshot()
    assert restored.version == 2
    assert restored.read().num_rows == DeltaTable(location).snapshot(0).read().num_rows


def test_sql_quotes_the_location() -> None:
    text = code("/lake/it's `a` table", 7)["restore-sql"]

    assert "RESTORE TABLE delta.`/lake/it's ``a`` table` TO VERSION AS OF 7" in text


def test_spark_has_the_scheme_that_hadoop_knows() -> None:
    made = code("s3://bucket/orders", 7)

    assert "`s3a://bucket/orders`" in made["restore-sql"]
    assert '"s3a://bucket/orders"' in made["restore-pyspark"]
    assert '"s3://bucket/orders"' in made["restore-python"]


def test_python_is_refused_where_nothing_is_written() -> None:
    view = ShownView(name="orders", location="/lake", version=1, write_refusal="No.")

    made = next(one for one in restore_snippets(view) if one.key == "restore-python")

    assert (made.text, made.refusal) == ("", "No.")


def code(location: str, version: int) -> dict[str, str]:
    view = ShownView(name="orders", location=location, version=version)
    return {made.key: made.text for made in restore_snippets(view)}
