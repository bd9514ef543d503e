"""Parts of tables in the wizard: what becomes of files before anything is shared."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.sharing.access.grants import rule_preview
from apps.sharing.access.grants.seen_rows import SEEN_ROWS
from apps.sharing.models import Recipient, Share, SharedTable
from apps.tables.models import Table
from tests.functional.sharing_api.ruled import new_staff
from tests.functional.sharing_pages.wizard import (
    NEW,
    draft,
    go,
    stays,
    step,
    typed,
)
from tests.support import cases
from tests.support.pages.factories import new_metadata, new_recipient, new_table

pytestmark = pytest.mark.django_db
COLUMNS: Final = ("id", "region", "salary", "note")


@pytest.fixture
def staff(tmp_path: Path) -> Table:
    made = new_staff(tmp_path / "staff").snapshot().metadata
    table = new_table("hr.staff", location=str(tmp_path / "staff"), version=3)
    new_metadata(table, schema_string=made.schema_string)
    return table


def begin(admin: Client, table: Table, **fields: str) -> None:
    """Choose the table, and the recipient acme."""
    go(admin, "name", "next", name="people")
    go(admin, "tables", f"add:{table.id}")
    go(admin, "tables", "next", **typed(table, 0, **fields))
    go(admin, "recipients", "next", recipient="acme", shown="acme")


def words(page: str) -> str:
    """The words of a page, with one blank between them."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def seen(admin: Client, **query: str) -> str:
    """The words of the step *What they see*."""
    return words(step(admin, "seen", **query))


def reviewed(admin: Client) -> str:
    """The words of the last step."""
    return words(step(admin, "review"))


def rule(condition: str, *columns: str, **properties: str) -> dict[str, Any]:
    """Return the fields that the form of the step sends."""
    boxes = {"shown": json.dumps([*COLUMNS]), "columns": columns or COLUMNS}
    return {
        "tab": "0",
        "rows": "where" if condition else "all",
        "condition": condition,
        "who": ["acme"],
        **boxes,
        **{f"set0-{key}": text for key, text in properties.items()},
    }


def test_a_table_that_is_chosen_as_plain_files_is_shared_so(
    admin: Client, staff: Table
) -> None:
    new_recipient("acme")
    begin(admin, staff, plain="on")
    assert "As plain files, for simple clients Without deletion vectors" in words(
        step(admin, "tables")
    )
    assert "; as plain files" in reviewed(admin)
    assert draft(admin)["tables"][0]["part"]["plain"] == "on"

    go(admin, "review", "create")

    assert SharedTable.objects.get().plain
    assert Job.objects.filter(kind="sharing.prepare_share").count() == 1


def test_a_table_whose_box_is_not_checked_is_shared_as_it_is_stored(
    admin: Client, staff: Table
) -> None:
    new_recipient("acme")
    begin(admin, staff, plain="on")
    go(admin, "tables", "next", **typed(staff, 0))

    go(admin, "review", "create")

    assert not SharedTable.objects.get().plain


@cases(
    "fields, said",
    {
        "rows": (
            {"condition": "region = 'EU'"},
            [
                r"Untouched *1 *file",
                r"Rewritten *1 *file",
                r"Left out *1 *file",
                r"Rows *8 *of 15",
                r"acme *8 rows",
                r"0 *rows outside in untouched files",
                r"salary *bigint *would rewrite 1 more file",
                r"As acme sees it *the first 5 rows of 8.* 0 EU 7000000 n-0 ",
            ],
        ),
        "columns": (
            {"columns": "id, region"},
            [
                r"2 of 4 are seen",
                r"0.0 % of the bytes are shared untouched",
                r"Rewritten *3 *files",
                r"salary *bigint *left out: rewrites 3 more files, ",
                r"id *bigint *costs nothing extra",
                r"As acme sees it *the first 5 rows of 15 *id region *0 EU *1 EU",
            ],
        ),
        "a recipient without the property": (
            {"condition": "region = recipient.region"},
            [
                r"recipient.region *Sees *acme *0 rows *Set region",
                r"As acme sees it *0 rows *It has no region, so no row matches",
                r"Left out *3 *files",
            ],
        ),
    },
)
def test_the_step_shows_what_becomes_of_files_before_anything_is_shared(
    admin: Client, staff: Table, fields, said
) -> None:
    new_recipient("acme")
    begin(admin, staff, **fields)

    shown = seen(admin)

    assert [one for one in said if not re.search(one, shown)] == []
    assert not Share.objects.exists()


def test_a_rule_and_a_property_are_set_in_place_and_kept_until_the_end(admin, staff):
    acme = new_recipient("acme", properties={"tier": 1})
    begin(admin, staff)
    form = rule("region = recipient.region", "id", "region", region="EU")

    assert go(admin, "seen", "preview", **form) == f"{NEW}?step=seen&tab=0"

    shown = seen(admin)
    assert re.search(r"acme *8 rows", shown)
    assert "2 of 4 are seen" in shown
    acme.refresh_from_db()
    assert acme.properties == {"tier": 1}
    assert "8 of 15 rows; 2 of 4 columns" in reviewed(admin)
    assert "Sets the properties of acme: tier=1, region=EU" in reviewed(admin)

    go(admin, "review", "create")

    acme.refresh_from_db()
    assert acme.properties == {"tier": 1, "region": "EU"}
    shared = SharedTable.objects.get()
    assert shared.condition == "region = recipient.region"
    assert shared.columns == ["id", "region"]
    actions = AuditEvent.objects.values_list("action", flat=True)
    assert "recipient.set_properties" in actions


