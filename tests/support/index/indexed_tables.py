"""Tables that are indexed as a worker indexes them, without a worker."""

import atexit
import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from uuid import uuid4

from django.utils import timezone

from apps.tables.index.folders import new_index_folder, present_index
from apps.tables.index.results import store_result
from apps.tables.models import Table
from deltaweb.index.folder.result import IndexResult
from tests.support.index.index_builds import build_index
from tests.support.pages.factories import new_unindexed_table


def new_indexed_table(name: str, location: Path) -> Table:
    """Register the table at a location and index its newest version."""
    table = new_unindexed_table(name, location=str(location))
    index_table(table)
    return table


def new_sample_table(name: str, location: Path) -> Table:
    """Register a table that no test changes, with an index that is built once."""
    table = new_unindexed_table(name, location=str(location))
    folder = new_index_folder(table.id, now=timezone.now(), mark=uuid4().hex)
    built = _index_of(location)
    shutil.copytree(built.folder, folder)
    store_result(table, replace(built, folder=str(folder)), now=timezone.now())
    table.refresh_from_db()
    return table


@cache
def _index_of(location: Path) -> IndexResult:
    home = Path(tempfile.mkdtemp(prefix="deltaweb-index-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return build_index(str(location), None, home / "index")


def index_table(table: Table, **facts: object) -> IndexResult:
    """Index what the log of a table holds now, from the index that it has.

    Args:
        table: The table; it is read again afterwards.
        **facts: What the result is to say instead of what it says.
    """
    table.refresh_from_db()
    folder = new_index_folder(table.id, now=timezone.now(), mark=uuid4().hex)
    found = build_index(table.location, None, folder, base=present_index(table))
    result = replace(found, **facts)  # type: ignore[arg-type]
    store_result(table, result, now=timezone.now())
    table.refresh_from_db()
    return result
