"""What has changed since a recipient last read, and versions held for it."""

from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.jobs import kinds
from apps.jobs.models import Job
from apps.sharing.api.audit import note_read
from apps.sharing.models import Hold, Recipient, SharedTable
from apps.tables.health.examining import follow_repeats
from apps.tables.models import Commit, RepeatedOperation
from apps.tables.storage.roots import allow_root
from deltaweb.errors import DeltawebError
from deltaweb.table import DeltaTable
from tests.functional import command_line
from tests.functional.sharing_pages.pages import as_json, page, posted
from tests.functional.table_command.commands import run_json
from tests.support.files.aged_files import age, age_removed
from tests.support.pages.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
)
from tests.support.tables.table_builder import ROWS, TableBuilder

pytestmark = [pytest.mark.django_db, pytest.mark.database]
PLACE = ("initech", "retail", "crm.orders")
TABLE = {"share": "retail", "table": "crm.orders"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Versions 1 to 4, each with other rows; files of the older ones may go."""
    table = TableBuilder(tmp_path / "orders").build()
    for version, count in enumerate((1, 2, 3, 2), start=1):
        gone = table.snapshot().files["path"].to_pylist()
        table.overwrite(ROWS.slice(0, count))
        for path in gone:
            age_removed(tmp_path / "orders", path, version=version, days=30 - version)
    return tmp_path / "orders"


@pytest.fixture
def shared(folder: Path) -> SharedTable:
    """The table as `initech` reads it, who has read version 2."""
    table = new_table("crm.orders", location=str(folder), version=4)
    for version, rows in ((3, 3), (4, 700)):
        Commit.objects.create(
            table=table,
            version=version,
            committed_at=timezone.now(),
            num_added_files=1,
            added_rows=rows,
            added_bytes=10,
            changes_schema=version == 4,
        )
    made = new_shared_table(new_share("retail"), "crm.orders", table=table)
    recipient = new_recipient("initech")
    new_grant(made.share, recipient)
    token, _ = new_token(recipient)
    note_read(token, made, version=2, now=timezone.now())
    return made


@pytest.mark.usefixtures("shared")
def test_pages_say_what_has_changed_since(admin: Client) -> None:
    shown = page(admin, "/recipients/initech/")
    (read,) = as_json(admin, "/recipients/initech.json")["reads"]
    (row,) = as_json(admin, "/shares/retail.json")["tables"]

    assert "2 versions behind, 703 rows added, 1 schema change" in shown
    assert (read["version"], read["newest_version"]) == (2, 4)
    assert (read["added_rows"], read["added_bytes"]) == (703, 20)
    assert (row["num_readers"], row["num_readers_behind"]) == (1, 1)
    assert "1 of 1 reader behind" in page(admin, "/shares/retail/")


@pytest.mark.usefixtures("shared")
def test_rows_of_a_commit_that_says_none_are_unknown(admin: Client) -> None:
    Commit.objects.filter(version=3).update(added_rows=None)

    (read,) = as_json(admin, "/recipients/initech.json")["reads"]

    assert read["added_rows"] is None
    assert "2 versions behind, 1 schema change" in page(admin, "/recipients/initech/")


@pytest.mark.usefixtures("shared")
def test_a_vacuum_spares_what_is_held_and_says_for_whom(admin, folder):
    table = DeltaTable(str(folder))
    before = table.snapshot(2).read()
    posted(admin, "/recipients/initech/hold", **TABLE, until="30d")

    found = run_json("vacuum", folder, "--dry-run")
    run_json("vacuum", folder, "--yes")

    assert found["num_files"] == 1
    assert found["num_held"] == 2
    assert "initech, who reads it as retail.crm.orders" in found["holds"]
    assert table.snapshot(2).read() == before
    assert table.snapshot(3).read().num_rows == 3
    assert "v2 until" in page(admin, "/recipients/initech/")


@pytest.mark.usefixtures("shared")
def test_a_clean_up_of_the_log_spares_what_is_held(folder: Path) -> None:
    table = DeltaTable(str(folder))
    table.set_properties({"delta.logRetentionDuration": "interval 1 day"})
    table.create_checkpoint(4)
    for path in (folder / "_delta_log").iterdir():
        age(path, days=30)
    command_line.run_json("recipient", "hold", *PLACE, "--until", "90d")

    held = run_json("cleanup", folder, "--dry-run")
    command_line.run_json("recipient", "hold", *PLACE, "--end")
    free = run_json("cleanup", folder, "--dry-run")

    assert (held["num_files"], free["num_files"] > 0) == (0, True)
    assert "Version 2 and later ones stay readable" in held["holds"]
    assert free["holds"] == ""


def run_by_schedule(operation: str) -> None:
    """Run an operation as the clock and a worker do when its schedule is due."""
    now = timezone.now()
    repeats = RepeatedOperation.objects.filter(operation=operation)
    repeats.update(due_at=now)
    follow_repeats(now=now)
    job = repeats.get().last_job
    assert job is not None
    kinds.do_job(job.kind, str(job.id))
    follow_repeats(now=timezone.now())
    assert repeats.get().last_state == Job.State.DONE, repeats.get().last_result


@pytest.fixture
def scheduled(shared: SharedTable, folder: Path) -> SharedTable:
    """The table with a vacuum and a clean-up of each day; its log may be cleaned up."""
    allow_root(str(folder.parent), reason="LAKE", now=timezone.now())
    table = DeltaTable(str(folder))
    table.set_properties({"delta.logRetentionDuration": "interval 1 day"})
    table.create_checkpoint(4)
    for path in (folder / "_delta_log").iterdir():
        age(path, days=30)
    for operation in ("vacuum", "cleanup"):
        run_json("repeat", "crm.orders", operation, "--every", "day")
    return shared


@pytest.mark.usefixtures("scheduled")
def test_a_scheduled_vacuum_spares_what_is_held(folder: Path) -> None:
    table = DeltaTable(str(folder))
    before = table.snapshot(2).read()
    command_line.run_json("recipient", "hold", *PLACE, "--until", "90d")

    run_by_schedule("vacuum")

    assert table.snapshot(2).read() == before
    assert table.snapshot(3).read().num_rows == 3
    with pytest.raises(DeltawebError):
        table.snapshot(1).read()
    command_line.run_json("recipient", "hold", *PLACE, "--end")
    run_by_schedule("vacuum")
    with pytest.raises(DeltawebError):
        table.snapshot(2).read()


@pytest.mark.usefixtures("scheduled")
def test_a_scheduled_clean_up_spares_what_is_held(folder: Path) -> None:
    table, log = DeltaTable(str(folder)), folder / "_delta_log"
    before, rows = sorted(log.glob("*.json")), table.snapshot(2).read()
    command_line.run_json("recipient", "hold", *PLACE, "--until", "90d")

    run_by_schedule("cleanup")

    assert sorted(log.glob("*.json")) == before
    assert table.snapshot(2).read() == rows
    command_line.run_json("recipient", "hold", *PLACE, "--end")
    run_by_schedule("cleanup")
    assert not (log / f"{2:020d}.json").exists()
    assert (log / f"{4:020d}.json").exists()


@pytest.mark.usefixtures("shared")
def test_a_hold_ends_with_its_time_with_its_grant_and_at_once(admin, folder):
    said = command_line.run_json("recipient", "hold", *PLACE, "--version", "1")
    assert said["version"] == 1

    Hold.objects.update(ends_at=timezone.now())
    assert run_json("vacuum", folder, "--dry-run")["num_held"] == 0

    posted(admin, "/recipients/initech/end-hold", **TABLE)
    assert not Hold.objects.exists()
    actions = AuditEvent.objects.filter(action__startswith="hold.")
    assert list(actions.values_list("action", flat=True)) == ["hold.remove", "hold.add"]


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("until", ["soon", "9999d", "-1d"])
def test_a_hold_has_an_end(admin: Client, until: str) -> None:
    command_line.refusal("recipient", "hold", *PLACE, f"--until={until}")

    posted(admin, "/recipients/initech/hold", **TABLE, until=until)

    assert not Hold.objects.exists()


def test_who_may_not_read_or_has_not_read_holds_nothing(shared: SharedTable) -> None:
    new_recipient("hooli")
    hold = ("recipient", "hold", "hooli", *PLACE[1:])
    assert "has no grant for it" in command_line.refusal(*hold)

    new_grant(shared.share, Recipient.objects.get(name="hooli"))
    assert "give the version" in command_line.refusal(*hold)