@cases(
    "form, said",
    {
        "no such column": (rule("nowhere = 1"), "nowhere"),
        "no SQL": (rule("region = ("), "it is not SQL"),
        "no condition": ({**rule(""), "rows": "where"}, "Enter a condition"),
        "no column": ({**rule(""), "columns": []}, "Check at least one column."),
        "no value": (rule("region = recipient.region", region='"EU'), "quote"),
    },
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_kept(
    admin, staff, form, said
) -> None:
    new_recipient("acme")
    begin(admin, staff)
    before = draft(admin)

    shown = stays(admin, "seen", "next", **form)

    assert re.search(rf'dw-error-text"[^>]*>(?:(?!</span>).)*{re.escape(said)}', shown)
    assert draft(admin) == before


def test_a_script_sees_what_was_typed_and_only_buttons_keep_it(admin, staff) -> None:
    new_recipient("acme")
    begin(admin, staff)
    before = draft(admin)
    form = rule("region = recipient.region", region="US")

    answer = admin.post(NEW, {"step": "seen", **form}, headers={"HX-Request": "true"})

    text = answer.content.decode()
    assert text.lstrip().startswith('<div id="part"')
    assert re.search(r"acme *7 rows", words(text))
    assert draft(admin) == before


def test_one_condition_is_used_for_all_tables_or_refused_by_name(admin, staff) -> None:
    other = new_table("hr.other")
    new_metadata(other)
    new_recipient("acme")
    begin(admin, staff)
    go(admin, "tables", f"add:{other.id}")

    shown = stays(admin, "seen", "next", for_all="on", **rule("region = 'EU'"))

    assert "hr.other cannot have this condition" in shown
    assert [one["part"]["condition"] for one in draft(admin)["tables"]] == ["", ""]

    go(admin, "seen", "next", for_all="on", **rule("id > 3"))

    kept = [one["part"]["condition"] for one in draft(admin)["tables"]]
    assert kept == ["id > 3", "id > 3"]


def test_another_window_that_has_moved_on_changes_nothing(admin, staff) -> None:
    new_recipient("acme")
    begin(admin, staff)
    before = draft(admin)

    go(admin, "seen", "next", table_id="other", **rule("region = 'EU'"))

    assert draft(admin) == before


def test_a_new_recipient_is_seen_with_the_properties_it_is_made_with(admin, staff):
    new_recipient("acme", properties={"region": "EU"})
    begin(admin, staff, condition="region = recipient.region")
    new = {"name": "globex", "lifetime": "30d"}
    go(admin, "recipients", "new", properties="region=US\ntier=1", **new)
    go(admin, "recipients", "new", **new | {"name": "initech"})

    shown = reviewed(admin)
    assert re.search(r"globex .*7 of 15 rows; 4 of 4 columns", shown)
    assert re.search(r"initech .*0 of 15 rows.*has no region", shown)
    assert re.search(r"globex new *7 rows", seen(admin, **{"as": "globex"}))
    go(admin, "seen", "next", **rule("region = recipient.region"))

    admin.post(NEW, {"step": "review", "action": "create"})

    globex = Recipient.objects.get(name="globex")
    assert globex.properties == {"region": "US", "tier": 1}


def test_a_property_that_is_no_pair_is_said_at_its_field(admin, staff) -> None:
    new_recipient("acme")
    begin(admin, staff)
    new = {"name": "globex", "lifetime": "30d", "properties": "region"}

    assert "is not a property" in stays(admin, "recipients", "new", **new)


def test_rows_are_counted_by_a_job_where_the_files_are_large(
    admin, staff, monkeypatch
) -> None:
    monkeypatch.setattr(rule_preview.ReadBudget.__init__, "__defaults__", (0,))
    new_recipient("acme")
    begin(admin, staff, condition="region = 'EU'")

    assert re.search(r"acme *counting", seen(admin))

    job = Job.objects.get()
    SEEN_ROWS.work(job.id)
    shown = seen(admin)
    assert re.search(r"acme *8 rows", shown)
    assert re.search(r"As acme sees it *the first 5 rows of 8", shown)
    assert Job.objects.count() == 1


def test_a_job_that_failed_is_not_begun_again_by_a_page(admin, staff, monkeypatch):
    monkeypatch.setattr(rule_preview.ReadBudget.__init__, "__defaults__", (0,))
    new_recipient("acme")
    begin(admin, staff, condition="region = 'EU'")
    seen(admin)
    Job.objects.update(state=Job.State.FAILED, error="The store does not answer.")

    shown = seen(admin)

    assert "The rows could not be counted. The store does not answer." in shown
    assert "not counted" in shown
    assert Job.objects.count() == 1


def test_parts_are_rewritten_and_proved_once_the_share_is_made(admin, staff):
    new_recipient("acme")
    begin(admin, staff, condition="region = 'EU'")

    go(admin, "review", "create")

    job = Job.objects.get()
    assert (job.kind, job.parameters["proves"]) == ("sharing.prepare_share", True)


def test_parts_that_cannot_be_read_say_so(admin: Client, staff: Table) -> None:
    new_recipient("acme")
    begin(admin, staff, condition="region = 'EU'")
    Table.objects.update(location="/nowhere/at/all")

    assert "/nowhere/at/all" in seen(admin)
    assert "rows where region = 'EU'" in reviewed(admin)
