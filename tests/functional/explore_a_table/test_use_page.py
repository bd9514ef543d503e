"""`Use this table`: the page, and the button that every page of a table has."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.sharing.models import SharedTable
from apps.tables.models import Commit, Table
from tests.functional.explore_a_table.pages import HTMX, TABLE
from tests.support import cases
from tests.support.logs.local_logs import typed_schema
from tests.support.pages.answers import json_of, text_of
from tests.support.pages.factories import (
    new_commit,
    new_metadata,
    new_protocol,
    new_share,
    new_shared_table,
    new_table,
    new_unindexed_table,
    new_user,
)

pytestmark = pytest.mark.django_db

VIEW = "v=1&col=order_id&col=country&f=country:eq:DE"


@pytest.mark.usefixtures("orders")
class TestThePage:
    def test_has_the_version_columns_and_filter_of_its_address(self, viewer: Client):
        page = json_of(viewer, f"{TABLE}orders/use.json?{VIEW}")

        assert page["columns"] == ["order_id", "country"]
        assert page["filters"] == ["`country` = 'DE'"]
        snippets = dict(page["snippets"])
        assert set(snippets) == {
            *("pandas", "sql", "pyspark", "polars", "duckdb", "deltaweb", "curl")
        }
        assert page["refused"] == {}
        assert "VERSION AS OF 1\nWHERE `country` = 'DE'" in snippets["sql"]
        assert '"\\"country\\" = \'DE\'"' in snippets["pandas"]

    def test_curl_asks_for_the_same_rows(self, viewer: Client) -> None:
        page = json_of(viewer, f"{TABLE}orders/use.json?{VIEW}")
        curl = dict(page["snippets"])["curl"]

        url = urlsplit(re.findall(r"'(http[^']+)'", curl)[0])
        assert url.path == f"{TABLE}orders/data.json"
        assert parse_qs(url.query) == parse_qs(VIEW)

    def test_brings_an_old_version_back_and_the_newest_not(self, viewer: Client):
        old = text_of(viewer, f"{TABLE}orders/use?v=1")
        newest = text_of(viewer, f"{TABLE}orders/use")

        assert "Restore v1" in old
        assert "TO VERSION AS OF" in old
        assert "TO VERSION AS OF" not in newest

    def test_leads_who_may_to_restore_with_the_version_filled_in(self, viewer, client):
        restore = f'href="{TABLE}orders/restore?version=1"'
        places = f"{TABLE}orders/use?v=1", f"{TABLE}orders/history/1"
        for place in places:
            assert restore not in text_of(viewer, place)
        client.force_login(new_user("eve", role=User.Role.EDITOR))

        for place in places:
            assert restore in text_of(client, place)
        assert 'value="1"' in text_of(client, f"{TABLE}orders/restore?version=1")

    def test_says_why_deltaweb_does_not_restore(self, viewer: Client) -> None:
        newest = Table.objects.get().protocol_versions.first()
        assert newest is not None
        newest.min_writer_version, newest.writer_features = 7, ["teleport"]
        newest.save()

        page = json_of(viewer, f"{TABLE}orders/use.json?v=1")

        assert set(page["restore"]) == {"restore-sql", "restore-pyspark"}
        assert "requires teleport of its writers" in text_of(
            viewer, f"{TABLE}orders/use?v=1"
        )

    def test_gives_no_code_that_a_table_of_appends_alone_refuses(self, viewer: Client):
        newest = Table.objects.get().metadata_versions.first()
        assert newest is not None
        newest.configuration = {"delta.appendOnly": "true"}
        newest.save()

        page = json_of(viewer, f"{TABLE}orders/use.json?v=1")

        assert set(page["restore"]) == {"restore-sql", "restore-pyspark"}
        assert "is append-only" in text_of(viewer, f"{TABLE}orders/use?v=1")

    def test_is_a_part_of_a_page_for_the_drawer(self, viewer: Client) -> None:
        part = text_of(viewer, f"{TABLE}orders/use?{VIEW}", **HTMX)

        assert "<html" not in part
        assert "Rows where" in part

    @pytest.mark.parametrize("part", ["col=nothing", "f=country:odd:1", "v=99"])
    def test_refuses_what_the_version_has_not(self, viewer: Client, part: str) -> None:
        assert viewer.get(f"{TABLE}orders/use?{part}").status_code in {400, 404}


@pytest.mark.usefixtures("orders")
class TestTheSwitch:
    def test_names_the_version_unless_the_newest_is_wanted(self, viewer: Client):
        pinned = json_of(viewer, f"{TABLE}orders/use.json?{VIEW}")
        newest = json_of(viewer, f"{TABLE}orders/use.json?{VIEW}&newest=1")

        assert (pinned["newest"], newest["newest"]) == (False, True)
        # The other tools are run: see the code of each tool.
        for key, pin in (("sql", "VERSION AS OF"), ("curl", "v=1")):
            assert pin in pinned["snippets"][key]
            assert pin not in newest["snippets"][key]
        assert newest["version"] == newest["latest_version"]


class TestWhoIsStopped:
    def stopped(self, viewer: Client, *features: str, **columns: str):
        table = new_table(version=0, summary={})
        new_metadata(table, schema_string=typed_schema(**columns))
        new_protocol(
            table,
            min_reader_version=3,
            min_writer_version=7,
            reader_features=list(features),
            writer_features=list(features),
            unsupported_reason="Nobody teleports here." * ("teleport" in features),
        )
        page = json_of(viewer, f"{TABLE}orders/use.json")
        return {"snippets": page["snippets"], "refused": page["refused"]}

    def test_is_read_by_the_next_way_that_reads(self, viewer: Client) -> None:
        mapped = self.stopped(viewer, "columnMapping", "deletionVectors")["snippets"]

        assert mapped["polars"].startswith(
            "# Polars is stopped by column mapping. deltalake reads it.\n"
        )
        assert "pl.DataFrame(reader)" in mapped["polars"]
        assert ".scan()" in mapped["pandas"]
        assert "delta_scan(" in mapped["duckdb"]

    def test_says_why_and_who_else_where_there_is_no_way(self, viewer: Client) -> None:
        found = self.stopped(
            viewer, "variantShredding", "variantType", id="long", v="variant"
        )

        assert found["refused"] == {
            "pandas": "deltalake is stopped by shredded variant. DuckDB cannot "
            "pass variants to other tools. Spark SQL, PySpark, DuckDB, deltaweb and "
            "curl "
            "can.",
            "polars": "Polars is stopped by variant. deltalake is stopped by shredded "
            "variant. DuckDB cannot pass variants to other tools. Spark SQL, PySpark, "
            "DuckDB, deltaweb and curl can.",
        }
        shown = text_of(viewer, f"{TABLE}orders/use")
        assert unescape(shown).count("deltalake is stopped by shredded variant.") == 2

    def test_what_nobody_knows_is_said_above_the_code(self, viewer: Client) -> None:
        found = self.stopped(viewer, "teleport")

        assert found["snippets"]["sql"].startswith(
            "-- Whether Spark + Delta reads it: teleport: not known.\n"
        )
        assert set(found["refused"]) == {"deltaweb", "curl"}
        assert found["refused"]["curl"] == "Nobody teleports here."

    def test_is_told_as_the_page_of_readers_tells_it(self, viewer: Client) -> None:
        self.stopped(viewer, "typeWidening", "columnMapping")

        readers = json_of(viewer, f"{TABLE}orders/readers.json")
        use = json_of(viewer, f"{TABLE}orders/use.json")

        told = {one["client"]: one for one in readers["clients"]}
        for client in ("deltalake", "Polars"):
            assert told[client]["answer"] == "cannot"
        reason = f"Polars is {told['Polars']['reason']}."
        assert use["snippets"]["polars"].startswith(f"# {reason}")


class TestWhereThereIsNothingToRead:
    def test_a_table_without_an_index_says_so(self, viewer: Client) -> None:
        new_unindexed_table()

        assert "is not indexed yet" in text_of(viewer, f"{TABLE}orders/use")


class TestAShareOfTheTable:
    @cases(
        "role, with_history, is_shown",
        {
            "an editor reads it so": (User.Role.EDITOR, True, True),
            "a viewer knows no share": (User.Role.VIEWER, True, False),
            "no version is shared": (User.Role.EDITOR, False, False),
        },
    )
    def test_is_one_more_way_in(
        self,
        client: Client,
        orders: Table,
        role: User.Role,
        with_history: bool,  # noqa: FBT001 (a case)
        is_shown: bool,  # noqa: FBT001 (a case)
    ) -> None:
        client.force_login(new_user("eve", role=role))
        shared = new_shared_table(new_share(), table=orders, with_history=with_history)

        page = json_of(client, f"{TABLE}orders/use.json?v=1")

        name = f"{shared.share.name}.{shared.schema}.{shared.name}"
        snippets = dict(page["snippets"])
        assert (f"#{name}" in snippets.get("sharing", "")) is is_shown
        assert SharedTable.objects.count() == 1


class TestTheButton:
    @cases(
        "page, query",
        {
            "the newest version by its number": ("", "v=2"),
            "an old version": ("history?v=1", "v=1"),
            "the version of a commit": ("history/1", "v=1"),
            "columns and filters": (f"data?{VIEW}", VIEW),
            "nothing else": ("files?v=1&partition=a=1", "v=1"),
        },
    )
    def test_takes_the_view_with_it(self, viewer: Client, page: str, query: str):
        table = new_table(version=2, summary={})
        for version in range(3):
            new_commit(table, version, readability=Commit.Readability.READABLE)

        text = text_of(viewer, f"{TABLE}orders/{page}")

        (address,) = re.findall(r'dw-short"\s+href="([^"]+)"', text)
        assert parse_qs(urlsplit(unescape(address)).query) == parse_qs(query)
