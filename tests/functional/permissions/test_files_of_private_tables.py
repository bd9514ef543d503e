"""Who writes to storage shows no private table through one that others may view."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.models import Job
from apps.tables.index.refresh import refresh_table
from apps.tables.models import Table
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.pages.factories import (
    new_grant_of_right,
    new_unindexed_table,
    new_user,
)

# Threads of an index read, too, and would not see what a test has not committed.
pytestmark = pytest.mark.django_db(transaction=True)
MINE: Final = "/t/x/mine"
SECRET: Final = 7_007_007
Way = Callable[[Path], Path]


@pytest.fixture
def lake(tmp_path: Path, settings: Settings) -> Path:
    settings.ALLOWED_ROOTS = [str(tmp_path)]
    settings.HOME = tmp_path / "home"
    return tmp_path / "lake"


@pytest.fixture
def staff(lake: Path) -> Table:
    """A private table of one file."""
    made = DeltaTable.create(str(lake / "staff"), pa.schema({"salary": pa.int64()}))
    made.append(pa.table({"salary": [SECRET]}))
    return new_unindexed_table(
        "hr.staff", location=str(lake / "staff"), is_private=True
    )


def file_of(folder: Path) -> Path:
    return next(folder.glob("*.parquet"))


def outer(lake: Path, path: str, **fields: Any) -> Path:  # noqa: ANN401 (of an action)
    """A table whose log names one file, of the private table."""
    DeltaTable.create(str(lake / "mine"), pa.schema({"salary": pa.int64()}))
    file = file_of(lake / "staff")
    add = {
        "path": path,
        "partitionValues": {},
        "size": file.stat().st_size,
        "modificationTime": 1,
        "dataChange": True,
    }
    log = lake / "mine" / "_delta_log" / f"{1:020}.json"
    log.write_text(json.dumps({"add": add | fields}))
    return lake / "mine"


def linked_file(lake: Path) -> Path:
    folder = outer(lake, "link.parquet")
    (folder / "link.parquet").symlink_to(file_of(lake / "staff"))
    return folder


def linked_folder(lake: Path) -> Path:
    folder = outer(lake, f"part/{file_of(lake / 'staff').name}")
    (folder / "part").symlink_to(lake / "staff")
    return folder


def swapped(lake: Path) -> Path:
    (lake / "mine").symlink_to(lake / "staff")
    return lake / "mine"


def borrowed(lake: Path) -> Path:
    (lake / "mine").mkdir()
    (lake / "mine" / "_delta_log").symlink_to(lake / "staff" / "_delta_log")
    (lake / "mine" / file_of(lake / "staff").name).symlink_to(file_of(lake / "staff"))
    return lake / "mine"


WAYS: Final[dict[str, Way]] = {
    "a path": lambda lake: outer(lake, str(file_of(lake / "staff"))),
    "a URL": lambda lake: outer(lake, f"file://{file_of(lake / 'staff')}"),
    "a path of dots": lambda lake: outer(
        lake, f"{lake}/x/../staff/{file_of(lake / 'staff').name}"
    ),
    "an escape": lambda lake: outer(
        lake, str(file_of(lake / "staff")).replace("staff", "st%61ff")
    ),
    "out of the table": lambda lake: outer(
        lake, f"../staff/{file_of(lake / 'staff').name}"
    ),
    "a link to the file": linked_file,
    "a link to the folder": linked_folder,
    "a folder that is a link": swapped,
    "a log that is a link": borrowed,
}


def registered(folder: Path, **fields: Any) -> Table:  # noqa: ANN401 (columns)
    """The outer table, which a worker has tried to index."""
    table = new_unindexed_table("x.mine", location=str(folder), **fields)
    refresh_table(table, now=timezone.now())
    work()
    table.refresh_from_db()
    return table


def client_of(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def work() -> list[str]:
    """Do every job that waits; return what came of each."""
    found = []
    while (job := Job.objects.filter(state=Job.State.QUEUED).first()) is not None:
        kinds.do_job(job.kind, str(job.id))
        job.refresh_from_db()
        found.append(f"{job.kind} {job.state} {job.error_code} {job.result}")
    return found


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
