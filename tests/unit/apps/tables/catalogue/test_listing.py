from dataclasses import replace
from datetime import timedelta

import pytest

from apps.accounts.models import User
from apps.tables.catalogue import facets
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
    signed_in,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def vera() -> User:
    return new_user("vera")


def names(user: User, **query: object) -> list[str]:
    page = catalogue_page(user, TABLES.query(**query))  # type: ignore[arg-type]  # a test's shorthand
    return [row.table.full_name for row in page.rows]


def useful_facets(user: User) -> list[str]:
    facets = catalogue_page(user, TABLES.query()).counts.facets
    return [name for name, facet in facets.items() if facet.is_useful]


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
        assert [(f.value, f.count) for f in page.counts.facets["status"].values] == [
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
        facets = catalogue_page(vera, TABLES.query()).counts.facets

        assert [(f.word, f.count) for f in facets["feature"].values] == [
            ("deletion vectors", 2),
            ("row tracking", 1),
        ]
        assert [(f.word, f.count) for f in facets["writer"].values] == [("etl", 2)]

    def test_one_value_that_all_tables_have_says_nothing(self, vera: User) -> None:
        new_table("a")
        new_table("b")

        assert useful_facets(vera) == []

        new_table("sales.c")
        assert useful_facets(vera) == ["namespace"]

    def test_only_who_may_know_is_told_what_is_shared(self, vera: User) -> None:
        new_shared_table(name="crm.orders")
        new_table("crm.visits")
        editor = new_user("ed", role=User.Role.EDITOR)

        marks = [
            catalogue_page(user, TABLES.query()).counts.facets["mark"].values
            for user in (vera, editor)
        ]

        assert [[(f.word, f.count) for f in values] for values in marks] == [
            [],
            [("shared", 1)],
        ]
        assert names(editor, mark="shared") == ["crm.orders"]


class TestManyTables:
    """Facets, numbers and pages of a varied catalog are those of a plain count."""

    @pytest.fixture
    def tables(self) -> list[Table]:
        owners = [new_user("anna"), new_user("ben"), None]
        return [
            new_table(
                f"{('sales', 'web', 'crm')[number % 3]}.table_{number:03}",
                owned_by=owners[number % 3 if number % 2 else 2],
                tags=[["gold"], [], ["gold", "raw"]][number % 3 if number > 9 else 1],
                error_code="" if number % 5 else "location-unreachable",
                size_bytes=number * 37 % 60 if number % 7 else None,
                is_private=number % 11 == 0,
                last_writer=f"etl-{number % 4}" if number % 4 else "",
                features=[["deletionVectors", "appendOnly"], [], ["rowTracking"]][
                    number % 3
                ],
            )
            for number in range(60)
        ]

    @cases(
        "chosen",
        {
            "nothing": {},
            "a namespace": {"namespace": "sales"},
            "a state and an owner": {"status": "unreachable", "owner": "anna"},
            "a tag": {"tag": "gold"},
            "a feature and a writer": {"feature": "rowTracking", "writer": "etl-2"},
            "a search": {"q": "table_02"},
            "a search and a namespace": {"q": "table_0", "namespace": "crm"},
            "nothing that there is": {"namespace": "sales", "feature": "rowTracking"},
        },
    )
    @pytest.mark.parametrize("few", [10, 1_000])
    @pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.ADMIN])
    def test_facets_are_those_of_a_plain_count(
        self, tables, role: User.Role, few: int, chosen: dict[str, str], monkeypatch
    ) -> None:
        monkeypatch.setattr(facets, "FEW", few)
        user = new_user("reader", role=role)
        seen = [one for one in tables if user.is_admin or not one.is_private]
        found = [one for one in seen if chosen.get("q", "") in one.name]

        page = catalogue_page(user, TABLES.query(**chosen))  # type: ignore[arg-type]  # as above

        for name, facet in page.counts.facets.items():
            others = {key: chosen[key] for key in chosen if key not in {"q", name}}
            left = [one for one in found if _has(one, others)]
            expected: dict[str, int] = {}
            for value in (value for one in left for value in _values(one)[name]):
                expected[value] = expected.get(value, 0) + 1
            assert {one.value: one.count for one in facet.values} == expected, name
            assert facet.total == len(left), name
        shown = [one for one in found if _has(one, {**chosen, "q": ""})]
        sizes = [one.size_bytes for one in shown if one.size_bytes is not None]
        assert page.paged.count == len(shown)
        assert page.size_bytes == (sum(sizes) if sizes else None)
        assert page.num_unsized == len(shown) - len(sizes)
        assert page.has_some == bool(found)

    @pytest.mark.usefixtures("tables")
    @pytest.mark.parametrize("sort", ["name", "-name", "size", "-size", "owner"])
    def test_pages_of_both_halves_make_up_the_list(self, vera, sort):
        query = TABLES.query(sort=sort)
        everything = [one.name for one in catalogue_tables(vera, query)]

        pages = [
            catalogue_page(vera, replace(query, page=number), length=7).rows
            for number in range(1, 9)
        ]

        shown = [row.resource.name for rows in pages for row in rows]
        assert shown == everything
        assert len(shown) == 54

    @pytest.mark.usefixtures("tables")
    def test_only_what_a_form_shows_is_counted(self, django_assert_max_num_queries):
        client = signed_in("reader")
        client.get("/tables/")

        with django_assert_max_num_queries(12) as as_json:
            client.get("/tables.json")
        with django_assert_max_num_queries(30):
            client.get("/tables/")

        grouped = [one["sql"] for one in as_json if "GROUP BY" in one["sql"]]
        assert all("tables_storedfinding" in sql for sql in grouped)

    @pytest.mark.usefixtures("tables")
    def test_filters_of_a_large_catalog_are_loaded_after_the_page(self, monkeypatch):
        monkeypatch.setattr(facets, "FEW", 10)
        client = signed_in("reader")
        part = {"HX-Request": "true", "HX-Target": "catalog-facets"}

        page = client.get("/tables/").content.decode()
        filters = client.get("/tables/", headers=part).content.decode()

        assert "Last written by" not in page
        assert "Counting the filters" in page
        assert "sales" in page
        assert "Last written by" in filters
        assert "table_001" not in filters


def _values(table: Table) -> dict[str, list[str]]:
    """Return the values of a table by facet, as the page shows them."""
    return {
        "namespace": [table.namespace],
        "status": [table.status_key],
        "owner": [table.owner_name] if table.owner_name else [],
        "tag": table.tags,
        "mark": [],
        "feature": [one for one in table.features if one != "appendOnly"],
        "writer": [table.last_writer] if table.last_writer else [],
    }


def _has(table: Table, chosen: dict[str, str]) -> bool:
    """Whether a table has each chosen value."""
    own = _values(table)
    return all(value in own[name] for name, value in chosen.items() if value)


def test_a_total_of_unknown_sizes_is_unknown(vera: User) -> None:
    new_table("a", size_bytes=None)
    assert catalogue_page(vera, TABLES.query()).size_bytes is None

    new_table("b", size_bytes=7)
    page = catalogue_page(vera, TABLES.query())
    assert (page.size_bytes, page.num_unsized) == (7, 1)
