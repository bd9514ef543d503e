from datetime import timedelta

import pytest

from apps.accounts.models import User
from apps.tables.catalogue.listing import (
    TABLES,
    catalogue_page,
    catalogue_tables,
)
from apps.tables.models import Table
from tests.support import cases
from tests.support.pages.factories import (
    NOW,
    new_column,
    new_commit,
    new_protocol,
    new_shared_table,
    new_table,
    new_user,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def vera() -> User:
    return new_user("vera")


def names(user: User, **query: object) -> list[str]:
    page = catalogue_page(user, TABLES.query(**query))  # type: ignore[arg-type]  # a test's shorthand
    return [row.table.full_name for row in page.rows]


class TestCataloguePage:
    def test_orders_by_namespace_and_name(self, vera: User) -> None:
        for name in ("web.a", "sales.b", "sales.a"):
            new_table(name)

        assert names(vera) == ["sales.a", "sales.b", "web.a"]

    def test_orders_by_the_newest_commit(self, vera: User) -> None:
        new_table("old", committed_at=NOW - timedelta(days=9))
        new_table("new", committed_at=NOW)

        assert names(vera, sort="-commit") == ["new", "old"]

    @cases(
        "text",
        {
            "a name, whatever its case": "ORD",
            "a namespace": "ales",
            "both with the dot": "les.ord",
            "a description": "web shop",
            "the log's own comment": "from the log",
            "a nested column": "customer.id",
        },
    )
    def test_searches_names_comments_and_columns(self, vera: User, text: str) -> None:
        table = new_table(
            "sales.orders", description="The web shop", comment="from the log"
        )
        new_column(table, "customer.id")
        new_table("other")

        assert names(vera, q=text) == ["sales.orders"]

    @pytest.mark.parametrize("text", ["%", "_", "\\", "' OR 1=1 --", "*"])
    def test_takes_what_is_searched_for_literally(self, vera: User, text: str) -> None:
        new_table("orders")

        assert names(vera, q=text) == []

    def test_says_which_columns_matched(self, vera: User) -> None:
        table = new_table("orders")
        for number in range(6):
            new_column(table, f"customer_{number}")
        new_column(table, "total")

        row = catalogue_page(vera, TABLES.query(q="customer")).rows[0]

        assert row.matched_columns == [f"customer_{number}" for number in range(4)]
        assert row.more_matches == 2

    def test_counts_each_facet_under_the_other_filters(self, vera: User) -> None:
        new_table("sales.a")
        new_table("sales.b", error_code="location-unreachable")
        new_table("web.a")

        page = catalogue_page(vera, TABLES.query(namespace="sales", status="indexed"))

        assert [row.table.full_name for row in page.rows] == ["sales.a"]
        assert [(f.value, f.count) for f in page.namespaces] == [
            ("sales", 1),
            ("web", 1),
        ]
        assert [(f.value, f.count) for f in page.statuses] == [
            ("indexed", 1),
            ("unreachable", 1),
        ]
        assert page.paged.count == 1

    @cases(
        "fields, status",
        {
            "indexed": ({}, "indexed"),
            "new": ({"state": Table.State.NEW}, "new"),
            "failed": ({"state": Table.State.FAILED}, "failed"),
            "a feature that we do not read": (
                {"state": Table.State.UNSUPPORTED, "error_code": "unsupported-feature"},
                "unsupported",
            ),
            "gone away": ({"error_code": "location-unreachable"}, "unreachable"),
            "a log that breaks off": (
                {"error_code": "log-gap", "fault_code": "log-gap", "fault": "a gap"},
                "behind",
            ),
            "a log that breaks off, and is gone": (
                {"error_code": "gone", "fault_code": "log-gap", "fault": "a gap"},
                "unreachable",
            ),
        },
    )
    def test_says_how_a_table_is(self, vera: User, fields: dict[str, str], status: str):
        new_table("orders", **fields)

        assert catalogue_page(vera, TABLES.query()).rows[0].status == status
        assert names(vera, status=status) == ["orders"]

    def test_names_who_made_the_newest_version(self, vera: User) -> None:
        table = new_table("orders", version=1)
        new_commit(table, 0, user_name="someone")
        new_commit(table, 1, user_name="etl")

        row = catalogue_page(vera, TABLES.query()).rows[0]

        assert row.user_name == "etl"
        assert row.commits_30d == [0] * 27 + [1, 1, 1]

    def test_hides_private_tables_from_every_role_but_administrators(
        self, vera: User
    ) -> None:
        new_table("sales.open")
        secret = new_table("hidden.secret", is_private=True)
        new_column(secret, "salary")
        editor = new_user("ed", role=User.Role.EDITOR)
        admin = new_user("ada", role=User.Role.ADMIN)

        assert names(vera) == names(editor) == ["sales.open"]
        assert names(vera, q="secret") == []
        assert names(vera, q="salary") == []
        page = catalogue_page(vera, TABLES.query())
        assert [facet.value for facet in page.namespaces] == ["sales"]
        assert names(admin) == ["hidden.secret", "sales.open"]


class TestFacets:
    @pytest.fixture
    def tables(self) -> dict[str, Table]:
        tables = {name: new_table(name) for name in ("a", "b", "c")}
        new_commit(tables["a"], 2, user_name="etl")
        new_commit(tables["b"], 2, user_name="etl")
        new_commit(tables["b"], 1, user_name="somebody before")
        new_protocol(tables["a"], 0, writer_features=["columnMapping"])
        new_protocol(tables["a"], 1, writer_features=["appendOnly", "deletionVectors"])
        new_protocol(tables["b"], 1, writer_features=["deletionVectors", "rowTracking"])
        new_protocol(tables["c"])
        return tables

    @cases(
        "query, expected",
        {
            "a feature": ({"feature": "deletionVectors"}, ["a", "b"]),
            "another": ({"feature": "rowTracking"}, ["b"]),
            "one of an old protocol": ({"feature": "columnMapping"}, []),
            "who wrote last": ({"writer": "etl"}, ["a", "b"]),
            "who wrote before": ({"writer": "somebody before"}, []),
        },
    )
    def test_filter(self, vera, tables, query, expected):
        assert names(vera, **query) == expected
        assert len(tables) == 3
        tables_of_all = catalogue_tables(vera, TABLES.query(**query))
        assert [table.name for table in tables_of_all] == expected

    @pytest.mark.usefixtures("tables")
    def test_count_tables_and_say_features_in_words(self, vera: User) -> None:
        facets = catalogue_page(vera, TABLES.query()).facets

        assert [(f.word, f.count) for f in facets["feature"].values] == [
            ("deletion vectors", 2),
            ("row tracking", 1),
        ]
        assert [(f.word, f.count) for f in facets["writer"].values] == [("etl", 2)]

    def test_one_value_that_all_tables_have_says_nothing(self, vera: User) -> None:
        new_table("a")
        new_table("b")

        assert catalogue_page(vera, TABLES.query()).useful_facets == []

        new_table("sales.c")
        useful = catalogue_page(vera, TABLES.query()).useful_facets
        assert [facet.name for facet in useful] == ["namespace"]

    def test_only_who_may_know_is_told_what_is_shared(self, vera: User) -> None:
        new_shared_table(name="crm.orders")
        new_table("crm.visits")
        editor = new_user("ed", role=User.Role.EDITOR)

        marks = [
            catalogue_page(user, TABLES.query()).facets["mark"].values
            for user in (vera, editor)
        ]

        assert [[(f.word, f.count) for f in values] for values in marks] == [
            [],
            [("shared", 1)],
        ]
        assert names(editor, mark="shared") == ["crm.orders"]


def test_a_total_of_unknown_sizes_is_unknown(vera: User) -> None:
    new_table("a", size_bytes=None)
    assert catalogue_page(vera, TABLES.query()).size_bytes is None

    new_table("b", size_bytes=7)
    page = catalogue_page(vera, TABLES.query())
    assert (page.size_bytes, page.num_unsized) == (7, 1)
