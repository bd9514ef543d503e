"""Plain files are switched on and off, and the forms say what they cost."""

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.sharing.models import Recipient, Share, SharedTable
from tests.functional.command_line import Ran, run_json
from tests.functional.sharing_api.ruled import new_staff
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.pages.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
)
from tests.support.pages.shown_words import words

pytestmark = pytest.mark.django_db
COST = "2 of 3 files need a copy"


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, settings: Settings) -> None:
    settings.PREPARED_FILES = str(tmp_path / "prepared")
    settings.HOME = tmp_path


@pytest.fixture
def shared(tmp_path: Path) -> SharedTable:
    """A table of three files, of which two have a deletion vector."""
    properties = {"delta.enableDeletionVectors": "true"}
    new_staff(tmp_path / "staff", properties=properties).delete("id IN (3, 11)")
    table = new_indexed_table("hr.staff", tmp_path / "staff")
    shared = new_shared_table(new_share("people"), "hr.staff", table=table)
    new_grant(shared.share, new_recipient("acme"))
    return shared


def shown(admin: Client, address: str) -> str:
    answer = admin.get(address)
    assert answer.status_code == 200
    return words(answer.content.decode())


class TestATable:
    def test_shows_the_cost_beside_its_box(self, admin: Client, shared) -> None:
        editing = shown(admin, f"/shares/people/?edit={shared.id}")
        adding = shown(admin, "/shares/people/?add=hr.staff")

        for text in (editing, adding):
            assert COST in text
            assert "DELTAWEB_PREPARED_FILES" in text

    def test_is_switched_by_its_form(self, admin: Client, shared: SharedTable) -> None:
        address = f"/shares/people/tables/{shared.id}/update"
        for sent, plain in (("on", True), (None, True), ("false", False)):
            admin.post(address, {} if sent is None else {"plain": sent})
            shared.refresh_from_db()
            assert shared.plain is plain

        actions = AuditEvent.objects.values_list("action", flat=True)
        assert [one for one in actions if "serve" in one] == [
            "share.serve_stored",
            "share.serve_plain",
        ]
        assert Job.objects.get().kind == "sharing.prepare_share"

    @pytest.mark.usefixtures("shared")
    def test_is_switched_by_a_command(self) -> None:
        line = ("share", "add-table", "people", "hr.again", "--table", "hr.staff")

        made = run_json(*line, "--plain")

        assert (made["plain"], made["warnings"]) == (True, [])
        warned = Ran(*line[:3], "hr.third", *line[4:]).stderr
        assert "Simple clients can read it as plain files" in warned

    def test_is_not_plain_and_a_folder(self, admin: Client, shared) -> None:
        SharedTable.objects.update(plain=True)
        address = f"/shares/people/tables/{shared.id}/update"

        answer = admin.post(address, {"with_directory": "on"})

        assert answer.status_code == 422
        assert "plain files" in words(answer.content.decode())


@pytest.mark.parametrize("kind", ["share", "recipient"])
class TestAShareOrARecipient:
    @pytest.fixture
    def model(self, kind: str) -> type[Share] | type[Recipient]:
        return Share if kind == "share" else Recipient

    @pytest.fixture
    def name(self, kind: str) -> str:
        return "people" if kind == "share" else "acme"

    @pytest.mark.usefixtures("shared")
    def test_is_switched_by_its_settings(self, admin, kind, model, name) -> None:
        settings = f"/{kind}s/{name}/settings"
        assert COST in shown(admin, settings)

        on = admin.post(f"/{kind}s/{name}/plain", follow=True)
        after_on = model.objects.get().plain
        off = admin.post(f"/{kind}s/{name}/plain-stored", follow=True)

        assert (after_on, model.objects.get().plain) == (True, False)
        assert "served" in words(on.content.decode())
        assert "as they are stored" in words(off.content.decode())
        actions = {*AuditEvent.objects.values_list("action", flat=True)}
        assert {f"{kind}.all_plain", f"{kind}.all_stored"} <= actions

    @pytest.mark.usefixtures("shared")
    def test_is_switched_by_a_command(self, kind, model, name) -> None:
        on = run_json(kind, "plain", name)
        off = run_json(kind, "plain", name, "--stored")

        assert (on["plain"], on["num_copies"], on["num_files"]) == (True, 2, 3)
        assert off["plain"] is False
        assert model.objects.get().plain is False


@pytest.mark.usefixtures("shared")
def test_the_page_of_a_share_says_which_tables_are_plain(admin: Client) -> None:
    assert "as plain files" not in shown(admin, "/shares/people/")
    Share.objects.update(plain=True)

    text = shown(admin, "/shares/people/")

    assert "as plain files" in text
    assert "Being prepared" in text
    assert admin.get("/shares/people.json").json()["plain"] is True
