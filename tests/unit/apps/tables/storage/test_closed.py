"""The private tables that a table must not show: those that more people would see."""

from pathlib import Path

import pytest

from apps.accounts.models import Group, Membership, User
from apps.tables.models import Namespace, Table
from apps.tables.storage.closed import check_not_moved, locations_closed_to
from deltaweb.delta.errors import LocationNotFoundError
from tests.support.pages.factories import (
    NOW,
    new_grant_of_right,
    new_table,
    new_user,
)

pytestmark = pytest.mark.django_db
STAFF = "/lake/hr/staff"


@pytest.fixture
def staff() -> Table:
    new_table("x.open")
    return new_table("hr.staff", location=STAFF, is_private=True)


@pytest.fixture
def clone() -> Table:
    """A private table elsewhere."""
    return new_table("x.clone", is_private=True)


@pytest.fixture
def vera() -> User:
    return new_user("vera")


@pytest.fixture
def analysts(vera: User) -> Group:
    group = Group.objects.create(name="analysts", created_at=NOW)
    Membership.objects.create(group=group, user=vera, since=NOW)
    return group


def test_an_open_table_shows_no_private_one(staff: Table, clone: Table) -> None:
    (table,) = Table.objects.filter(name="open")

    assert sorted(locations_closed_to(table)) == [staff.location, clone.location]


def test_the_tables_of_a_private_namespace_are_private(staff: Table) -> None:
    Table.objects.filter(id=staff.id).update(is_private=False)
    assert not locations_closed_to(Table.objects.get(name="open"))

    Namespace.objects.create(name="hr", is_private=True, created_at=NOW)
    assert locations_closed_to(Table.objects.get(name="open")) == [STAFF]


@pytest.mark.usefixtures("staff")
def test_a_table_that_administrators_alone_may_view_shows_all(clone: Table) -> None:
    assert not locations_closed_to(clone)


@pytest.mark.parametrize("right", ["view", "edit", "share", "own"])
def test_a_private_table_shows_those_of_the_same_person(
    staff: Table, clone: Table, vera: User, right: str
) -> None:
    new_grant_of_right("own", clone, vera)
    assert locations_closed_to(clone) == [STAFF]

    new_grant_of_right(right, staff, vera)
    assert not locations_closed_to(clone)

    new_grant_of_right("view", clone, new_user("nina"))
    assert locations_closed_to(clone) == [STAFF]


def test_a_right_on_a_namespace_counts_for_its_tables(
    staff: Table, clone: Table, vera: User
) -> None:
    new_grant_of_right("view", "x", vera)
    assert locations_closed_to(clone) == [STAFF]

    new_grant_of_right("view", "hr", vera)
    assert not locations_closed_to(clone)
    assert staff.namespace == "hr"


def test_a_right_of_a_group_counts_for_its_members(
    staff: Table, clone: Table, vera: User, analysts: Group
) -> None:
    new_grant_of_right("view", clone, vera)
    new_grant_of_right("view", staff, analysts)
    assert not locations_closed_to(clone)

    Membership.objects.all().delete()
    assert locations_closed_to(clone) == [STAFF]


def test_a_right_of_a_person_does_not_count_for_a_group(
    staff: Table, clone: Table, vera: User, analysts: Group
) -> None:
    new_grant_of_right("view", clone, analysts)
    new_grant_of_right("view", staff, vera)
    assert locations_closed_to(clone) == [STAFF]

    new_grant_of_right("view", staff, analysts)
    assert not locations_closed_to(clone)


def test_rights_that_ended_do_not_count(staff: Table, clone: Table, vera: User) -> None:
    new_grant_of_right("view", clone, vera)
    new_grant_of_right("view", staff, vera, until=NOW)
    assert locations_closed_to(clone) == [STAFF]

    clone.grants.update(ended_at=NOW)
    assert not locations_closed_to(clone)


@pytest.mark.parametrize("location", [STAFF, f"{STAFF}/below", "/lake/hr"])
def test_a_table_that_was_registered_there_shows_it(
    staff: Table, location: str
) -> None:
    assert staff.is_private

    assert not locations_closed_to(new_table("x.same", location=location))
    assert locations_closed_to(new_table("x.other", location=f"{STAFF}2")) == [STAFF]


class TestAFolder:
    @pytest.fixture
    def real(self, tmp_path: Path, staff: Table) -> Path:
        folder = tmp_path / "staff"
        folder.mkdir()
        Table.objects.filter(id=staff.id).update(location=str(folder))
        return folder

    @pytest.mark.parametrize("below", ["", "/part"])
    def test_that_has_become_a_link_to_a_private_one_is_not_there(
        self, tmp_path: Path, real: Path, below: str
    ) -> None:
        (tmp_path / "mine").symlink_to(f"{real}{below}")
        table = new_table("x.mine", location=str(tmp_path / "mine"))

        with pytest.raises(LocationNotFoundError):
            check_not_moved(table)

        Table.objects.filter(location=str(real)).update(is_private=False)
        check_not_moved(table)

    def test_that_is_no_link_takes_no_query(
        self, tmp_path: Path, django_assert_num_queries
    ) -> None:
        table = new_table("x.mine", location=str(tmp_path))

        with django_assert_num_queries(0):
            check_not_moved(table)

    def test_that_is_the_private_one_itself_is_there(
        self, tmp_path: Path, staff: Table, real: Path
    ) -> None:
        (tmp_path / "link").symlink_to(real)
        staff.location = str(tmp_path / "link")
        staff.save()

        check_not_moved(staff)
