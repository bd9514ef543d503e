import pytest

from apps.accounts.models import User
from apps.pages.registry import Registry
from apps.tables.catalogue.search.page import search_csv, search_keys, search_page
from apps.tables.extension import search_kinds
from apps.tables.extension.search_kinds import Hit, SearchKind
from apps.tables.models import Table
from tests.support.pages.factories import new_column, new_table, new_user

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_kinds, "kinds", Registry())


@pytest.fixture
def vera() -> User:
    return new_user("vera")


@pytest.fixture
def notes() -> SearchKind:
    """A kind of another app, which finds the tables whose name ends in the text."""
    kind = SearchKind(
        key="note",
        label="Notes",
        icon="file",
        order=1,
        find=lambda _, text: Table.objects.filter(name__endswith=text).order_by("name"),
        hit=lambda one: Hit(name=one.name, about="A note", url="/n"),
        visible=lambda user: user.get_username() == "vera",
    )
    search_kinds.kinds.register(kind)
    return kind


class TestSearchPage:
    def test_finds_tables_and_columns(self, vera: User) -> None:
        table = new_table("sales.orders")
        new_column(table, "order_id")
        new_column(table, "total")

        page = search_page(vera, q="order")

        assert [found.full_name for found in page.tables] == ["sales.orders"]
        assert [column.path for column in page.columns] == ["order_id"]
        assert page.count == 2

    def test_nothing_is_found_without_a_word(self, vera: User) -> None:
        new_table("orders")

        assert search_page(vera, q="").count == 0

    @pytest.mark.parametrize(("kind", "count"), [("table", 1), ("column", 60)])
    def test_one_kind_alone(self, vera: User, kind: str, count: int) -> None:
        table = new_table("orders")
        for number in range(60):
            new_column(table, f"order_{number}")

        page = search_page(vera, q="order", kind=kind)

        assert page.count == count
        assert bool(page.tables) == (kind == "table")
        assert len(page.columns) == (50 if kind == "column" else 0)
        assert page.paged.next_page == (2 if kind == "column" else None)

    def test_hides_what_is_restricted(self, vera: User) -> None:
        secret = new_table("secret_orders", is_private=True)
        new_column(secret, "order_id")

        assert search_page(vera, q="order").count == 0
        assert len(list(search_csv(vera, q="order"))) == 1

    def test_columns_of_that_name_come_first(self, vera: User) -> None:
        for name in ("web.visits", "sales.orders"):
            table = new_table(name)
            for path in ("paid", "ID", "id_of_parent", "pid"):
                new_column(table, path)

        page = search_page(vera, q="Id", kind="column")

        assert [f"{one.table.full_name} {one.path}" for one in page.columns] == [
            "sales.orders ID",
            "web.visits ID",
            "sales.orders id_of_parent",
            "web.visits id_of_parent",
            "sales.orders paid",
            "sales.orders pid",
            "web.visits paid",
            "web.visits pid",
        ]

    def test_pages_of_columns_have_each_column_once(self, vera: User) -> None:
        for number in range(40):
            table = new_table(f"orders_{number:02}")
            for path in ("id", "id_of_parent", "pid"):
                new_column(table, path)

        shown = [
            column
            for number in (1, 2, 3)
            for column in search_page(vera, q="id", kind="column", page=number).columns
        ]

        assert len({one.pk for one in shown}) == len(shown) == 120
        assert [one.path for one in shown[::40]] == ["id", "id_of_parent", "pid"]

    def test_asks_the_database_five_times(self, vera, django_assert_num_queries):
        for number in range(20):
            new_column(new_table(f"orders_{number}"), "order_id")

        with django_assert_num_queries(5):
            page = search_page(vera, q="order")
            names = {column.table.full_name for column in page.columns}

        assert len(names) == 20


def test_csv_holds_both_kinds(vera: User) -> None:
    new_column(new_table("sales.orders"), "order_id", type_text="bigint")

    assert list(search_csv(vera, q="order")) == [
        ("kind", "name", "column", "type", "description"),
        ("table", "sales.orders", "", "", ""),
        ("column", "sales.orders", "order_id", "bigint", ""),
    ]


class TestOtherKinds:
    def test_are_found_beside_tables_and_columns(self, vera: User, notes: SearchKind):
        for number in range(15):
            new_table(f"{number}_order")

        page = search_page(vera, q="order")

        (found,) = page.others
        assert (found.kind, found.count, len(found.hits)) == (notes, 15, 12)
        assert page.count == 30
        assert [(one.key, one.count) for one in page.kinds] == [
            ("", None),
            ("table", 15),
            ("column", 0),
            ("note", 15),
        ]

    @pytest.mark.usefixtures("notes")
    def test_have_pages_when_they_are_asked_for_alone(self, vera: User) -> None:
        for number in range(60):
            new_table(f"{number:02}_order")

        page = search_page(vera, q="order", kind="note", page=2)

        (found,) = page.others
        assert [hit.name for hit in found.hits][::9] == ["50_order", "59_order"]
        assert (page.count, page.paged.num_pages) == (60, 2)
        assert (page.tables, page.columns) == ([], [])

    @pytest.mark.usefixtures("notes")
    def test_are_hidden_from_those_who_may_not_look_for_them(self) -> None:
        new_table("order")
        eve = new_user("eve")

        assert search_keys(eve) == ["", "table", "column"]
        assert search_page(eve, q="order").others == []
        assert len(list(search_csv(eve, q="order"))) == 2

    @pytest.mark.usefixtures("notes")
    def test_are_in_the_csv(self, vera: User) -> None:
        new_table("order")

        assert list(search_csv(vera, q="order", kind="note"))[1:] == [
            ("note", "order", "", "", "A note")
        ]
