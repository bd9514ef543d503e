"""How soon people know of new versions: `python -m tests.benchmarks notices`.

A thousand tables get a version each. Five hundred people follow all of them and find
what they may see under the bell, and read the same by their cursors. Half of the tables
are private, with a grant for one of ten groups.
"""

import os
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from tests.benchmarks.measured import seconds_of
from tests.support.processes.installation import migrate

NUM_TABLES = 1_000
NUM_PEOPLE = 500
NUM_GROUPS = 10
NUM_SEEN = NUM_TABLES // 2 + NUM_TABLES // 2 // NUM_GROUPS
"""The tables that each person sees: the open ones, and those granted to one group."""
GOAL_S = 30.0


def main() -> None:
    """Measure both and print them beside the goal."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as folder:
        home = Path(folder)
        migrate(home)
        os.environ |= {
            "DELTAWEB_HOME": str(home),
            "DJANGO_SETTINGS_MODULE": "deltaweb.settings",
            "DELTAWEB_LOG_LEVEL": "ERROR",
        }
        import django

        django.setup()
        _fill()
        written_s = seconds_of(_write)
        told_s = seconds_of(_tell)
        read_s = seconds_of(_read)
    total_s = written_s + told_s + read_s
    verdict = "ok  " if total_s <= GOAL_S else "MISS"
    print(f"     {NUM_TABLES} events written and published: {written_s:.2f} s")
    print(f"     under the bell of {NUM_PEOPLE} people: {told_s:.2f} s")
    print(f"     read by {NUM_PEOPLE} people: {read_s:.2f} s")
    print(f"{verdict} until everybody has them: {total_s:.2f} s  goal {GOAL_S} s")
    if total_s > GOAL_S:
        sys.exit(1)


def _fill() -> None:
    """Make tables, people and groups, and grants to these."""
    from django.utils import timezone

    from apps.accounts.models import Group, Membership, User
    from apps.notices.models import Follow
    from apps.tables.models import Grant, Table

    now = timezone.now()
    people = User.objects.bulk_create(
        User(username=f"person{number}", role=User.Role.VIEWER)
        for number in range(NUM_PEOPLE)
    )
    groups = [
        Group.objects.create(name=f"group{number}", created_at=now)
        for number in range(NUM_GROUPS)
    ]
    Membership.objects.bulk_create(
        Membership(group=groups[number % NUM_GROUPS], user=person, since=now)
        for number, person in enumerate(people)
    )
    tables = Table.objects.bulk_create(
        Table(
            name=f"table{number}",
            location=f"/lake/table{number}",
            is_private=bool(number % 2),
            created_at=now,
            probe_due_at=now + timedelta(days=1),
        )
        for number in range(NUM_TABLES)
    )
    Grant.objects.bulk_create(
        Grant(
            group=groups[number // 2 % NUM_GROUPS],
            table=table,
            right="view",
            given_at=now,
        )
        for number, table in enumerate(tables)
        if table.is_private
    )
    Follow.objects.bulk_create(
        Follow(
            user=person,
            subject_kind="namespace",
            subject_id="default",
            subject_name="default.*",
            kinds=["table.version"],
            created_at=now,
        )
        for person in people
    )


def _write() -> None:
    from django.db import transaction
    from django.utils import timezone

    from apps.notices.events import EventSubject, emit
    from apps.notices.kinds.table_version import NEW_VERSION, NewVersion
    from apps.tables.models import Table

    now = timezone.now()
    for table in Table.objects.all():
        version = NewVersion(
            table=table.full_name,
            version=1,
            operation="WRITE",
            committed_at=now.isoformat(),
            rows_added=10,
            rows_removed=0,
            files_added=1,
            files_removed=0,
            schema_changed=False,
            breaking=False,
        )
        subject = EventSubject("table", str(table.id), table.full_name)
        with transaction.atomic():
            emit(NEW_VERSION, subject, version, now=now, table_id=table.id)


def _tell() -> None:
    from django.utils import timezone

    from apps.notices.following.distribution import distribute
    from apps.notices.models import Notice

    distribute(now=timezone.now())
    num_told = Notice.objects.count()
    assert num_told == NUM_PEOPLE * NUM_SEEN, num_told


def _read() -> None:
    from apps.accounts.models import User
    from apps.notices.events.feed import TOGETHER, feed_lines
    from apps.notices.events.reading import (
        MAX_LIMIT,
        EventReader,
        EventSlice,
        read_together,
    )

    readers = [EventReader(user=one, limit=MAX_LIMIT) for one in User.objects.all()]
    for first in range(0, len(readers), TOGETHER):  # as the feeds of a process do
        known: dict[str, str] = {}
        together = readers[first : first + TOGETHER]
        for found in read_together([(one, "") for one in together]):
            assert isinstance(found, EventSlice)
            assert len(found.seen) == NUM_SEEN, len(found.seen)
            feed_lines(found, known)


if __name__ == "__main__":
    main()
