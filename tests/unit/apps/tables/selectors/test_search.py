import pytest
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.tables.selectors import search_csv, search_page
from tests.factories import new_column, new_table, new_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def vera() -> User:
    return new_user("vera")


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
        assert page.next_page == (2 if kind == "column" else None)

    def test_hides_what_is_restricted(self, vera: User) -> None:
        secret = new_table("secret_orders", restricted=True)
        new_column(secret, "order_id")

        assert search_page(vera, q="order").count == 0
        assert len(list(search_csv(vera, q="order"))) == 1

    def test_asks_the_database_four_times(
        self, vera: User, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        for number in range(20):
            new_column(new_table(f"orders_{number}"), "order_id")

        with django_assert_num_queries(4):
            page = search_page(vera, q="order")
            names = {column.table.full_name for column in page.columns}

        assert len(names) == 20


def test_csv_holds_both_kinds(vera: User) -> None:
    new_column(new_table("sales.orders"), "order_id", type_text="bigint")

    assert list(search_csv(vera, q="order")) == [
        ("kind", "table", "column", "type", "description"),
        ("table", "sales.orders", "", "", ""),
        ("column", "sales.orders", "order_id", "bigint", ""),
    ]
