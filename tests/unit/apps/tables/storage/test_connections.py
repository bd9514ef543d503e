from datetime import timedelta

import pytest
from pytest_django.fixtures import Settings

from apps.audit.models import AuditEvent
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.tables.models import StorageConnection
from apps.tables.storage.connections import (
    add_connection,
    find_connection,
    options_for,
    parse_prefix,
    remove_connection,
    reseal_connections,
    tables_of,
)
from apps.tables.storage.errors import (
    StorageNameError,
    StorageNameTakenError,
    StorageNotFoundError,
    StoragePrefixTakenError,
    StorageSealedError,
)
from deltaweb.delta.errors import LocationInvalidError
from tests.support.pages.factories import NOW, new_table

pytestmark = pytest.mark.django_db
STAMP = Stamp(COMMAND_LINE, NOW)


def add(name="lake", prefix="s3://lake/", *, replace=False, **options):
    return add_connection(
        name=name,
        prefix=prefix,
        options=options or {"key": name},
        stamp=STAMP,
        replace=replace,
    )


class TestOptionsFor:
    @pytest.mark.parametrize(
        ("location", "expected"),
        [
            ("s3://lake/a", "whole"),
            ("s3://lake", "whole"),
            ("s3://lake/sales/t", "sales"),
            ("s3://lake/sales", "sales"),
            ("s3a://lake/sales/t/", "sales"),
            ("s3://lake/sales//t", "sales"),
            ("s3://lake/sales/2026/t", "year"),
            ("s3://lake/sales/20260/t", "sales"),
            ("s3://lake/salesforce/t", "whole"),
            ("s3://lake/sales/../t", "whole"),
            ("s3://lake2/t", "others"),
            ("S3://lake2/t", "others"),
            ("gs://lake/sales/t", None),
            ("az://c/t", "azure"),
            ("abfss://c/t", "azure"),
            ("abfss://c@account.dfs.core.windows.net/t", None),
            ("/lake/sales/t", None),
        ],
    )
    def test_the_longest_prefix_of_whole_names_counts(self, location, expected):
        add("whole", "s3://lake/")
        add("year", "s3://lake/sales/2026/")
        add("sales", "s3a://lake/sales")
        add("others", "s3://")
        add("azure", "abfs://c/")

        assert options_for(location).get("key") == expected

    def test_without_a_storage_there_are_none(self) -> None:
        assert options_for("s3://lake/t") == {}

    def test_only_an_address_of_ones_own_is_held_to_the_hosts_that_are_allowed(self):
        """The clouds' own may be private endpoints, inside this server's network."""
        add("own", "s3://own", endpoint_url="http://127.0.0.1:9000")

        assert "allowed_hosts" in options_for("s3://own/t")
        add()
        assert options_for("s3://lake/t") == {"key": "lake"}

    def test_a_lost_secret_key_is_a_sentence(self, settings: Settings) -> None:
        add(key="hunter2")
        settings.SECRET_KEY = "another"

        with pytest.raises(StorageSealedError, match="FALLBACKS") as caught:
            options_for("s3://lake/t")
        assert "hunter2" not in str(caught.value)
        assert options_for("s3://elsewhere/t") == {}


class TestPrefix:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("s3://lake/", "s3://lake"),
            ("S3A://lake//a/../b/", "s3://lake/b"),
            ("gcs://b/t", "gs://b/t"),
            ("s3://", "s3://"),
            ("abfss://c@a.dfs.core.windows.net/", "abfs://c@a.dfs.core.windows.net"),
        ],
    )
    def test_has_one_spelling(self, text: str, expected: str) -> None:
        assert parse_prefix(text) == expected

    @pytest.mark.parametrize(
        "text",
        [
            *["", "/lake", "lake", "ftp://x/", "s3://key:hunter2@lake/"],
            *["s3://l?k=hunter2", f"s3://{'a' * 600}"],
        ],
    )
    def test_is_the_url_of_an_object_store(self, text: str) -> None:
        with pytest.raises(LocationInvalidError) as caught:
            parse_prefix(text)
        assert "hunter2" not in str(caught.value)


class TestChanges:
    def test_an_added_storage_shows_no_value(self) -> None:
        connection = add(key="hunter2", secret="env:LAKE_SECRET")

        assert connection.option_names == ["key", "secret"]
        row = StorageConnection.objects.values_list().get()
        assert "hunter2" not in repr(row)
        event = AuditEvent.objects.get()
        assert (event.action, event.actor) == ("storage.add", "command line")
        assert event.detail == {
            "storage": "lake",
            "prefix": "s3://lake",
            "options": ["key", "secret"],
        }

    @pytest.mark.parametrize("name", ["", "a b", "-a", "ä", "a/b", "a" * 101])
    def test_a_name_keeps_to_the_rules(self, name: str) -> None:
        with pytest.raises(StorageNameError):
            add(name)

    @pytest.mark.database
    def test_a_name_and_a_prefix_are_taken_once(self) -> None:
        add()

        with pytest.raises(StorageNameTakenError, match="s3://lake"):
            add(prefix="s3://other/")
        with pytest.raises(StoragePrefixTakenError, match="storage lake"):
            add("other", "s3a://lake")
        assert options_for("s3://lake/t")["key"] == "lake"

    def test_a_storage_is_replaced_where_that_is_asked_for(self) -> None:
        add(key="old")
        add(prefix="s3://new/", replace=True, key="new")

        assert options_for("s3://lake/t") == {}
        assert options_for("s3://new/t")["key"] == "new"
        assert list(
            AuditEvent.objects.order_by("id").values_list("action", flat=True)
        ) == ["storage.add", "storage.replace"]

    def test_a_removed_storage_is_used_no_more(self) -> None:
        remove_connection(add(), stamp=Stamp(COMMAND_LINE, NOW + timedelta(days=1)))

        assert options_for("s3://lake/t") == {}
        assert AuditEvent.objects.first().action == "storage.remove"  # type: ignore[union-attr]  # two are there
        with pytest.raises(StorageNotFoundError, match="storage list"):
            find_connection("lake")

    def test_knows_the_tables_that_it_serves(self) -> None:
        inner = add("inner", "s3://lake/inner")
        outer = add("outer", "s3://lake")
        table = new_table("a", location="s3://lake/t")
        below = new_table("b", location="s3a://lake/inner/t")
        new_table("c")

        assert tables_of(outer) == [table]
        assert tables_of(inner) == [below]

    def test_all_are_sealed_again_or_none(self, settings: Settings) -> None:
        add("a", "s3://a")
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "another"
        add("b", "s3://b")

        reseal_connections(stamp=STAMP)

        settings.SECRET_KEY_FALLBACKS = []
        assert options_for("s3://a/t")["key"] == "a"
        assert options_for("s3://b/t")["key"] == "b"
        settings.SECRET_KEY = "lost"
        with pytest.raises(StorageSealedError):
            reseal_connections(stamp=STAMP)
