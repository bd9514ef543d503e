"""Processes that tell people of events and send them, for a test that kills them.

A nursery begins them (`work`), and one process answers for the rest (`answer`):

["follow", URL, NAMES]      register tables; somebody follows them by a webhook
["commit", NAME, VERSION]   let a table have a version
["told"]                    the number of notifications under the bell
"""

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

TELL: Final = "tell"
SEND: Final = "send"
PAUSE_S: Final = 0.02
LEASE: Final = timedelta(seconds=2)  # of a killed process; long enough for a request


def work(kind: str) -> None:
    """Tell people and queue deliveries, or send these, for ever."""
    from django.utils import timezone

    from apps.notices.events.publisher import publish_events
    from apps.notices.following.distribution import distribute
    from apps.notices.sending import webhooks

    webhooks.LEASE = LEASE  # type: ignore[misc]  # killed processes leave theirs
    while True:
        if kind == TELL:
            publish_events()
            distribute(now=timezone.now())
        else:
            for one in webhooks.take_queues(now=timezone.now(), most=1):
                webhooks.send_from(one)
        time.sleep(PAUSE_S)


def answer(verb: str, *words: str) -> object:
    """Do what is asked."""
    from django.db import connection

    verbs: dict[str, Callable[..., object]] = {
        "follow": _follow,
        "commit": _commit,
        "told": _told,
    }
    found = verbs[verb](*words)
    connection.close()
    return found


def _follow(url: str, *names: str) -> None:
    from django.utils import timezone

    from apps.accounts.models import User
    from apps.notices.models import Follow, Webhook
    from apps.notices.sending.signing import new_salt
    from apps.tables.models import Table

    now = timezone.now()
    tom = User.objects.create(username="tom", role=User.Role.VIEWER)
    hook = Webhook.objects.create(
        user=tom, url=url, host="127.0.0.1", salt=new_salt(), created_at=now
    )
    for name in names:
        table = Table.objects.create(
            name=name, location=f"/{name}", created_at=now, probe_due_at=now
        )
        follow = Follow.objects.create(
            user=tom,
            subject_kind="table",
            subject_id=str(table.id),
            subject_name=name,
            kinds=["table.version"],
            created_at=now,
        )
        follow.webhooks.add(hook)


def _commit(name: str, number: int) -> None:
    from django.db import transaction
    from django.utils import timezone

    from apps.notices.events import EventSubject, emit
    from apps.notices.kinds.table_version import NEW_VERSION
    from apps.tables.models import Table
    from tests.unit.apps.notices.events.test_emitting import version

    table = Table.objects.get(name=name)
    subject = EventSubject("table", str(table.id), name)
    with transaction.atomic():
        emit(
            NEW_VERSION,
            subject,
            version(number),
            now=timezone.now(),
            table_id=table.id,
        )


def _told() -> int:
    from apps.notices.models import Notice

    return Notice.objects.count()
