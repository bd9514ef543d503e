"""Parts of tables in the wizard: what becomes of files before anything is shared."""

import re
from pathlib import Path

import pytest
from django.test import Client

from apps.jobs.models import Job
from apps.sharing.models import Share
from apps.tables.models import Table
from tests.functional.sharing_api.ruled import new_staff
from tests.functional.sharing_pages.wizard import go, step, typed
from tests.support import cases
from tests.support.pages.factories import new_metadata, new_recipient, new_table

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(tmp_path: Path) -> Table:
    made = new_staff(tmp_path / "staff").snapshot().metadata
    table = new_table("hr.staff", location=str(tmp_path / "staff"), version=3)
    new_metadata(table, schema_string=made.schema_string)
    return table


def _reviewed(admin: Client, table: Table, **fields: str) -> str:
    go(admin, "name", "next", name="people")
    go(admin, "tables", f"add:{table.id}")
    go(admin, "tables", "next", **typed(table, 0, **fields))
    go(admin, "recipients", "next", recipient="acme", shown="acme")
    return re.sub(r"<[^>]+>|\s+", " ", step(admin, "review"))


@cases(
    "fields, said",
    {
        "rows": (
            {"condition": "region = 'EU'"},
            [
                r"Untouched *1 *file",
                r"Rewritten *1 *file",
                r"Left out *1 *file",
                r"Rows outside the condition *0 *the untouched files were just",
                r"salary *bigint *would rewrite 1 more file",
            ],
        ),
        "columns": (
            {"columns": "id, region"},
            [
                r"0.0 % of the bytes are shared untouched",
                r"Rewritten *3 *files",
                r"salary *bigint *hidden: rewrites 3 more files, ",
                r"id *bigint *costs nothing extra",
            ],
        ),
        "a recipient without the property": (
            {"condition": "region = recipient.region"},
            [
                r"all columns.*acme .*has no region *A comparison .* never true",
                r"acme has no region *A comparison .* never true",
                r"Untouched *0 *files",
            ],
        ),
    },
)
def test_parts_show_what_becomes_of_files_before_anything_is_shared(
    admin: Client, staff: Table, fields, said
) -> None:
    new_recipient("acme")

    shown = _reviewed(admin, staff, **fields)

    assert [one for one in said if not re.search(one, shown)] == []
    assert not Share.objects.exists()


def test_a_new_recipient_without_the_property_is_not_said_to_see_the_table(
    admin: Client, staff: Table
) -> None:
    new_recipient("acme", properties={"region": "EU"})
    _reviewed(admin, staff, condition="region = recipient.region")
    go(admin, "recipients", "new", name="globex", lifetime="30d")

    shown = re.sub(r"<[^>]+>|\s+", " ", step(admin, "review"))

    assert re.search(r"globex .*hr\.staff *: *has no region", shown)
    assert "globex has no region" in shown
    assert "acme has no region" not in shown


def test_parts_are_rewritten_and_proved_once_the_share_is_made(admin, staff):
    new_recipient("acme")
    _reviewed(admin, staff, condition="region = 'EU'")

    go(admin, "review", "create")

    job = Job.objects.get()
    assert (job.kind, job.parameters["proves"]) == ("sharing.prepare_share", True)


def test_parts_that_cannot_be_read_say_so(admin: Client, staff: Table) -> None:
    new_recipient("acme")
    _reviewed(admin, staff, condition="region = 'EU'")
    Table.objects.update(location="/nowhere/at/all")

    assert "could not be checked" in step(admin, "review")
