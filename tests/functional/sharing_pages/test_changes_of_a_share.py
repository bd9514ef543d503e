"""What is changed on a share's page: its tables, its recipients, its name."""

import re

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.sharing.models import Share, SharedTable
from tests.functional.sharing_pages.pages import page, posted, refused
from tests.support import cases
from tests.support.pages.factories import (
    new_grant,
    new_metadata,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_user,
)

pytestmark = pytest.mark.django_db


class TestTables:
    def test_a_table_is_added_under_its_own_names_unless_told(self, admin: Client):
        new_share("retail")
        new_table("crm.orders")

        shown = posted(
            admin, "/shares/retail/tables/add", table="crm.orders", with_history="on"
        )

        assert "crm.orders is in retail as crm.orders." in shown
        added = SharedTable.objects.get()
        assert (added.schema, added.name, added.with_history) == ("crm", "orders", True)

    @cases(
        "fields, said",
        {
            "table": ({"table": "no.such"}, "No table is named 'no.such'"),
            "start version": ({"start_version": "9"}, "the newest version is 2"),
            "no number": ({"start_version": "new"}, "Enter a version: a whole number"),
        },
    )
    def test_says_beside_the_field_what_is_wrong(self, admin, fields, said):
        new_share("retail")
        new_metadata(new_table("crm.orders"))
        form = {"table": "crm.orders", "with_history": "on", **fields}

        shown = refused(admin, "/shares/retail/tables/add", **form)

        assert said in shown
        assert 'aria-invalid="true"' in shown
        assert not SharedTable.objects.exists()

    def test_a_table_is_edited_in_a_form_that_has_an_address(self, admin: Client):
        shared = new_shared_table(new_share("retail"), "crm.orders")
        assert 'id="edit"' in page(admin, "/shares/retail/", edit=str(shared.id))

        posted(
            admin,
            f"/shares/retail/tables/{shared.id}/update",
            with_history="on",
            start_version="1",
            comment="from the first of May",
        )

        shared.refresh_from_db()
        assert shared.start_version == 1
        assert shared.comment == "from the first of May"

    @cases(
        "location, said",
        {
            "of this server": ("/lake/orders", "before no longer work"),
            "of an object store": ("s3://lake/orders", "before work until"),
        },
    )
    def test_says_until_when_earlier_urls_open(self, admin, location, said) -> None:
        table = new_table("crm.orders", location=location)
        new_metadata(table)
        shared = new_shared_table(new_share("retail"), "crm.orders", table=table)
        form = {"with_history": "on", "comment": "narrow"}
        path = f"/shares/retail/tables/{shared.id}/update"

        described = posted(admin, path, **form)
        narrowed = posted(admin, path, **form, condition="id = 1")

        assert "that were issued" not in described
        assert f"that were issued {said}" in narrowed

    def test_a_fault_of_an_edit_opens_the_form_again(self, admin: Client) -> None:
        shared = new_shared_table(new_share("retail"), "crm.orders")

        shown = refused(
            admin,
            f"/shares/retail/tables/{shared.id}/update",
            with_history="false",
            start_version="1",
        )

        assert "the table is shared without history" in shown

    def test_a_table_is_removed_and_stays_in_the_catalogue(self, admin: Client) -> None:
        shared = new_shared_table(new_share("retail"), "crm.orders")

        shown = posted(admin, f"/shares/retail/tables/{shared.id}/remove")

        assert "is no longer in retail" in shown
        assert not SharedTable.objects.exists()
        assert admin.get("/t/crm/orders/sharing").status_code == 200

    def test_a_table_of_another_share_is_a_404(self, admin: Client) -> None:
        shared = new_shared_table(new_share("other"), "crm.orders")
        new_share("retail")

        answer = admin.post(f"/shares/retail/tables/{shared.id}/remove")

        assert answer.status_code == 404
        assert SharedTable.objects.exists()

    def test_suggests_tables_by_a_part_of_their_name(self, admin: Client) -> None:
        new_table("crm.orders")
        new_table("hr.people")

        shown = page(admin, "/shares/table-options", table="ord")

        assert 'value="crm.orders"' in shown
        assert "people" not in shown


class TestGrants:
    def test_a_recipient_is_granted_the_share_and_loses_it_again(self, admin: Client):
        share = new_share("retail")
        new_recipient("Globex")

        shown = posted(admin, "/shares/retail/recipients/add", recipient="globex")
        assert "Globex can now read retail." in shown
        assert share.recipients.count() == 1

        shown = posted(admin, "/shares/retail/recipients/remove", recipient="Globex")
        assert "Globex can no longer read retail." in shown
        assert share.recipients.count() == 0

    def test_a_new_recipient_begins_with_the_share_ticked(self, admin: Client) -> None:
        new_share("retail")
        new_share("other")
        assert 'href="/recipients/new?share=retail"' in page(admin, "/shares/retail/")

        shown = page(admin, "/recipients/new", share="retail")

        assert len(re.findall(r'value="retail"[^>]* checked', shown)) == 1
        assert not re.search(r'value="other"[^>]* checked', shown)

    def test_an_unknown_recipient_is_named_beside_the_field(self, admin: Client):
        new_share("retail")

        shown = refused(admin, "/shares/retail/recipients/add", recipient="nobody")

        assert "No recipient is named 'nobody'" in shown


