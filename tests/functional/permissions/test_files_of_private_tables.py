"""Who writes to storage shows no private table through one that others may view."""

from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.jobs.results import job_rows
from apps.tables.models import Table
from apps.tables.work.changes import READ_CHANGES, ReadChanges
from deltaweb.table import DeltaTable
from tests.functional.permissions.outer_tables import (
    LOG_WAYS,
    SECRET,
    WAYS,
    Way,
    actions,
    client_of,
    commit,
    registered,
    work,
)
from tests.support import cases
from tests.support.pages.factories import (
    new_grant_of_right,
    new_unindexed_table,
    new_user,
)

# Threads of an index read, too, and would not see what a test has not committed.
pytestmark = pytest.mark.django_db(transaction=True)
MINE: Final = "/t/x/mine"


def asked(client: Client) -> str:
    """Everything that pages and jobs say of the outer table, asked twice."""
    said = []
    for _ in range(2):
        for path in (
            "data",
            "data.json",
            "data/0.json",
            "data.csv",
            "files.json",
            "schema/salary.json",
        ):
            answer = client.get(f"{MINE}/{path}")
            said.append(f"{path} {answer.status_code} {_text(answer)}")
        said += work()
    client.post(f"{MINE}/profile", {"column": "salary"})
    said += work()
    return "\n".join(said)


def _text(answer: Any) -> str:  # noqa: ANN401 (of a client)
    if getattr(answer, "streaming", False):
        return b"".join(answer.streaming_content).decode("utf-8", "replace")
    return str(answer.content.decode("utf-8", "replace"))


@cases("way", WAYS)
def test_its_rows_are_not_read_through_an_open_table(
    lake: Path, staff: Table, way: Way
) -> None:
    registered(way(lake))

    said = asked(client_of(new_user("eve", role=User.Role.EDITOR)))

    assert str(SECRET) not in said
    assert staff.full_name not in said


@cases("way", WAYS)
def test_its_rows_are_read_while_it_is_open(lake: Path, staff: Table, way: Way) -> None:
    Table.objects.filter(id=staff.id).update(is_private=False)
    registered(way(lake))

    assert str(SECRET) in asked(client_of(new_user("eve", role=User.Role.EDITOR)))


@cases("is_private", {"private": True, "open": False})
@cases("way", LOG_WAYS)
def test_its_statistics_are_read_while_it_is_open_only(
    lake: Path, staff: Table, way: Way, *, is_private: bool
) -> None:
    Table.objects.filter(id=staff.id).update(is_private=is_private)
    registered(way(lake))

    said = asked(client_of(new_user("eve", role=User.Role.EDITOR)))

    assert (str(SECRET) in said) != is_private


@cases("is_private", {"private": True, "open": False})
def test_its_deletion_vectors_are_read_while_it_is_open_only(
    lake: Path, *, is_private: bool
) -> None:
    first, deleted, kept, last = range(SECRET, SECRET + 4)
    ours, theirs = (
        DeltaTable.create(
            str(lake / name),
            pa.schema({"salary": pa.int64()}),
            properties={"delta.enableDeletionVectors": "true"},
        )
        for name in ("mine", "staff")
    )
    for one in (ours, theirs):
        one.append(pa.table({"salary": [first, deleted, kept, last]}))
    theirs.delete(f"salary = {deleted}")
    new_unindexed_table("hr.staff", location=theirs.root, is_private=is_private)
    (add,) = (one["add"] for one in actions(theirs, 2) if "add" in one)
    (own,) = (one["add"] for one in actions(ours, 1) if "add" in one)
    (vector,) = (lake / "staff").glob("*.bin")
    told = {"storageType": "p", "pathOrInlineDv": str(vector)}
    commit(
        ours,
        {"remove": {"path": own["path"], "deletionTimestamp": 1, "dataChange": True}},
        {"add": own | {"deletionVector": add["deletionVector"] | told}},
    )
    registered(lake / "mine")

    said = asked(client_of(new_user("eve", role=User.Role.EDITOR)))

    assert (str(kept) in said) != is_private
    assert ("'num_rows': 3," in said) != is_private


@cases("is_private", {"private": True, "open": False})
def test_its_changes_are_read_while_it_is_open_only(
    lake: Path, *, is_private: bool
) -> None:
    ours, theirs = (
        DeltaTable.create(
            str(lake / name),
            pa.schema({"salary": pa.int64()}),
            properties={"delta.enableChangeDataFeed": "true"},
        )
        for name in ("mine", "staff")
    )
    theirs.append(pa.table({"salary": [1, SECRET]}))
    theirs.delete(f"salary = {SECRET}")
    new_unindexed_table("hr.staff", location=theirs.root, is_private=is_private)
    (change,) = (one["cdc"] for one in actions(theirs, 2) if "cdc" in one)
    place = lake / "staff" / change["path"]
    commit(ours, {"cdc": change | {"path": str(place)}})
    table = registered(lake / "mine")

    asked_for = ReadChanges(from_=1, to=1)
    job = READ_CHANGES.request(table, asked_for, now=timezone.now())
    done = "\n".join(work())
    job.refresh_from_db()
    found = job_rows(READ_CHANGES, job) if job.state == Job.State.DONE else None

    assert (found is not None and str(SECRET) in str(found.rows)) != is_private, done
    assert ("data-file-missing" in done) == is_private


def test_its_rows_are_read_through_a_table_of_the_same_people(
    lake: Path, staff: Table
) -> None:
    mine = registered(WAYS["a path"](lake), is_private=True)
    vera = new_user("vera")
    new_grant_of_right("view", mine, vera)
    assert not is_shown_to(vera)

    new_grant_of_right("view", staff, vera)
    assert is_shown_to(vera)

    new_grant_of_right("view", mine, new_user("nina"))
    assert not is_shown_to(vera)


def is_shown_to(user: User) -> bool:
    """Whether the page of rows has the secret, read now."""
    Job.objects.all().delete()
    client = client_of(user)
    client.get(f"{MINE}/data")
    work()
    return str(SECRET) in _text(client.get(f"{MINE}/data"))
