"""A table is registered by who requested the check of its location."""

from pathlib import Path

import pytest

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.pages.actions import Actor, Stamp
from apps.pages.errors import PageError
from apps.tables.catalogue.checks import CHECK_LOCATION, request_check
from apps.tables.catalogue.registering import (
    REGISTER,
    NewTable,
    Registration,
    by_caller,
    by_check,
)
from apps.tables.models import Table
from tests.support.pages.factories import NOW, new_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return new_user("ada", role=User.Role.ADMIN)


def checked(user: User, location: Path) -> Job:
    """A check of a location that has ended."""
    job = request_check(location=str(location), now=NOW, requested_by=user)
    CHECK_LOCATION.work(job.id)
    job.refresh_from_db()
    return job


def register(user: User, check: object, location: Path) -> Registration:
    stamp = Stamp(Actor(name=user.username, user_id=user.pk), NOW)
    new = NewTable(name="sales.orders", location=str(location), restricted=True)
    return REGISTER.carry_out(by_check(user, str(check)), new, stamp)


def test_the_location_is_that_of_the_check(ada: User, lake: Path) -> None:
    done = register(ada, checked(ada, lake / "orders").id, Path("/ignored"))

    table = Table.objects.get()
    assert done.table is not None
    assert (done.table.name, done.job) == ("sales.orders", None)
    assert table.location == str(lake / "orders")
    assert (table.is_private, table.created_by) == (True, ada)


@pytest.mark.parametrize("check", ["", "no id", "None"])
def test_without_a_check_one_is_requested(ada: User, lake: Path, check: str) -> None:
    done = register(ada, check, lake / "orders")

    job = Job.objects.get(kind=CHECK_LOCATION.name)
    assert done.table is None
    assert done.job is not None
    assert done.job.id == job.id
    assert not Table.objects.exists()


def test_the_check_of_another_user_is_none(ada: User, lake: Path) -> None:
    theirs = checked(new_user("eve", role=User.Role.ADMIN), lake / "orders")

    assert by_check(ada, str(theirs.id)) == by_caller(ada)


def test_a_check_that_failed_is_its_error(ada: User, tmp_path: Path) -> None:
    with pytest.raises(PageError) as caught:
        register(ada, checked(ada, tmp_path).id, tmp_path)

    assert caught.value.code == "not-a-delta-table"
    assert not Table.objects.exists()
