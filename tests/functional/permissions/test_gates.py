"""What people change of a table is decided by their right on it, not by their role."""

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.jobs.kinds import all_kinds
from apps.jobs.models import Job
from apps.pages.actions import Actor, Stamp, command_stamp
from apps.pages.errors import PageError
from apps.tables.catalogue.registration import (
    TableSettings,
    register_many,
    register_table,
    remove_table,
    rename_table,
)
from apps.tables.models import Grant, Namespace, Table
from apps.tables.permissions import EDIT, OWN, VIEW, RightRequiredError, may
from tests.support.pages.factories import (
    NOW,
    new_grant_of_right,
    new_job,
    new_table,
    signed_in,
)
from tests.support.pages.rest import refusal

pytestmark = pytest.mark.django_db
JSON = "application/json"
OPTIMIZE = "/api/v1/tables/hr/pay/operations/optimize"


def _user(name: str) -> User:
    return User.objects.get(username=name)


def _stamp(name: str) -> Stamp:
    return Stamp(Actor(name=name, user_id=_user(name).pk), NOW)


@pytest.fixture
def pay() -> Table:
    return new_table("hr.pay", is_private=True)


@pytest.fixture
def eve() -> Client:
    return signed_in("eve", role="EDITOR")


@pytest.fixture
def vera() -> Client:
    return signed_in("vera")


class TestAnOperation:
    @pytest.mark.usefixtures("pay")
    def test_of_a_private_table_does_not_exist_for_editors(self, eve: Client) -> None:
        body = {"parameters": {}, "preview": True}
        hidden = eve.post(OPTIMIZE, body, content_type=JSON)
        missing = eve.post(OPTIMIZE.replace("pay", "no"), body, content_type=JSON)

        assert hidden.status_code == missing.status_code == 404
        assert refusal(hidden) == refusal(missing) == (404, "table-not-found")
        assert eve.get("/t/hr/pay/optimize").status_code == 404
        assert eve.get("/t/hr/pay/maintenance").status_code == 404
        assert not Job.objects.exists()

    @pytest.mark.parametrize(("right", "status"), [(VIEW, 403), (EDIT, 202)])
    def test_needs_the_right_to_edit(self, vera, pay, right, status) -> None:
        new_grant_of_right(right, pay, _user("vera"))

        answer = vera.post(
            OPTIMIZE, {"parameters": {}, "preview": True}, content_type=JSON
        )

        assert answer.status_code == status
        page = vera.get("/t/hr/pay/").content.decode()
        assert ("/t/hr/pay/optimize" in page) == (right == EDIT)
        assert ("/t/hr/pay/maintenance" in page) == (right == EDIT)

    def test_is_not_done_after_the_right_has_ended(self, vera, pay) -> None:
        grant = new_grant_of_right(EDIT, pay, _user("vera"))
        answer = vera.post(
            OPTIMIZE, {"parameters": {}, "preview": True}, content_type=JSON
        )
        Grant.objects.filter(id=grant.id).update(ended_at=NOW)
        job = Job.objects.get(id=answer.json()["job"]["id"])

        all_kinds()[job.kind].work(job.id)

        job.refresh_from_db()
        assert (job.state, job.error_code) == ("FAILED", "asker-lacks-right")
        assert vera.get(f"/jobs/{job.id}/").status_code == 404


