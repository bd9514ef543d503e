"""The page of who can read a table: clients, features, and what decides."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.tables.models import Table
from tests.support.logs.local_logs import typed_schema
from tests.support.pages.answers import json_of, text_of
from tests.support.pages.factories import (
    new_metadata,
    new_protocol,
    new_table,
    new_unindexed_table,
    new_user,
)

pytestmark = pytest.mark.django_db
READERS = "/t/default/orders/readers"


def protected(*features: str, configuration: dict[str, str] | None = None) -> Table:
    table = new_table("orders")
    new_metadata(table, configuration=configuration or {})
    new_protocol(
        table,
        min_reader_version=3,
        min_writer_version=7,
        reader_features=list(features),
        writer_features=[*features, "appendOnly"],
    )
    return table


def clients(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {client["client"]: client for client in found["clients"]}


def test_the_feature_that_decides_is_named_with_the_release(viewer: Client) -> None:
    protected("columnMapping", "typeWidening")

    found = clients(json_of(viewer, f"{READERS}.json"))
    shown = text_of(viewer, READERS)

    spark, polars = found["Spark + Delta"], found["Polars"]
    assert (spark["decided_by"], spark["from_release"]) == ("typeWidening", "4.0")
    assert (polars["answer"], polars["decided_by"]) == ("cannot", "columnMapping")
    assert found["DuckDB"]["reason"] == "tried: DuckDB 1.5"
    assert found["Databricks"]["from_release"] == "15.4 LTS"
    assert found["deltaweb"]["answer"] == "reads"
    assert "stopped by column mapping" in shown
    assert "from Delta 4.0" in shown
    assert "deltalake, Polars" in shown  # stopped by type widening, the most


def test_a_table_without_an_index_has_no_answer_yet(viewer: Client) -> None:
    new_unindexed_table("orders")

    assert json_of(viewer, f"{READERS}.json")["clients"] is None
    assert "Who can read this table" not in text_of(viewer, READERS)


def test_a_version_whose_protocol_is_gone_says_so(viewer: Client) -> None:
    new_table("orders")

    assert "so it is not known who can read it" in text_of(viewer, READERS)


class TestWhatWouldOpenIt:
    def test_is_not_asked_where_everybody_reads_it(self, viewer: Client) -> None:
        protected("deletionVectors")

        assert json_of(viewer, f"{READERS}.json")["ways_in"] is None
        assert "What would open it" not in text_of(viewer, READERS)

    def test_is_told_for_each_feature_that_stops_somebody(self, viewer: Client) -> None:
        protected("columnMapping", "typeWidening", "deletionVectors")

        ways = json_of(viewer, f"{READERS}.json")["ways_in"]
        shown = " ".join(text_of(viewer, READERS).split())

        assert [(one["feature"], one["stops"]) for one in ways["stops"]] == [
            ("columnMapping", ["Polars"]),
            ("typeWidening", ["deltalake", "Polars"]),
        ]
        code = ways["code"]["ways-sql"]
        assert "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none');\n" in code
        assert code.endswith("DROP FEATURE `typeWidening`;")
        assert "deletionVectors" not in code
        assert "blocks deltalake and Polars" in shown

    def test_is_switched_off_here_by_those_who_may(self, client: Client) -> None:
        protected("typeWidening", configuration={"delta.enableTypeWidening": "true"})
        address = (
            "/t/default/orders/properties?name=delta.enableTypeWidening&amp;value=false"
        )

        for role, leads in ((User.Role.EDITOR, True), (User.Role.VIEWER, False)):
            client.force_login(new_user(role.value, role=role))
            assert (f'href="{address}"' in text_of(client, READERS)) is leads

    def test_names_no_switch_that_is_off(self, viewer: Client) -> None:
        protected("typeWidening")

        (stop,) = json_of(viewer, f"{READERS}.json")["ways_in"]["stops"]
        assert stop["switch_url"] == ""

    def test_is_a_copy_where_nothing_takes_it_out(self, viewer: Client) -> None:
        protected("variantShredding")

        ways = json_of(viewer, f"{READERS}.json")["ways_in"]

        assert set(ways["code"]) == {"ways-copy"}
        assert "cannot be removed; make a copy" in text_of(viewer, READERS)

    def test_is_a_copy_without_columns_that_stop_clients(self, viewer: Client) -> None:
        table = new_table("orders")
        text = typed_schema(id="long", nothing="void")
        new_metadata(table, schema_string=text)
        new_protocol(table)

        found = json_of(viewer, f"{READERS}.json")

        assert (
            clients(found)["DuckDB"]["reason"]
            == "stopped by the type of column nothing"
        )
        assert found["ways_in"]["columns"] == ["nothing"]
        shown = text_of(viewer, READERS)
        assert "The type of a column" in shown
        assert "any client of Delta tables reads it" not in shown
        copied = found["ways_in"]["code"]["ways-copy"]
        assert 'read(columns=["id"])' in copied
