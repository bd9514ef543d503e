"""An administrator, and a recipient to look after."""

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.sharing.models import Recipient
from tests.support.pages.factories import new_recipient, signed_in


@pytest.fixture(autouse=True)
def _today(standing_clock: None) -> None:
    """Pages of use tell days: none ends while a test looks."""


@pytest.fixture
def admin() -> Client:
    return signed_in("ada", role=User.Role.ADMIN)


@pytest.fixture
def acme() -> Recipient:
    return new_recipient()