class TestAName:
    def test_is_changed_by_editors_of_open_tables(self, eve: Client) -> None:
        new_table("sales.orders")

        answer = eve.patch(
            "/api/v1/tables/sales/orders", {"name": "crm.orders"}, content_type=JSON
        )

        assert answer.status_code == 200
        assert Table.objects.get().full_name == "crm.orders"

    @pytest.mark.usefixtures("vera")
    def test_in_another_namespace_needs_to_own_both(self, pay: Table) -> None:
        Namespace.objects.create(name="fin", is_private=True, created_at=NOW)
        vera = _user("vera")
        new_grant_of_right(OWN, pay, vera)
        for namespace in ("hr", "fin"):
            with pytest.raises(RightRequiredError):
                rename_table(pay, name="fin.pay", stamp=_stamp("vera"))
            new_grant_of_right(OWN, namespace, vera)

        rename_table(pay, name="fin.pay", stamp=_stamp("vera"))

        assert may(vera, OWN, Table.objects.get())

    def test_outside_of_a_private_namespace_leaves_the_table_private(self, eve) -> None:
        del eve
        Namespace.objects.create(name="fin", is_private=True, created_at=NOW)
        table = new_table("fin.pay")
        new_grant_of_right(OWN, "fin", _user("eve"))

        rename_table(table, name="open.pay", stamp=_stamp("eve"))

        assert Table.objects.get().is_private
        assert not Table.objects.visible_to(_user("eve")).exists()

    def test_of_an_open_table_is_not_for_people_with_edit(self, vera: Client) -> None:
        table = new_table("sales.orders")
        new_grant_of_right(EDIT, table, _user("vera"))

        with pytest.raises(RightRequiredError):
            remove_table(table, stamp=_stamp("vera"))
        renamed = vera.patch(
            "/api/v1/tables/sales/orders", {"name": "mine"}, content_type=JSON
        )
        assert renamed.status_code == 403
        assert vera.delete("/api/v1/tables/sales/orders").status_code == 403
        described = vera.patch(
            "/api/v1/tables/sales/orders", {"description": "All"}, content_type=JSON
        )
        assert described.status_code == 200

    def test_tells_at_once_whether_its_new_namespace_is_private(self) -> None:
        Namespace.objects.create(name="hr", is_private=True, created_at=NOW)
        table = new_table("x.plain")
        assert not table.is_hidden

        rename_table(table, name="hr.plain", stamp=command_stamp())
        assert (table.is_private, table.is_hidden) == (False, True)

        rename_table(table, name="x.plain", stamp=command_stamp())
        assert not table.is_in_private_namespace
        assert table.is_private  # so that nobody sees more of it than before


class TestRegistering:
    @pytest.mark.usefixtures("eve")
    def test_in_a_private_namespace_needs_the_right_to_edit_it(self) -> None:
        Namespace.objects.create(name="hr", is_private=True, created_at=NOW)

        with pytest.raises(PageError):
            register_table(name="hr.new", location="/lake/new", stamp=_stamp("eve"))
        new_grant_of_right(EDIT, "hr", _user("eve"))
        register_table(name="hr.new", location="/lake/new", stamp=_stamp("eve"))

        assert Table.objects.get().full_name == "hr.new"

    @pytest.mark.usefixtures("eve")
    def test_as_private_makes_an_owner(self) -> None:
        table = register_table(
            name="mine",
            location="/lake/mine",
            settings=TableSettings(restricted=True),
            stamp=_stamp("eve"),
        )

        assert may(_user("eve"), OWN, table)
        assert Grant.objects.get().given_by == "eve"
        assert Namespace.objects.get().name == "default"

    @pytest.mark.usefixtures("eve")
    def test_many_adds_each_namespace_once(self) -> None:
        tables = [
            Table(namespace=f"n{n % 2}", name=f"t{n}", location=f"/lake/{n}")
            for n in range(4)
        ]
        register_many(tables, created_by=None, stamp=_stamp("eve"))

        assert [one.name for one in Namespace.objects.all()] == ["n0", "n1"]

    def test_a_taken_name_says_no_location(self, eve: Client, pay: Table) -> None:
        del eve

        with pytest.raises(Exception, match="already registered") as caught:
            register_table(name="hr.pay", location="/lake/x", stamp=_stamp("eve"))

        assert pay.location not in str(caught.value)


class TestAJob:
    def test_without_a_table_is_not_for_other_editors(self, eve: Client) -> None:
        admin = signed_in("ada", role="ADMIN")
        job = new_job(kind="tables.check_location", requested_by=_user("ada"))
        scan = new_job(kind="tables.scan_root", requested_by=_user("ada"))

        assert eve.get(f"/jobs/{job.id}/").status_code == 404
        assert eve.get(f"/jobs/{scan.id}/").status_code == 200
        assert admin.get(f"/jobs/{job.id}/").status_code == 200

    def test_is_not_cancelled_by_an_editor_who_only_views(self, eve, pay) -> None:
        new_grant_of_right(VIEW, pay, _user("eve"))
        job = new_job(kind="tables.index_log", subject_id=pay.id, state="QUEUED")

        assert eve.post(f"/jobs/{job.id}/cancel").status_code == 403
        new_grant_of_right(EDIT, pay, _user("eve"))
        assert eve.post(f"/jobs/{job.id}/cancel").status_code == 302
