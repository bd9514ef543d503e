"""Each door of each change refuses who has not its role."""

import re
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.pages.changes.change import Change, changes

pytestmark = [pytest.mark.django_db]
AnyChange = Change[Any, Any, Any]
REFUSED = 403
ROLES = list(User.Role.values)
BELOW = {role: ROLES[: ROLES.index(role)] for role in ROLES}


def address(route: str) -> str:
    """Return an address of a route, whose things do not exist."""
    ids = re.sub(r"<uuid:\w+>", str(UUID(int=0)), route)
    return re.sub(r"<str:\w+>", "x", re.sub(r"<int:\w+>", "1", ids))


def doors() -> list[tuple[str, str, str]]:
    """Return the method, the address and the role of each door."""
    found = []
    for one in changes:
        if one.call is not None:
            path = f"/api/v1/{address(one.call.route)}"
            found.append((one.call.method, path, one.of.role))
        found += [
            ("POST", f"/{address(page.route)}", one.of.role)
            for page in one.pages.values()
        ]
    return found


def test_roles_are_in_their_order() -> None:
    assert ROLES == [User.Role.VIEWER, User.Role.EDITOR, User.Role.ADMIN]


@pytest.mark.parametrize("role", ROLES[:-1])
def test_a_lower_role_is_refused_at_every_door(client: Client, role: str) -> None:
    client.force_login(User.objects.create_user("eve", role=role))

    found = {
        (method, path): client.generic(
            method, path, "{}", content_type="application/json"
        ).status_code
        for method, path, needed in doors()
        if role in BELOW[needed]
    }

    assert len(found) >= 10
    assert {door: one for door, one in found.items() if one != REFUSED} == {}
