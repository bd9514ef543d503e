"""A private table, and other tables whose logs or folders lead to its files."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.models import Job
from apps.tables.index.refresh import refresh_table
from apps.tables.models import Table
from deltaweb.table import DeltaTable
from tests.support.pages.factories import new_unindexed_table

SECRET: Final = 7_007_007
Way = Callable[[Path], Path]


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


def _with_log(lake: Path, linked: str, left_out: Sequence[str]) -> Path:
    """A table with the log of the private one, some of whose files are links."""
    made = DeltaTable(str(lake / "staff"))
    made.set_properties({"delta.checkpointPolicy": "v2"}, upgrade=True)
    made.create_checkpoint(parts=2)
    there, log = lake / "staff" / "_delta_log", lake / "mine" / "_delta_log"
    shutil.copytree(there, log)
    for one in [*log.glob(linked), *(at for name in left_out for at in log.glob(name))]:
        if one.is_dir():
            shutil.rmtree(one)
        else:
            one.unlink()
    for one in there.glob(linked):
        (log / one.relative_to(there)).symlink_to(one)
    return lake / "mine"


_COMMITS: Final = (f"{0:020}.json", f"{1:020}.json")
_CHECKPOINTS: Final = ("*.checkpoint.*", "_last_checkpoint", "_sidecars")
LOG_WAYS: Final[dict[str, Way]] = {
    "a commit": lambda lake: _with_log(lake, _COMMITS[1], _CHECKPOINTS),
    "a checkpoint": lambda lake: _with_log(lake, "*.checkpoint.*", _COMMITS),
    "a sidecar": lambda lake: _with_log(lake, "_sidecars/*", _COMMITS),
    "the sidecars": lambda lake: _with_log(lake, "_sidecars", _COMMITS),
}
"""Links in a log to that of the private table, which tells the values of its column."""


def registered(folder: Path, **fields: Any) -> Table:  # noqa: ANN401 (columns)
    """The outer table, which a worker has tried to index."""
    table = new_unindexed_table("x.mine", location=str(folder), **fields)
    refresh_table(table, now=timezone.now())
    work()
    table.refresh_from_db()
    return table


def work() -> list[str]:
    """Do every job that waits; return what came of each."""
    found = []
    while (job := Job.objects.filter(state=Job.State.QUEUED).first()) is not None:
        kinds.do_job(job.kind, str(job.id))
        job.refresh_from_db()
        found.append(f"{job.kind} {job.state} {job.error_code} {job.result}")
    return found


def actions(table: DeltaTable, version: int) -> list[dict[str, Any]]:
    """The actions of a version."""
    log = Path(table.root, "_delta_log", f"{version:020}.json")
    return [json.loads(line) for line in log.read_text().splitlines()]


def commit(table: DeltaTable, *found: dict[str, Any]) -> None:
    """Make the next version as another writer does."""
    info = {"timestamp": 1_900_000_000_000, "operation": "X", "operationParameters": {}}
    log = Path(table.root, "_delta_log", f"{table.latest_version() + 1:020}.json")
    log.write_text("\n".join(json.dumps(one) for one in ({"commitInfo": info}, *found)))


def client_of(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client
