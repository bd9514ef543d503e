"""The wiring of the Django project."""

from django.apps import AppConfig
from django.core import checks

from deltaweb.environment.checks import SETTINGS, check_home


class DeltawebConfig(AppConfig):
    """What the project checks as it starts."""

    name = "deltaweb"
    verbose_name = "deltaweb"

    def ready(self) -> None:
        """Check the home folder with the other settings."""
        checks.register(check_home, SETTINGS)
