import pytest

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.pages.actions import command_stamp
from apps.pages.request.changes import UNCHANGED
from apps.tables.catalogue.listing import TABLES, catalogue_page
from apps.tables.catalogue.organizing.labels import (
    MAX_TAGS,
    TableLabels,
    label_table,
    labels_text,
    split_tags,
)
from apps.tables.catalogue.search.page import search_page
from apps.tables.errors import OwnerUnknownError, TagError
from apps.tables.models import Table
from tests.support import cases
from tests.support.pages.factories import new_table, new_user

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def anna() -> User:
    return new_user("anna")


def label(table: Table, **labels: object) -> Table:
    label_table(table, TableLabels(**labels), command_stamp())  # type: ignore[arg-type]  # a test's shorthand
    return Table.objects.get(id=table.id)


def names(user: User, **query: object) -> list[str]:
    page = catalogue_page(user, TABLES.query(**query))  # type: ignore[arg-type]  # likewise
    return [row.table.full_name for row in page.rows]


@pytest.mark.usefixtures("anna")
class TestLabelTable:
    def test_finds_the_account_whatever_its_capitals(self) -> None:
        table = label(new_table("orders"), owner="ANNA")

        assert table.owner_name == "anna"

    def test_keeps_what_is_not_sent_and_removes_what_is_null(self) -> None:
        table = label(new_table("orders"), owner="anna", tags=["pii"])

        table = label(table, tags=UNCHANGED)
        assert (table.owner_name, table.tags) == ("anna", ["pii"])
        table = label(table, owner=None)
        assert (table.owner_name, table.tags) == (None, ["pii"])
        table = label(table, tags=None)
        assert table.tags == []

    @pytest.mark.parametrize("name", ["nobody", "gone"])
    def test_refuses_an_owner_who_cannot_sign_in(self, name: str) -> None:
        new_user("gone", is_active=False)

        with pytest.raises(OwnerUnknownError):
            label(new_table("orders"), owner=name)

    def test_an_owner_who_has_left_does_not_stop_other_changes(self, anna: User):
        table = label(new_table("orders"), owner="anna")
        User.objects.filter(id=anna.id).update(is_active=False)

        table = label(table, owner="anna", tags=["pii"])

        assert (table.owner_name, table.tags) == ("anna", ["pii"])

    def test_the_table_of_a_deleted_account_has_no_owner(self, anna: User) -> None:
        table = label(new_table("orders"), owner="anna")
        anna.delete()

        assert Table.objects.get(id=table.id).owner_name is None

    def test_writes_tags_once_in_small_letters_and_in_order(self) -> None:
        table = label(new_table("orders"), tags=["PII", "finance", "pii", " "])

        assert table.tags == ["finance", "pii"]

    @cases(
        "tags",
        {
            "markup": ["<b>"],
            "a quotation mark": ['"'],
            "a space": ["two words"],
            "a long one": ["x" * 51],
            "many": [f"t{number}" for number in range(MAX_TAGS + 1)],
        },
    )
    def test_refuses_what_cannot_be_a_tag(self, tags: list[str]) -> None:
        table = new_table("orders")

        with pytest.raises(TagError):
            label(table, tags=tags)
        assert Table.objects.get().tags == []

    def test_records_what_changed_alone(self) -> None:
        table = label(new_table("orders"), owner="anna")
        label(table, owner="anna", tags=["pii"])

        found = AuditEvent.objects.filter(table_id=table.id).order_by("id")
        assert [
            (one.action, one.detail["old"], one.detail["new"]) for one in found
        ] == [
            ("table.set_owner", None, "anna"),
            ("table.tag", [], ["pii"]),
        ]

    def test_is_said_in_a_sentence(self) -> None:
        stamp = command_stamp()
        table = new_table("sales.orders")

        bare = label_table(table, TableLabels(), stamp)
        full = label_table(table, TableLabels(owner="anna", tags=["b", "a"]), stamp)

        assert labels_text(bare) == "sales.orders has no owner and has no tags."
        assert labels_text(full) == "sales.orders is owned by anna and is tagged a, b."


def test_commas_and_spaces_divide_tags() -> None:
    assert split_tags(" a, b\nc,,d ") == ["a", "b", "c", "d"]


class TestInTheCatalog:
    @pytest.fixture(autouse=True)
    def tables(self, anna: User) -> None:
        label(new_table("sales.orders"), owner="anna", tags=["pii", "größe"])
        label(new_table("web.visits"), tags=["pii2"])
        new_table("web.clicks")
        new_user(f"{anna.username}bel")

    @cases(
        "query, expected",
        {
            "an owner": ({"owner": "anna"}, ["sales.orders"]),
            "a tag": ({"tag": "pii"}, ["sales.orders"]),
            "a tag with other letters": ({"tag": "größe"}, ["sales.orders"]),
            "a part of a tag": ({"tag": "pi"}, []),
            "a search for an owner": ({"q": "ann"}, ["sales.orders"]),
            "a search for a tag": ({"q": "pii"}, ["sales.orders", "web.visits"]),
            "a search for what is around tags": ({"q": '"'}, []),
            "another": ({"q": "["}, []),
        },
    )
    def test_filters_and_search_find_them(self, anna, query, expected):
        assert names(anna, **query) == expected

    def test_facets_count_them(self, anna: User) -> None:
        facets = catalogue_page(anna, TABLES.query()).counts.facets

        assert [(f.word, f.count) for f in facets["owner"].values] == [("anna", 1)]
        assert [(f.word, f.count) for f in facets["tag"].values] == [
            ("größe", 1),
            ("pii", 1),
            ("pii2", 1),
        ]

    def test_the_search_of_the_app_finds_them(self, anna: User) -> None:
        found = search_page(anna, q="pii", kind="table").tables

        assert [one.full_name for one in found] == ["sales.orders", "web.visits"]

    def test_lists_are_ordered_by_owner(self, anna: User) -> None:
        assert names(anna, sort="-owner")[0] == "sales.orders"