class TestNameAndEnd:
    def test_a_share_is_renamed_and_its_comment_set(self, admin: Client) -> None:
        new_share("retail")

        answer = admin.post("/shares/retail/update", {"name": "emea", "comment": "x"})

        assert answer["Location"] == "/shares/emea/settings"
        assert Share.objects.get().comment == "x"

    def test_a_name_that_will_not_do_changes_nothing(self, admin):
        new_share("retail")
        new_share("taken")

        shown = refused(admin, "/shares/retail/update", name="Taken", comment="new")

        assert "exists already" in shown
        assert "Settings of retail" in shown
        assert set(Share.objects.values_list("name", flat=True)) == {"retail", "taken"}
        assert not Share.objects.filter(comment="new").exists()

    def test_its_own_page_has_the_forms_and_that_of_the_share_has_none(self, admin):
        share = new_share("retail", comment="Every order")
        new_grant(share, new_recipient("globex"))

        settings = page(admin, "/shares/retail/settings")
        detail = page(admin, "/shares/retail/")

        for action in ("/shares/retail/update", "/shares/retail/delete"):
            assert f'action="{action}"' in settings
            assert f'action="{action}"' not in detail
        assert "1 recipient loses access at once" in settings
        assert 'href="/shares/retail/settings"' in detail
        assert admin.get("/shares/retail/settings.json").json() == {
            "name": "retail",
            "comment": "Every order",
            "description": "",
            "listed": False,
            "num_recipients": 1,
            "in_browser": False,
            "with_field_ids": True,
            "plain": False,
        }

    def test_files_for_iceberg_clients_are_served_as_stored_or_with_ids(self, admin):
        share = new_share("retail")
        assert "Serve files as stored" in page(admin, "/shares/retail/settings")

        said = posted(admin, "/shares/retail/field-ids-off")
        share.refresh_from_db()

        assert "Iceberg clients of retail get files as stored." in said
        assert not share.with_field_ids
        assert "Daft rejects tables" in page(admin, "/shares/retail/settings")
        posted(admin, "/shares/retail/field-ids")
        share.refresh_from_db()
        assert share.with_field_ids

    def test_a_share_is_deleted_once_its_name_is_typed(self, admin: Client) -> None:
        new_shared_table(new_share("retail"), "crm.orders")

        assert "Type retail to delete it." in refused(
            admin, "/shares/retail/delete", confirm="Retail"
        )
        assert "is deleted" in posted(admin, "/shares/retail/delete", confirm="retail")
        assert not Share.objects.exists()

    def test_every_change_is_in_the_record_with_who_made_it(self, admin: Client):
        new_share("retail")
        new_recipient("globex")
        new_table("orders")
        posted(admin, "/shares/retail/tables/add", table="orders", with_history="on")
        posted(admin, "/shares/retail/recipients/add", recipient="globex")
        posted(admin, "/shares/retail/update", name="emea")

        events = AuditEvent.objects.order_by("id").values_list(
            "action", "actor", "share"
        )

        assert list(events) == [
            ("share.add_table", "ada", "retail"),
            ("grant.add", "ada", "retail"),
            ("share.rename", "ada", "emea"),
        ]

    @pytest.mark.parametrize("what", ["update", "delete", "tables/add"])
    def test_changes_are_posted_with_a_token(self, what: str) -> None:
        new_share("retail")
        client = Client(enforce_csrf_checks=True)
        client.force_login(new_user("ada", role=User.Role.ADMIN))

        assert client.get(f"/shares/retail/{what}").status_code == 405
        assert client.post(f"/shares/retail/{what}").status_code == 403


class TestSwitch:
    def test_turns_a_share_off_at_once_and_on_again(self, admin: Client) -> None:
        share = new_share("retail")

        page = admin.post("/shares/retail/switch", follow=True)

        share.refresh_from_db()
        assert share.off_since is not None
        assert "This share was turned off" in page.content.decode()
        assert "No file URL works any more" in page.content.decode()
        admin.post("/shares/retail/switch", {"on": ""})
        share.refresh_from_db()
        assert share.off_since is None

    def test_says_until_when_urls_of_object_stores_work(self, admin: Client) -> None:
        share = new_share("retail")
        table = new_table("crm.far", location="s3://lake/far")
        new_shared_table(share, "crm.far", table=table)

        page = admin.post("/shares/retail/switch", follow=True)

        assert "File URLs that were issued before work until" in page.content.decode()


def test_a_share_is_prepared_and_proved_by_a_job(admin: Client) -> None:
    new_shared_table(new_share("retail"), "crm.orders", condition="id > 3")

    page = admin.post("/shares/retail/prepare", {"prove": ""}, follow=True)

    job = Job.objects.get(kind="sharing.prepare_share")
    assert job.parameters["proves"] is True
    shown = page.content.decode()
    assert "Files are prepared when the share is granted to a recipient." in shown
    assert f'hx-get="/jobs/{job.id}/progress?then=reload"' in shown


@pytest.mark.parametrize(
    ("state", "times"),
    [(Job.State.RUNNING, 1), (Job.State.FAILED, 1), (Job.State.DONE, 0)],
)
def test_a_share_shows_its_newest_preparation_until_that_is_done(
    admin: Client, state: Job.State, times: int
) -> None:
    new_shared_table(new_share("retail"), "crm.orders", condition="id > 3")
    admin.post("/shares/retail/prepare", {"prove": ""})
    Job.objects.update(state=state)

    shown = admin.get("/shares/retail/").content.decode()

    assert shown.count(f'id="job-{Job.objects.get().id}"') == times
