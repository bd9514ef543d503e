"""The page *What they see* of a shared table: its rule, and values of recipients."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.sharing.access.grants.rules import rule_for
from apps.sharing.models import PreparedVersion, Recipient, SharedTable
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
    signed_in,
)
from tests.support.pages.shown_words import words

pytestmark = pytest.mark.django_db
COLUMNS: Final = ["id", "region", "salary", "note"]
EVIL: Final = '<img src=x onerror="alert(1)">'


@dataclass
class Shared:
    """A shared table with 8 rows of EU and 7 of US, and the address of its page."""

    table: SharedTable
    address: str

    def form(self, condition: str, *columns: str, **values: str) -> dict[str, Any]:
        """What its form is sent with; the values are those of acme."""
        return {
            "rows": "where" if condition else "all",
            "condition": condition,
            "shown": json.dumps(COLUMNS),
            "columns": columns or COLUMNS,
            "who": ["acme", "initech"],
            **{f"set0-{key}": text for key, text in values.items()},
        }


@pytest.fixture
def shared(tmp_path: Path) -> Shared:
    made = new_staff(tmp_path / "staff").snapshot().metadata
    table = new_table("hr.staff", location=str(tmp_path / "staff"), version=3)
    new_metadata(table, schema_string=made.schema_string)
    share = new_share("people")
    one = new_shared_table(
        share, "hr.staff", table=table, condition="region = recipient.region"
    )
    new_grant(share, new_recipient("acme", properties={"region": "EU", "tier": 1}))
    new_grant(share, new_recipient("initech"))
    return Shared(one, f"/shares/people/tables/{one.id}/seen")


def saved(admin: Client, shared: Shared, **form: Any) -> SharedTable:  # noqa: ANN401 (fields)
    answer = admin.post(shared.address, {"action": "save", **form})
    assert answer.status_code == 302, words(answer.content.decode())
    shared.table.refresh_from_db()
    return shared.table


def test_each_recipient_has_a_line_with_its_value_and_its_rows(admin, shared) -> None:
    shown = words(admin.get(shared.address).content.decode())

    assert "acme 8 rows" in shown
    assert "initech 0 rows Set region" in shown
    as_json = admin.get(f"{shared.address}.json").json()
    assert as_json["recipients"] == [
        {"recipient": "acme", "values": {"region": "EU"}, "num_rows": 8},
        {"recipient": "initech", "values": {"region": None}, "num_rows": 0},
    ]
    assert (as_json["viewed"], as_json["version"]) == ("acme", 3)


def test_a_rule_and_a_property_are_saved_and_recorded_together(admin, shared) -> None:
    form = shared.form("region = recipient.region AND id > 3", "id", region="US")

    table = saved(admin, shared, **form)

    assert table.condition == "region = recipient.region AND id > 3"
    assert table.columns == ["id"]
    acme = Recipient.objects.get(name="acme")
    assert acme.properties == {"region": "US", "tier": 1}
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert {
        "share.filter_table",
        "share.choose_columns",
        "recipient.set_properties",
    } <= actions
    job = Job.objects.get(kind="sharing.prepare_share")
    assert job.parameters["proves"] is True


def test_a_preview_saves_nothing(admin, shared) -> None:
    form = shared.form("id > 3", "id", region="US")
    before = AuditEvent.objects.count()

    answer = admin.post(shared.address, {"action": "preview", **form})
    part = admin.post(shared.address, {"action": "save", **form}, headers=HTMX)

    assert "11 rows" in words(answer.content.decode())
    assert part.content.decode().lstrip().startswith('<div id="part"')
    shared.table.refresh_from_db()
    assert shared.table.columns == []
    assert Recipient.objects.get(name="acme").properties["region"] == "EU"
    assert AuditEvent.objects.count() == before


@cases(
    "change",
    {
        "a condition that does not fit": {"condition": "nowhere = 1"},
        "an empty condition": {"condition": ""},
        "no column": {"columns": []},
        "a value without its quote": {"set0-region": '"EU'},
    },
)
def test_what_is_wrong_is_said_and_nothing_at_all_is_saved(admin, shared, change):
    form = {**shared.form("id > 3", "id", region="US"), **change}

    answer = admin.post(shared.address, {"action": "save", **form})

    assert answer.status_code == 422
    assert "dw-error-text" in answer.content.decode()
    shared.table.refresh_from_db()
    assert (shared.table.condition, shared.table.columns) == (
        "region = recipient.region",
        [],
    )
    assert Recipient.objects.get(name="acme").properties["region"] == "EU"


def test_a_tab_is_left_only_without_changes(admin: Client, shared: Shared) -> None:
    other = new_shared_table(shared.table.share, "hr.other")
    same = shared.form("region = recipient.region", region="EU")
    to_other = {"action": f"tab:{other.id}"}

    left = admin.post(shared.address, {**same, **to_other})
    stays = admin.post(shared.address, {**shared.form("id > 3"), **to_other})

    assert left["Location"] == f"/shares/people/tables/{other.id}/seen"
    assert stays.status_code == 422
    assert "Save the changes of this table first" in stays.content.decode()
    elsewhere = admin.post(shared.address, {**same, "action": "tab:/evil"})
    assert elsewhere["Location"] == shared.address


def test_the_proof_is_that_of_the_rule_and_the_recipient_that_are_shown(admin, shared):
    acme, initech = Recipient.objects.order_by("name")
    facts = {"num_signed": 1, "num_rewritten": 1, "num_absent": 1, "size_bytes": 0}
    for digest, outside in {
        rule_for(shared.table, acme).digest: 0,
        "older": 13,
    }.items():
        PreparedVersion.objects.create(
            shared_table=shared.table,
            rule=digest,
            version=3,
            num_rows=8,
            num_outside=outside,
            prepared_at=timezone.now(),
            **facts,
        )

    proved = words(admin.get(shared.address).content.decode())
    other = words(admin.get(shared.address, {"as": initech.name}).content.decode())
    typed = admin.post(
        shared.address, {"action": "preview", **shared.form("region = 'EU'")}
    )

    assert "0 rows outside. All that acme gets of v3 was read" in proved
    assert "13" not in proved.partition("Proof")[2][:200]
    assert "was read" not in other.partition("Proof")[2][:200]
    assert "of v3 was read" not in words(typed.content.decode())


def test_a_rule_of_the_recipient_itself_holds_too(admin, shared) -> None:
    acme = Recipient.objects.get(name="acme")
    shared.table.rules.create(recipient=acme, condition="id < 3", columns=["id"])

    shown = words(admin.get(shared.address).content.decode())

    assert "and its own rule: id < 3; columns id" in shown
    assert "3 rows" in shown


@pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR])
def test_only_administrators_see_and_change_it(shared: Shared, role: User.Role) -> None:
    client = signed_in("bob", role=role)

    for answer in (
        client.get(shared.address),
        client.get(f"{shared.address}.json"),
        client.post(shared.address, shared.form("")),
        client.post(shared.address, shared.form(""), headers=HTMX),
    ):
        assert answer.status_code == 403
        assert "7000000" not in answer.content.decode()
    shared.table.refresh_from_db()
    assert shared.table.condition == "region = recipient.region"


def test_what_people_write_is_never_markup(admin: Client, shared: Shared) -> None:
    new_grant(shared.table.share, new_recipient(EVIL, properties={"region": EVIL}))
    form = {**shared.form(f"note = '{EVIL}'"), "as": EVIL}

    shown = admin.get(shared.address, {"as": EVIL}).content.decode()
    typed = admin.post(shared.address, form, headers=HTMX).content.decode()
    wrong = admin.post(shared.address, {**form, "condition": EVIL}).content.decode()

    assert EVIL not in shown + typed + wrong
    assert "&lt;img" in shown


def test_a_table_of_another_share_is_not_found(admin: Client, shared: Shared) -> None:
    new_share("other")

    answer = admin.get(f"/shares/other/tables/{shared.table.id}/seen")

    assert answer.status_code == 404


def test_a_table_whose_files_are_gone_says_so_and_keeps_its_form(admin, shared):
    shared.table.table.location = "/nowhere/at/all"
    shared.table.table.save()

    shown = admin.get(shared.address).content.decode()

    assert "/nowhere/at/all" in shown
    assert re.search(r'name="condition" value="region = recipient.region"', shown)
    assert 'id="set0-region"' in shown


def test_many_recipients_have_lines_up_to_a_limit(admin: Client, shared: Shared):
    for number in range(60):
        new_grant(shared.table.share, new_recipient(f"r{number:02d}"))

    shown = words(admin.get(shared.address, {"as": "r59"}).content.decode())

    assert "12 more recipients have no line here." in shown
    assert "As r59 sees it" in shown
