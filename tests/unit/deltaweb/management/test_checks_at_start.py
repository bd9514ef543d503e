"""Each process checks its settings as it starts; the pages, who shows them."""

import pytest
from django.core.checks import ERROR
from django.core.management import load_command_class
from django.core.management.base import SystemCheckError
from pytest_django.fixtures import Settings

COMMANDS = ["serve", "web", "worker", "beat", "migrate"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_root_that_allows_nothing_is_refused(settings: Settings, name: str) -> None:
    settings.ALLOWED_ROOTS = ["ftp://host"]
    command = load_command_class("deltaweb", name)

    with pytest.raises(SystemCheckError, match="DELTAWEB_ALLOWED_ROOTS"):
        command.check(tags=command.requires_system_checks, fail_level=ERROR)
