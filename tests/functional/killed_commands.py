"""Commands that one process runs, and others that are killed within theirs.

A nursery begins those that are killed (`work`):

    os.rename 2 FOLDER share prepare parts   runs the command up to the second event of
                                             that name below the folder

and one process does what else is asked (`answer`):

    share-parts NAME LOCATION   shares the parts of a table by that name
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
        return share_parts(*words[1:])
    told = io.StringIO()
    call_command(*words, "--json", stdout=told)
    return json.loads(told.getvalue())


def share_parts(name: str, place: str) -> None:
    """Register a table, and share of it what is of a recipient's region."""
    from apps.pages.actions import command_stamp
    from apps.sharing.models import SharedTable
    from apps.sharing.shares.services import create_share
    from apps.sharing.shares.terms import add_table
    from apps.tables.catalogue.registration import register_table

    facts: dict[str, Any] = {"stamp": command_stamp()}
    table = register_table(name=f"hr.{name}", location=place, **facts)
    share = create_share(name=name, **facts)
    add_table(share, table=table, schema="hr", name="staff", **facts)
    SharedTable.objects.filter(share=share).update(
        condition="region = recipient.region"
    )
