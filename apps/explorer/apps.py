"""The Django app `explorer`."""

from django.apps import AppConfig


class ExplorerConfig(AppConfig):
    """Read-only pages over one table."""

    name = "apps.explorer"
