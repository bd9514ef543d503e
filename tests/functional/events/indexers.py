"""Processes that index tables and publish events, for a test that kills them.

A nursery begins them (`work`), and one process answers for the rest (`answer`):

["add", NAME, LOCATION]  register a table, and index it
["read", CURSOR]         what a reader gets after a cursor: events, and its next cursor
["latest"]               the indexed version of each table, by its name
"""

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from apps.tables.models import Table

INDEX = "index"
PUBLISH = "publish"
PAUSE_S = 0.02


def work(kind: str) -> None:
    """Index all tables, or publish events, for ever."""
    from apps.notices.events.publisher import publish_events

    while True:
        if kind == INDEX:
            index_all()
        else:
            publish_events()
        time.sleep(PAUSE_S)


def index_all() -> None:
    """Index what the logs of all tables hold."""
    from apps.tables.models import Table

    for table in Table.objects.order_by("?"):
        _index(table)


def _index(table: "Table") -> None:
    from contextlib import suppress
    from uuid import uuid4

    from django.utils import timezone

    from apps.tables.index.folders import new_index_folder, present_index
    from apps.tables.index.results import store_result
    from deltaweb.index.folder.parts import IndexMissingError
    from tests.support.index.index_builds import build_index

    folder = new_index_folder(table.id, now=timezone.now(), mark=uuid4().hex)
    # Another process may remove the index that this one begins with.
    with suppress(IndexMissingError, FileNotFoundError):
        found = build_index(table.location, None, folder, base=present_index(table))
        store_result(table, found, now=timezone.now())


def answer(verb: str, *words: str) -> object:
    """Do what is asked."""
    from django.db import connection

    verbs: dict[str, Callable[..., object]] = {
        "add": _add,
        "read": _read,
        "latest": _latest,
    }
    found = verbs[verb](*words)
    connection.close()
    return found


def _add(name: str, location: str) -> str:
    from django.utils import timezone

    from apps.tables.models import Table

    now = timezone.now()
    table = Table.objects.create(
        name=name, location=location, created_at=now, probe_due_at=now
    )
    _index(table)
    return table.full_name


def _latest() -> dict[str, int | None]:
    from apps.tables.models import Table

    return dict(Table.objects.values_list("name", "version"))


def _read(cursor: str) -> dict[str, Any]:
    from apps.accounts.models import User
    from apps.notices.events.reading import EventFilter, EventReader
    from apps.pages.page_json import json_of

    user, _ = User.objects.get_or_create(username="reader", role=User.Role.VIEWER)
    versions = EventFilter(kinds=["table.version"])
    found = EventReader(user=user, wanted=versions, limit=7).read(cursor)
    return {"events": json_of([one.event for one in found.seen]), "next": found.next}
