"""The rights of a user on a table: by role, by grant, and at which time."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from apps.accounts.models import Group, User
from apps.pages.errors import PageError
from apps.tables.models import Grant, Namespace, Table
from apps.tables.models.rights import EVERY_RIGHT, NO_RIGHT
from apps.tables.permissions import (
    EDIT,
    MANAGE,
    OWN,
    SHARE,
    VIEW,
    RightRequiredError,
    may,
    require,
    rights,
    why,
)
from apps.tables.permissions.people import viewers_of_tables
from tests.support.pages.factories import NOW, new_grant_of_right, new_table, new_user

pytestmark = pytest.mark.django_db
PRIVATE: dict[str, Any] = {"is_private": True}
ALL = [VIEW, EDIT, SHARE, MANAGE, OWN]


def _rights(user: User, table: Table) -> list[str]:
    """The rights of a user, as all ways to ask for them agree on."""
    of_row = rights(user, [table])[table.id]
    for right in ALL:
        found = Table.objects.with_right(user, right).filter(id=table.id)
        assert found.exists() == may(user, right, table) == (right in of_row), right
    viewers = viewers_of_tables([user], [str(table.id)])
    assert (user.pk in viewers[str(table.id)]) == (VIEW in of_row)
    reasons = why(user, table)
    assert frozenset().union(*(one.rights for one in reasons)) == of_row
    return [right for right in ALL if right in of_row]


@pytest.mark.parametrize(
    ("role", "of_open", "of_private"),
    [
        ("VIEWER", [VIEW], []),
        ("EDITOR", [VIEW, EDIT, MANAGE], []),
        ("ADMIN", ALL, ALL),
    ],
)
def test_a_role_counts_for_open_tables(role, of_open, of_private) -> None:
    user = new_user(role=role)
    Namespace.objects.create(name="hr", is_private=True, created_at=NOW)

    assert _rights(user, new_table("sales.orders")) == of_open
    assert _rights(user, new_table("sales.secret", is_private=True)) == of_private
    assert _rights(user, new_table("hr.people")) == of_private


@pytest.mark.parametrize(
    ("right", "gives"),
    [(VIEW, [VIEW]), (EDIT, [VIEW, EDIT]), (SHARE, [VIEW, SHARE]), (OWN, ALL)],
)
@pytest.mark.parametrize("on", ["table", "namespace"])
@pytest.mark.parametrize("to", ["user", "group"])
def test_a_grant_counts_for_a_private_table(right, gives, on, to) -> None:
    vera, other = new_user(), new_user("other", role="EDITOR")
    table, beside = new_table("hr.pay", **PRIVATE), new_table("x.pay", **PRIVATE)
    group = Group.objects.create(name="payroll", created_at=NOW)
    group.memberships.create(user=vera, since=NOW)
    subject = table if on == "table" else "hr"

    new_grant_of_right(right, subject, vera if to == "user" else group)

    assert _rights(vera, table) == gives
    assert _rights(vera, beside) == _rights(other, table) == []


def test_a_grant_adds_to_the_role_on_an_open_table() -> None:
    vera, table = new_user(), new_table()
    new_grant_of_right(EDIT, table, vera)

    assert _rights(vera, table) == [VIEW, EDIT]
    assert [one.role for one in why(vera, table)] == ["VIEWER", ""]


@pytest.mark.parametrize(
    "fields",
    [
        {"until": NOW},
        {"ended_at": NOW, "ended_by": "ada"},
        {"until": timezone.now() - timedelta(seconds=1)},
    ],
)
def test_a_grant_counts_for_nothing_after_its_end(fields) -> None:
    vera, table = new_user(), new_table(**PRIVATE)
    new_grant_of_right(OWN, table, vera, **fields)

    assert _rights(vera, table) == []
    assert Grant.objects.exists()


def test_the_end_is_the_first_moment_without_the_right() -> None:
    vera, table = new_user(), new_table(**PRIVATE)
    end = NOW + timedelta(days=1)
    new_grant_of_right(VIEW, table, vera, until=end)
    before = end - timedelta(microseconds=1)

    assert may(vera, VIEW, table, before)
    assert not may(vera, VIEW, table, end)
    assert Table.objects.visible_to(vera, now=before).exists()
    assert not Table.objects.visible_to(vera, now=end).exists()


def test_who_left_the_group_has_its_rights_no_longer() -> None:
    vera, table = new_user(), new_table(**PRIVATE)
    group = Group.objects.create(name="payroll", created_at=NOW)
    member = group.memberships.create(user=vera, since=NOW)
    new_grant_of_right(VIEW, table, group)
    assert _rights(vera, table) == [VIEW]

    member.delete()

    assert _rights(vera, table) == []


def test_a_grant_follows_its_table_to_another_name() -> None:
    vera, table = new_user(), new_table("hr.pay", **PRIVATE)
    new_grant_of_right(VIEW, table, vera)
    new_grant_of_right(EDIT, "hr", vera)

    Table.objects.update(namespace="sales", name="wages")

    table.refresh_from_db()
    assert _rights(vera, table) == [VIEW]


@pytest.mark.parametrize("role", list(User.Role))
def test_a_disabled_account_has_no_right(role: User.Role) -> None:
    user, table = new_user(role=role, is_active=False), new_table()
    new_grant_of_right(OWN, table, user)

    assert _rights(user, table) == []


def test_strangers_have_no_right() -> None:
    table = new_table()

    assert rights(AnonymousUser(), [table]) == {table.id: NO_RIGHT}
    assert not Table.objects.visible_to(AnonymousUser()).exists()


def test_a_table_without_the_right_to_view_is_one_that_does_not_exist() -> None:
    vera, secret = new_user(), new_table("hr.pay", **PRIVATE)

    with pytest.raises(PageError) as hidden:
        require(vera, VIEW, secret)
    with pytest.raises(RightRequiredError) as seen:
        require(vera, EDIT, new_table("orders"))

    assert (hidden.value.status, hidden.value.code) == (404, "table-not-found")
    assert seen.value.status == 403
    assert seen.value.message == "You may not change orders."
    require(new_user("ada", role="ADMIN"), OWN, secret)


def test_many_tables_take_two_queries(django_assert_num_queries) -> None:
    vera = new_user()
    tables = [new_table(f"n{n % 5}.t{n}", is_private=n % 2 == 0) for n in range(20)]
    new_grant_of_right(OWN, "n0", vera)

    with django_assert_num_queries(2):
        found = rights(vera, tables)

    assert len(found) == 20
    assert found[tables[0].id] == EVERY_RIGHT
    assert found[tables[2].id] == NO_RIGHT
