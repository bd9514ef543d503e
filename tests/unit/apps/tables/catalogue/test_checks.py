import json
from pathlib import Path

import pytest

from apps.tables.catalogue.checks import CheckedColumn, check_location
from deltaweb.delta.errors import LocationNotFoundError, TableNotFoundError

COLUMNS = [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]


def make_table(root, *, reader_version=1, columns=COLUMNS):
    schema = json.dumps({"type": "struct", "fields": columns})
    protocol = {"minReaderVersion": reader_version, "minWriterVersion": 2}
    metadata = {
        "id": "an-id",
        "name": "orders",
        "description": "All of them",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema,
        "partitionColumns": [],
        "configuration": {},
    }
    (root / "_delta_log").mkdir()
    (root / "_delta_log" / f"{0:020}.json").write_text(
        f"{json.dumps({'protocol': protocol})}\n{json.dumps({'metaData': metadata})}\n"
    )
    return str(root)


class TestCheckLocation:
    def test_says_what_is_there(self, lake: Path) -> None:
        found = check_location(str(lake / "orders"))

        assert found.num_files is not None
        assert found.num_files > 0
        assert found.partition_columns
        assert found.num_columns == len(found.columns)
        assert found.warning == ""

    def test_names_each_step_before_it_begins(self, tmp_path: Path) -> None:
        steps: list[str] = []

        check_location(make_table(tmp_path), on_step=steps.append)

        assert steps[0] == "Finding the location"
        assert steps[-1] == "Counting the files"

    def test_a_newer_protocol_is_a_warning(self, tmp_path: Path) -> None:
        found = check_location(make_table(tmp_path, reader_version=99))

        assert found.code == "unsupported-protocol"
        assert "99" in found.warning
        assert (found.num_files, found.size_bytes) == (None, None)
        assert found.columns == [CheckedColumn("id", "bigint")]

    def test_a_schema_that_does_not_parse_is_a_warning(self, tmp_path: Path) -> None:
        odd = [
            {"name": "id", "type": "decimal(99,1)", "nullable": True, "metadata": {}}
        ]

        found = check_location(make_table(tmp_path, columns=odd))

        assert found.code == "schema-invalid"
        assert "id" in found.warning
        assert found.columns == []

    def test_tells_a_missing_place_from_one_without_a_table(self, tmp_path: Path):
        with pytest.raises(LocationNotFoundError):
            check_location(f"{tmp_path}/nothing")
        with pytest.raises(TableNotFoundError):
            check_location(str(tmp_path))
