"""A viewer and an editor."""

import pytest
from django.test import Client

from deltaweb.web.accounts.models import User
from tests.support.pages.factories import new_user


@pytest.fixture
def viewer() -> Client:
    client = Client()
    client.force_login(new_user("vera"))
    return client


@pytest.fixture
def editor() -> Client:
    client = Client()
    client.force_login(new_user("ed", role=User.Role.EDITOR))
    return client
