import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from apps.pages.errors import PageError
from apps.tables.head.finding import get_table, requested_version
from tests.support.pages.factories import (
    new_table,
    new_unindexed_table,
    new_user,
)

pytestmark = pytest.mark.django_db


class TestGetTable:
    def test_finds_a_table_by_its_two_names(self) -> None:
        table = new_table("sales.orders")

        assert get_table(new_user(), "sales", "orders") == table

    @pytest.mark.parametrize("name", ["nothing", "secret", "a\x00b"])
    def test_says_the_same_of_a_missing_and_of_a_hidden_table(self, name: str) -> None:
        new_table("secret", is_private=True)

        with pytest.raises(PageError) as caught:
            get_table(new_user(), "default", name)

        assert caught.value.status == 404
        assert caught.value.code == "table-not-found"
        assert caught.value.message == f"No table is named {name}."

    def test_asks_the_database_as_much_for_a_missing_as_for_a_hidden_table(
        self,
    ) -> None:
        new_table("secret", is_private=True)
        user = new_user()
        asked = []
        for name in ("nothing", "secret"):
            with CaptureQueriesContext(connection) as queries, pytest.raises(PageError):
                get_table(user, "default", name)
            asked.append(len(queries))

        assert asked[0] == asked[1]

    def test_shows_private_tables_to_administrators(self) -> None:
        table = new_table("secret", is_private=True)
        editor = new_user("eve", role=User.Role.EDITOR)

        assert get_table(new_user(role=User.Role.ADMIN), "default", "secret") == table
        with pytest.raises(PageError):
            get_table(editor, "default", "secret")

    def test_shows_nothing_to_strangers(self) -> None:
        new_table("orders")

        with pytest.raises(PageError):
            get_table(AnonymousUser(), "default", "orders")


class TestRequestedVersion:
    def test_is_the_newest_where_none_is_asked_for(self) -> None:
        assert requested_version(new_table("orders"), "") == 2

    @pytest.mark.parametrize("text", ["0", "1", "2", " 2 "])
    def test_takes_every_version_that_was(self, text: str) -> None:
        assert requested_version(new_table("orders"), text) == int(text)

    @pytest.mark.parametrize(
        "text", ["3", "-1", "1.5", "latest", "9" * 40, "²", "\x00", "1e3", "0x1"]
    )
    def test_names_the_range_for_everything_else(self, text: str) -> None:
        with pytest.raises(PageError) as caught:
            requested_version(new_table("orders"), text)

        assert caught.value.status == 404
        assert caught.value.hint == "Choose a version from 0 to 2."

    def test_says_why_a_table_has_no_version_at_all(self) -> None:
        why = {"error": "Commit 1 is missing.", "error_hint": "Bring it back."}
        table = new_unindexed_table("orders", **why)

        with pytest.raises(PageError) as caught:
            requested_version(table, "0")

        assert caught.value.message.endswith("be indexed: Commit 1 is missing.")
        assert caught.value.hint == "Bring it back."

    def test_a_log_that_starts_later_has_no_earlier_version(self) -> None:
        table = new_table(
            "orders", version=12, summary={"readable_runs": [[10, 12, "READABLE", ""]]}
        )

        with pytest.raises(PageError, match="from 10 to 12"):
            requested_version(table, "9")

    def test_a_table_that_is_not_indexed_has_none(self) -> None:
        with pytest.raises(PageError, match="not indexed"):
            requested_version(new_unindexed_table("orders"), "0")
