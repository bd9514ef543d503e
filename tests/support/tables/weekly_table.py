"""A table with one commit a week: some of its history has expired."""

import os
import shutil
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

from django.test import Client
from django.utils import timezone

from apps.tables.models import Table
from tests.benchmarks.logs import write_json_log
from tests.support.pages.factories import new_metadata, new_protocol, new_table

COMMITS, NEWEST = 9, 8
NUM_FILES, NUM_TOMBSTONES = 28, 8


def write_weekly_log(folder: Path) -> Path:
    """Write a log whose newest commit was made today; return its table's folder."""
    write_json_log(folder, commits=COMMITS, adds=4, removes=1)
    for path in (folder / "_delta_log").iterdir():
        age = timedelta(weeks=NEWEST - int(path.stem))
        moment = (timezone.now() - age).timestamp()
        os.utime(path, (moment, moment))
    return folder


def copy_log(log: Path, folder: Path) -> Path:
    """Copy a table, the times of its files with it."""
    shutil.copytree(log, folder)
    return folder


def new_weekly_table(folder: Path) -> Table:
    """Register the table as its index would have it in the database."""
    table = new_table(
        "orders",
        location=str(folder),
        version=NEWEST,
        latest_version_seen=NEWEST,
        num_files=NUM_FILES,
        num_tombstones=NUM_TOMBSTONES,
        summary={"readable_runs": [[0, NEWEST, "READABLE", ""]]},
    )
    new_protocol(table)
    new_metadata(table)
    return table


def log_names(folder: Path) -> list[str]:
    """The files of a table's log."""
    return sorted(path.name for path in (folder / "_delta_log").iterdir())


def page_text(client: Client, path: str, **headers: str) -> str:
    """A page on one line."""
    response = client.get(path, headers=headers)
    assert response.status_code == 200, response.content[:500]
    page = unescape(response.content.decode())
    assert " style=" not in page
    return " ".join(page.split())


def page_json(client: Client, path: str) -> dict[str, Any]:
    """The machine form of a page."""
    response = client.get(f"{path}.json")
    assert response.status_code == 200, response.content[:500]
    return dict(response.json())
