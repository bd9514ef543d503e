"""An administrator, and a recipient to look after."""

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.sharing.models import Recipient
from tests.factories import new_recipient, new_user


@pytest.fixture
def admin() -> Client:
    client = Client()
    client.force_login(new_user("ada", role=User.Role.ADMIN))
    return client


@pytest.fixture
def acme() -> Recipient:
    return new_recipient()
