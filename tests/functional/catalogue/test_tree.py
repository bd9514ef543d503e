"""The tree of namespaces: what each has, a part at a time, for who may see it."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from apps.tables.catalogue.organizing.tree import LOADED
from apps.tables.models import Table
from tests.functional.catalogue.pages import as_json, text
from tests.support.pages.factories import new_table, signed_in

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def branch(client: Client, address: str) -> list[tuple[str, str]]:
    """The links and words of a part of the tree, as htmx requests it."""
    answer = client.get(address, headers=HTMX)
    assert answer.status_code == 200
    shown = answer.content.decode()
    assert "<html" not in shown
    return re.findall(r'<a href="([^"]+)"[^>]*>(?:<span[^>]*>)?([^<]+)', shown)


def test_the_catalog_has_each_namespace_by_name(viewer: Client) -> None:
    for name in ("web.a", "sales.b", "sales.a", "sales.c"):
        new_table(name)

    shown = text(viewer, "/tables/")
    found = re.findall(r'data-branch="(\w+)"\s+hx-get="([^"]+)"', shown)

    assert found == [
        ("sales", "/tables/tree?namespace=sales"),
        ("web", "/tables/tree?namespace=web"),
    ]


def test_a_branch_has_its_tables(viewer: Client) -> None:
    new_table("sales.b")
    new_table("sales.a")
    new_table("web.c")

    assert branch(viewer, "/tables/tree?namespace=sales") == [
        ("/t/sales/a/", "a"),
        ("/t/sales/b/", "b"),
    ]


def test_a_chosen_namespace_is_open_without_script(viewer: Client) -> None:
    new_table("sales.a")
    new_table("web.c")

    shown = text(viewer, "/tables/", namespace="web")

    assert len(re.findall(r'data-branch="web" open', shown)) == 1
    assert 'data-branch="sales" open' not in shown


def test_without_script_a_branch_is_a_page(viewer: Client) -> None:
    new_table("sales.a")

    assert 'href="/t/sales/a/"' in text(viewer, "/tables/tree", namespace="sales")
    namespaces = text(viewer, "/tables/tree")
    assert 'href="/tables/tree?namespace=sales"' in namespaces
    assert "There are no tables that you can see." not in namespaces


def test_a_large_namespace_is_loaded_in_parts(viewer: Client) -> None:
    now = timezone.now()
    Table.objects.bulk_create(
        Table(
            namespace="big",
            name=f"t{number:04}",
            location=f"/lake/big/{number}",
            created_at=now,
            probe_due_at=now,
        )
        for number in range(LOADED + 3)
    )

    first = branch(viewer, "/tables/tree?namespace=big")
    rest = branch(viewer, first[-1][0].replace("&amp;", "&"))

    assert len(first) == LOADED + 1
    assert first[-1][1] == "More tables"
    assert [name for _, name in rest] == [f"t{LOADED + n:04}" for n in range(3)]


def test_a_branch_keeps_to_the_filters_of_the_list(viewer: Client) -> None:
    new_table("sales.a", description="of the web shop")
    new_table("sales.b")

    shown = text(viewer, "/tables/", q="shop")

    assert "/tables/tree?q=shop&amp;namespace=sales" in shown
    found = branch(viewer, "/tables/tree?q=shop&namespace=sales")
    assert [name for _, name in found] == ["a"]


def test_private_tables_are_for_administrators(viewer: Client) -> None:
    admin = signed_in("ada", role="ADMIN")
    new_table("sales.open")
    new_table("hidden.secret", is_private=True)

    for_viewer = as_json(viewer, "/tables/tree.json")
    for_admin = as_json(admin, "/tables/tree.json")

    assert for_viewer["namespaces"] == [{"namespace": "sales", "tables": 1}]
    assert [one["namespace"] for one in for_admin["namespaces"]] == ["hidden", "sales"]
    assert as_json(viewer, "/tables/tree.json", namespace="hidden")["tables"] == []
    assert 'data-branch="hidden"' not in text(viewer, "/tables/")


@pytest.mark.usefixtures("db")
def test_a_branch_is_one_query_of_its_tables(
    viewer: Client, django_assert_max_num_queries
) -> None:
    for number in range(30):
        new_table(f"sales.t{number}")
    branch(viewer, "/tables/tree?namespace=sales")

    with django_assert_max_num_queries(4):  # the session, its user, the tables
        branch(viewer, "/tables/tree?namespace=sales")
