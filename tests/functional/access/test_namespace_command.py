"""`deltaweb namespace`, and the same change by the page and REST."""

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.tables.models import Namespace, Table
from apps.tables.permissions import VIEW, may
from tests.functional.command_line import Ran, refusal, run_json
from tests.support.pages.factories import new_table, new_user, signed_in
from tests.support.pages.shown_words import words

pytestmark = pytest.mark.django_db
ACCESS = "/n/sales/access"
CALL = "/api/v1/namespaces/sales/access"
JSON = "application/json"


@pytest.fixture
def orders() -> Table:
    Namespace.objects.ensure(["sales"], timezone.now())
    return new_table("sales.orders")


def sales() -> Namespace:
    return Namespace.objects.select_related("owned_by").get(name="sales")


class TestTheCommand:
    def test_makes_a_namespace_private_before_its_first_table(self) -> None:
        said = Ran("namespace", "set", "sales.*", "--private").stdout

        assert "sales.* is private" in said
        assert "no table yet" in said
        assert sales().is_private
        assert not may(new_user("vera"), VIEW, new_table("sales.orders"))

    def test_sets_a_description_and_an_owner(self) -> None:
        new_user("olga")

        made = run_json("namespace", "set", "sales", "--owner", "olga", "--listed")
        found = run_json("namespace", "set", "sales", "--description", "All shops")

        assert made["owner"] == found["owner"] == "olga"
        assert found["listed"]
        assert found["description"] == "All shops"
        assert {*AuditEvent.objects.values_list("action", flat=True)} == {
            "access.set_listed",
            "namespace.describe",
            "namespace.set_owner",
        }

    def test_removes_both(self) -> None:
        new_user("olga")
        Ran("namespace", "set", "sales", "--owner", "olga", "--description", "Shops")

        found = run_json("namespace", "set", "sales", "--no-owner", "--no-description")

        assert (found["owner"], found["description"]) == (None, "")

    def test_that_is_refused_makes_nothing(self) -> None:
        assert "nobody" in refusal("namespace", "set", "sales", "--owner", "nobody")
        assert "No namespace" in refusal("namespace", "set", " .*")
        assert not Namespace.objects.filter(name="sales").exists()

    @pytest.mark.usefixtures("orders")
    def test_lists_and_shows_namespaces(self) -> None:
        Ran("namespace", "set", "hr", "--private", "--description", "Pay")

        listed = {one["on"]: one for one in run_json("namespace", "list")}

        assert (listed["sales.*"]["num_tables"], listed["hr.*"]["num_tables"]) == (1, 0)
        assert run_json("namespace", "show", "hr.*") == listed["hr.*"]
        assert "Pay" in Ran("namespace", "show", "hr").stdout
        assert "namespace set" in refusal("namespace", "show", "nothing")

    @pytest.mark.usefixtures("orders")
    def test_of_access_does_the_same(self) -> None:
        Ran("access", "set", "sales.*", "--private")

        assert run_json("namespace", "show", "sales")["private"]


@pytest.mark.usefixtures("orders")
class TestThePage:
    def test_saves_what_was_sent_and_keeps_the_rest(self) -> None:
        admin = signed_in("ida", role=User.Role.ADMIN)
        admin.post(f"{ACCESS}/set", {"private": "true", "listed": "false"})

        admin.post(f"{ACCESS}/set", {"description": "All shops", "owner": "ida"})

        space = sales()
        assert (space.description, space.owner_name) == ("All shops", "ida")
        assert space.is_private
        shown = words(admin.get(ACCESS).content.decode())
        assert "owned by ida All shops" in shown

    def test_removes_what_is_empty(self) -> None:
        admin = signed_in("ida", role=User.Role.ADMIN)
        admin.post(f"{ACCESS}/set", {"description": "All shops", "owner": "ida"})

        admin.post(f"{ACCESS}/set", {"description": "", "owner": ""})

        assert (sales().description, sales().owner_name) == ("", None)

    def test_has_the_form_for_owners_only(self) -> None:
        viewer = signed_in("vera")

        assert "In the catalog" not in words(viewer.get(ACCESS).content.decode())
        answer = viewer.post(f"{ACCESS}/set", {"description": "Mine"})
        assert answer.status_code == 403
        assert sales().description == ""


@pytest.mark.usefixtures("orders")
class TestTheCall:
    def test_sets_what_it_names_and_removes_nulls(self) -> None:
        admin = signed_in("ida", role=User.Role.ADMIN)

        sent = {"description": "All shops", "owner": "ida"}
        made = admin.patch(CALL, sent, JSON).json()
        kept = admin.patch(CALL, {"owner": None}, JSON).json()

        assert (made["description"], made["owner"]) == ("All shops", "ida")
        assert (kept["description"], kept["owner"]) == ("All shops", None)
        assert admin.get(CALL).json()["description"] == "All shops"

    def test_makes_no_namespace(self) -> None:
        admin = signed_in("ida", role=User.Role.ADMIN)

        answer = admin.patch(
            "/api/v1/namespaces/nothing/access", {"private": True}, JSON
        )

        assert answer.status_code == 404
        assert not Namespace.objects.filter(name="nothing").exists()
