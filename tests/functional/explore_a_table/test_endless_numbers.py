"""Pages of a table whose log claims more rows and bytes than there can be."""

from pathlib import Path

import pytest
from django.test import Client

from tests.functional.explore_a_table.pages import TABLE
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.logs.delta_logs import LogBuilder, add
from tests.support.logs.local_logs import stats_of, typed_schema
from tests.support.pages.answers import json_of, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.database]
LARGEST = 2**63 - 1


@pytest.fixture(params=[2**62, LARGEST])
def endless(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    files = [
        add(
            f"{number}",
            size=size,
            stats=stats_of(rows, {"id": 0}, {"id": rows}),
            partitionValues={"p": str(number % 2)},
            modificationTime=number,
        )
        for number, (size, rows) in enumerate(
            [(1, 1), (request.param, request.param), (LARGEST, 0), (9, LARGEST)]
        )
    ]
    schema = typed_schema(id="long", p="integer")
    log = LogBuilder().start(*files, schemaString=schema, partitionColumns=["p"])
    new_indexed_table("endless", log.on_disk(tmp_path / "endless"))


@pytest.mark.usefixtures("endless")
class TestNumbersAtTheEndOfALong:
    def test_are_shown(self, viewer: Client) -> None:
        for page in ("", "files", "history", "partitions", "schema/id"):
            assert "-9,223" not in text_of(viewer, f"{TABLE}endless/{page}"), page

    def test_are_counted_in_the_list_of_files(self, viewer: Client) -> None:
        data = json_of(viewer, f"{TABLE}endless/files.json")

        spread = data["distributions"]["rows_per_file"]
        assert isinstance(spread, dict)
        assert len(spread["edges"]) == len(spread["counts"]) + 1
        assert sum(spread["counts"]) == 4
