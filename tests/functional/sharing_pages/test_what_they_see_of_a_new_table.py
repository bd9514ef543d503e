"""A table is added to a share by the step *What they see*, with its rule at once."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.sharing.models import Recipient, Share, SharedTable
from tests.functional.sharing_api.ruled import new_staff
from tests.functional.sharing_pages.pages import HTMX
from tests.support import cases
from tests.support.pages.factories import (
    new_grant,
    new_metadata,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
)
from tests.support.pages.shown_words import words

pytestmark = pytest.mark.django_db
ADD: Final = "/shares/retail/tables/add"
COLUMNS: Final = ["id", "region", "salary", "note"]
NEW: Final = {
    "table": "hr.staff",
    "schema": "people",
    "name": "",
    "with_history": ["false", "on"],
    "start_version": "1",
    "with_directory": "false",
    "comment": "of 2026",
}


@pytest.fixture(autouse=True)
def staff(tmp_path: Path) -> None:
    """Register 8 rows of EU and 7 of US, and let acme and initech read the share."""
    made = new_staff(tmp_path / "staff").snapshot().metadata
    table = new_table("hr.staff", location=str(tmp_path / "staff"), version=3)
    new_metadata(table, schema_string=made.schema_string)
    share = new_share("retail")
    for name, region in {"acme": "EU", "initech": "US"}.items():
        new_grant(share, new_recipient(name, properties={"region": region}))


def post(admin: Client, action: str, **fields: Any) -> str:  # noqa: ANN401 (form)
    answer = admin.post(ADD, {**NEW, "action": action, **fields})
    assert answer.status_code in {200, 302, 422}, answer.content.decode()
    shown: str = words(answer.content.decode())
    return answer["Location"] if answer.status_code == 302 else shown


def rule(condition: str, *columns: str) -> dict[str, Any]:
    """Return the fields that the form of the step sends."""
    return {
        "rows": "where" if condition else "all",
        "condition": condition,
        "shown": json.dumps(COLUMNS),
        "columns": columns or COLUMNS,
        "who": ["acme", "initech"],
    }


def test_shows_what_recipients_would_see_before_the_table_is_shared(
    admin: Client,
) -> None:
    shown = post(admin, "look")

    assert "people.staff" in shown
    assert "not added yet" in shown
    assert "acme 15 rows" in shown
    assert not SharedTable.objects.exists()
    assert not AuditEvent.objects.filter(action__startswith="share.").exists()


def test_a_change_of_the_form_shows_the_rows_of_each_recipient(admin: Client) -> None:
    fields = {**NEW, **rule("region = recipient.region", "id", "region")}

    answer = admin.post(ADD, fields, headers=HTMX)

    shown = words(answer.content.decode())
    assert "acme 8 rows" in shown.replace("EU ", "")
    assert "2 of 4 are seen" in shown
    assert "not added yet" not in shown
    assert not SharedTable.objects.exists()


def test_adds_the_table_with_its_rule_and_changes_properties(admin: Client) -> None:
    fields = rule("region = recipient.region", "id", "region")

    to = post(admin, "save", **fields, **{"set1-region": "EU"})

    assert to == "/shares/retail/"
    shared = SharedTable.objects.get()
    assert shared.full_name == "people.staff"
    assert (shared.condition, shared.columns) == (
        "region = recipient.region",
        ["id", "region"],
    )
    assert (shared.start_version, shared.comment) == (1, "of 2026")
    assert shared.with_history
    assert Recipient.objects.get(name="initech").properties == {"region": "EU"}
    job = Job.objects.get(kind="sharing.prepare_share")
    assert job.parameters["proves"] is True
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert {"share.add_table", "recipient.set_properties"} <= actions


def test_all_boxes_and_all_rows_share_the_whole_table(admin: Client) -> None:
    post(admin, "save", **rule(""))

    assert SharedTable.objects.get().is_whole


@cases(
    "fields, said",
    {
        "a condition": (rule("nope = 1"), "nope"),
        "no condition": ({**rule(""), "rows": "where"}, "Enter a condition"),
        "no column": ({**rule(""), "columns": []}, "Check at least one column"),
        "a property": ({**rule("id > 0"), "set0-region": '"EU'}, "EU"),
    },
)
def test_what_is_wrong_is_said_at_its_field_and_adds_nothing(
    admin: Client, fields: dict[str, Any], said: str
) -> None:
    shown = post(admin, "save", **fields)

    assert said in shown
    assert "not added yet" in shown
    assert not SharedTable.objects.exists()


@pytest.mark.parametrize("action", ["look", "save"])
def test_a_name_that_is_taken_is_said_in_the_form_of_the_table(
    admin: Client, action: str
) -> None:
    new_shared_table(Share.objects.get(), "people.staff")

    shown = post(admin, action, **rule("id > 3"))

    assert "people.staff" in shown
    assert "Add a table" in shown
    assert "Next: what they see" in shown
    assert SharedTable.objects.count() == 1


def test_a_table_that_is_not_registered_is_said(admin: Client) -> None:
    shown = post(admin, "save", **{**rule("id > 3"), "table": "no.such"})

    assert "No table is named 'no.such'" in shown


def test_columns_that_come_without_boxes_still_narrow(admin: Client) -> None:
    post(admin, "save", columns="id,note", condition="id > 3")

    shared = SharedTable.objects.get()
    assert (shared.condition, shared.columns) == ("id > 3", ["id", "note"])


def test_a_column_without_a_box_is_not_shared(admin: Client) -> None:
    fields = {**rule("id > 3"), "shown": json.dumps(["id", "region"])}

    post(admin, "save", **{**fields, "columns": ["id"]})

    assert SharedTable.objects.get().columns == ["id"]


def test_another_button_adds_it_without_this_step(admin: Client) -> None:
    admin.post(ADD, NEW)

    assert SharedTable.objects.get().is_whole


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_only_administrators_look(role: str, request: pytest.FixtureRequest) -> None:
    client: Client = request.getfixturevalue(role)

    assert client.post(ADD, {**NEW, "action": "look"}).status_code == 403
