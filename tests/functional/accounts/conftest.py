"""A user who has a password, and nobody who has failed to sign in."""

from pathlib import Path

import pytest
from pytest_django import Settings

from apps.accounts import services
from apps.accounts.models import User
from apps.pages.actions import command_stamp
from tests.functional.accounts.people import PASSWORD


@pytest.fixture(autouse=True)
def _no_failures(settings: Settings, tmp_path: Path) -> None:
    """No failure has been counted yet."""
    settings.HOME = tmp_path


@pytest.fixture
def vera() -> User:
    return services.create_user(
        name="vera", role="viewer", password=PASSWORD, stamp=command_stamp()
    )
