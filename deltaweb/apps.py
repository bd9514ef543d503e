"""The wiring of the Django project."""

from importlib import import_module
from typing import Final

from django.apps import AppConfig
from django.core import checks

from deltaweb.environment.checks import SETTINGS, check_home, check_variables

ADDING: Final = (
    *("operate", "accounts", "audit", "jobs", "notices"),
    *("tables", "explorer", "sharing"),
)
"""The apps that add something to those below them, by a module `additions`."""


class DeltawebConfig(AppConfig):
    """What the project checks as it starts, and what its apps add to one another."""

    name = "deltaweb"
    verbose_name = "deltaweb"

    def ready(self) -> None:
        """Check the home folder with the other settings; let apps add what they do."""
        checks.register(check_home, SETTINGS)
        checks.register(check_variables, SETTINGS)
        for app in ADDING:
            import_module(f"apps.{app}.additions")
