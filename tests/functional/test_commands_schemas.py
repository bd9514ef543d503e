"""`deltaweb share add-schema` and `remove-schema`, and the same on the page."""

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.sharing.models import Share, SharedTable
from apps.tables.models import Table
from tests.functional.command_line import Ran, refusal, run_json
from tests.functional.sharing_pages.pages import page, posted
from tests.support.pages.factories import new_share, new_table, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def share() -> Share:
    new_table("crm.orders")
    new_table("crm.people", is_private=True)
    return new_share("sales")


class TestAddSchema:
    def test_says_what_it_shares_by_now_and_what_not(self) -> None:
        ran = Ran("share", "add-schema", "sales", "all", "--namespace", "crm")

        assert (
            "sales shares the namespace crm as all: 1 table, and tables added later."
            in ran.stdout
        )
        assert "crm.people is not shared: it is private." in ran.stderr

    def test_shares_a_table_that_comes_tomorrow(self) -> None:
        run_json("share", "add-schema", "sales", "all", "--namespace", "crm")
        new_table("crm.tomorrow")

        shown = run_json("share", "show", "sales")

        assert [table["name"] for table in shown["tables"]] == [
            "all.orders",
            "all.tomorrow",
        ]
        assert {table["from_schema"] for table in shown["tables"]} == {"all"}
        (schema,) = shown["schemas"]
        assert (schema["namespace"], schema["num_tables"]) == ("crm", 2)

    @pytest.mark.parametrize(
        ("schema", "namespace", "said"),
        [
            ("all", "nowhere", "The namespace"),
            ("with space", "crm", "it contains a space"),
            ("a.b", "crm", "it contains '.'"),
            ("ALL", "crm", "exists already"),
        ],
    )
    def test_says_what_will_not_do(self, schema, namespace, said):
        run_json("share", "add-schema", "sales", "all", "--namespace", "crm")

        options = (schema, "--namespace", namespace)
        assert said in refusal("share", "add-schema", "sales", *options)

    def test_is_taken_back_with_all_its_tables(self) -> None:
        run_json("share", "add-schema", "sales", "all", "--namespace", "crm")
        goes_with_it = refusal("share", "remove-table", "sales", "all.orders", "--yes")
        assert "because the whole schema all" in goes_with_it

        run_json("share", "remove-schema", "sales", "ALL", "--yes")

        assert not SharedTable.objects.exists()
        assert Table.objects.count() == 2
        said = refusal("share", "remove-schema", "sales", "all", "--yes")
        assert "shares no whole namespace as 'all'" in said


class TestPage:
    @pytest.fixture
    def admin(self) -> Client:
        return signed_in("ada", role=User.Role.ADMIN)

    def test_shares_a_namespace_by_its_own_name(self, admin: Client) -> None:
        text = posted(admin, "/shares/sales/schemas/add", namespace="crm")

        assert "crm.orders" in text
        assert "with its namespace" in text
        assert "crm.people" in text
        removal = f"/shares/sales/schemas/{Share.objects.get().shared_schemas.get().id}"
        assert "no longer in sales" in posted(admin, f"{removal}/remove")

    def test_says_what_is_withdrawn_and_why(self, admin: Client) -> None:
        posted(admin, "/shares/sales/schemas/add", namespace="crm")

        Table.objects.filter(name="orders").update(error_code="location-not-found")

        text = page(admin, "/shares/sales/")
        assert "withdrawn" in text
        assert "its files are missing" in text
