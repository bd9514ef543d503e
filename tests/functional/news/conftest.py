"""An editor, and somebody who sees less."""

import pytest
from django.test import Client

from deltaweb.web.accounts.models import User
from tests.support.pages.factories import new_user


@pytest.fixture
def editor(client: Client) -> Client:
    client.force_login(new_user("eve", role=User.Role.EDITOR))
    return client


@pytest.fixture
def viewer() -> Client:
    client = Client()
    client.force_login(new_user("vera"))
    return client
