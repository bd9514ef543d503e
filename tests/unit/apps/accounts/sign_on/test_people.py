"""Accounts that a sign-on makes and keeps true."""

import pytest
from django.utils import timezone

from apps.accounts.models import Group, User
from apps.accounts.sign_on.admission import Person, Rules
from apps.accounts.sign_on.people import sign_on
from apps.pages.actions import command_stamp
from tests.support.pages.factories import new_user

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def signed_on(**fields: object) -> User:
    person = Person(
        **{  # type: ignore[arg-type]
            "issuer": "https://id.example",
            "subject": "ann",
            "groups": ["data"],
            **fields,
        }
    )
    return sign_on(person, Rules(groups=["data"]), command_stamp()).user


@pytest.mark.parametrize("email", [" ann@example.com", "ANN@example.com\t"])
def test_spaces_do_not_give_the_address_of_another_account(email: str) -> None:
    new_user("other", email="ann@example.com")
    assert not signed_on(email=email, is_email_verified=True).email


@pytest.mark.parametrize("name", ["İT", "ıt", "IT"])
def test_a_group_whose_name_the_database_has_already_is_not_joined(name: str) -> None:
    for taken in ("it", "i\N{COMBINING DOT ABOVE}t"):
        Group.objects.create(name=taken, created_at=timezone.now())
    user = signed_on(groups=["data", name])
    joined = set(user.memberships.values_list("group__name", flat=True))
    assert joined <= {"data", name}
    assert "data" in joined
