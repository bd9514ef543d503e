"""A command that updates changes what its options name, and nothing else."""

import shlex
from pathlib import Path
from typing import Final

import pytest
from django.db import transaction

from tests.functional.command_line import run_json
from tests.support.pages.kept_rows import changed_since, kept_rows
from tests.support.pages.shared_world import World, shared_world

pytestmark = pytest.mark.django_db
CONDITION: Final = {"recipientrule.condition"}
COLUMNS: Final = {"recipientrule.columns"}
SOFT: Final = {"recipient.soft_limit_bytes"}
HARD: Final = {"recipient.hard_limit_bytes"}
SCANNED: Final = {"lake.scanned_at", "lake.num_folders", "lake.num_tables"}
UPDATES: Final = {
    "share narrow retail crm.orders --recipient acme": {
        "": set(),
        "--where 'id > 6'": CONDITION,
        "--where ''": CONDITION,
        "--no-where": CONDITION,
        "--no-condition": CONDITION,
        "--columns ''": COLUMNS,
        "--no-columns": COLUMNS,
        "--no-where --no-columns": {"-recipientrule"},
    },
    "recipient limit acme": {
        "": set(),
        "--soft 1.5MiB": SOFT,
        "--soft ''": SOFT,
        "--no-soft": SOFT,
        "--hard 3MiB": HARD,
        "--no-hard": HARD,
    },
    "recipient hold acme retail crm.orders": {
        "": set(),
        "--until 30d": {"hold.ends_at"},
        "--version 2": {"hold.version"},
    },
    "table schedule sales.orders": {"": set(), "6h": {"table.refresh_interval_s"}},
    "table scan {world.lake.url}": {
        "": SCANNED,
        "--namespace other": {"lake.namespace", *SCANNED},
        "--namespace ''": {"lake.namespace", *SCANNED},
        "--repeat 6h": {"lake.scan_interval_s", *SCANNED},
    },
}


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:  # noqa: ARG001 (rows)
    return shared_world(tmp_path)


@pytest.mark.parametrize("line", UPDATES)
def test_an_option_that_is_given_alone_changes_nothing_else(line, world) -> None:
    command = line.format(world=world)

    found = {option: changes(f"{command} {option}") for option in UPDATES[line]}

    assert found == UPDATES[line]


def changes(line: str) -> set[str]:
    """The columns that differ after a command."""
    with transaction.atomic():
        before = kept_rows()
        run_json(*shlex.split(line))
        changed = changed_since(before)
        transaction.set_rollback(True)
    return changed


def test_a_new_hold_is_of_thirty_days_unless_it_says_otherwise(world: World) -> None:
    world.part.holds.all().delete()

    held = run_json("recipient", "hold", "acme", "retail", "crm.orders")

    hold = world.part.holds.get()
    assert held["version"] == hold.version == 2
    assert (hold.ends_at - hold.made_at).days == 30
