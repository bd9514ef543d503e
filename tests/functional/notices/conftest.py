"""People who follow tables, a receiver of webhooks, and a table that has versions."""

from collections.abc import Callable, Iterator

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import User
from apps.notices.events import EventSubject, emit
from apps.notices.following.distribution import distribute
from apps.notices.kinds.table_version import NEW_VERSION
from apps.tables.models import Table
from tests.functional.notices.receiver import Receiver
from tests.support.pages.factories import new_table, new_user
from tests.unit.apps.notices.events.test_emitting import version


@pytest.fixture
def tom(settings: Settings) -> User:
    """A person who can get mail."""
    settings.EMAIL_HOST = "localhost"
    return new_user(
        "tom", email="tom@northwind.example", email_confirmed_at=timezone.now()
    )


@pytest.fixture
def orders() -> Table:
    return new_table("sales.orders")


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_HOSTS = ["127.0.0.1"]
    with Receiver.running() as one:
        yield one


Commit = Callable[..., None]


@pytest.fixture
def commit(orders: Table) -> Commit:
    """Let the table have a new version, and tell everybody."""

    def committed(number: int, table: Table | None = None, **fields: bool) -> None:
        one = table or orders
        with transaction.atomic():
            emit(
                NEW_VERSION,
                EventSubject("table", str(one.id), one.full_name),
                version(number, **fields),
                now=timezone.now(),
                table_id=one.id,
            )
        distribute(now=timezone.now())

    return committed
