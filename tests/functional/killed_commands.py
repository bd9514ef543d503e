"""Commands that one process runs, and others that are killed within theirs.

A nursery begins those that are killed (`work`):

    os.rename 2 FOLDER share prepare parts   runs the command up to the second event of
                                             that name below the folder

and one process does what else is asked (`answer`):

    share-parts NAME LOCATION   shares the parts of a table by that name
    share-plain NAME LOCATION   shares a table as plain files
    read-ids NAME               the version and the ids that its recipient reads
    recipient see acme          a command: the document that it writes for scripts
"""

import io
import json
import os
import signal
import sys
from typing import Any

from django.core.management import call_command

SHARE_PARTS = "share-parts"
SHARE_PLAIN = "share-plain"
READ_IDS = "read-ids"


def work(event: str, nth: str, folder: str, *command: str) -> None:
    """Run a command, and be killed before an event of Python's."""
    seen: list[object] = []

    def count(name: str, arguments: tuple[object, ...]) -> None:
        if name == event and folder in str(arguments[0]):
            seen.append(arguments)
            if len(seen) == int(nth):
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    call_command(*command)


def answer(*words: str) -> Any:  # noqa: ANN401 (any document)
    """Do what is asked."""
    if words[0] == SHARE_PARTS:
        return share_parts(*words[1:], condition="region = recipient.region")
    if words[0] == SHARE_PLAIN:
        return share_parts(*words[1:], plain=True)
    if words[0] == READ_IDS:
        return read_ids(*words[1:])
    told = io.StringIO()
    call_command(*words, "--json", stdout=told)
    return json.loads(told.getvalue())


def read_ids(name: str) -> tuple[int, list[int]]:
    """Read what the recipient of a share is offered of its table."""
    from django.utils import timezone

    from apps.sharing.access.grants.rules import rule_for
    from apps.sharing.answers.opening import open_shared
    from apps.sharing.answers.rows import offered_rows
    from apps.sharing.answers.versions import open_shared_version
    from apps.sharing.models import Recipient, SharedTable
    from deltaweb.sharing.table_query import TableQuery

    shared = SharedTable.objects.select_related("share", "table").get(share__name=name)
    rule, table = (
        rule_for(shared, Recipient.objects.get(name=name)),
        open_shared(shared),
    )
    now = timezone.now()
    opened = open_shared_version(shared, table, TableQuery(), rule, now=now)
    rows = offered_rows(shared, opened, columns=["id"])
    ids = sorted(one for batch in rows for one in batch["id"].to_pylist())
    return opened.version, ids


def share_parts(name: str, place: str, **terms: object) -> None:
    """Register a table, and share it on some terms."""
    from apps.pages.actions import command_stamp
    from apps.sharing.models import SharedTable
    from apps.sharing.shares.services import create_share
    from apps.sharing.shares.terms import add_table
    from apps.tables.catalogue.registration import register_table

    facts: dict[str, Any] = {"stamp": command_stamp()}
    table = register_table(name=f"hr.{name}", location=place, **facts)
    share = create_share(name=name, **facts)
    add_table(share, table=table, schema="hr", name="staff", **facts)
    SharedTable.objects.filter(share=share).update(**terms)
