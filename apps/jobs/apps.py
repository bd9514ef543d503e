"""The Django app `jobs`."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Runs of background work."""

    name = "apps.jobs"

    def ready(self) -> None:
        """Listen for the signals of workers."""
        from apps.jobs import heartbeat  # noqa: F401, PLC0415 (models must be loaded)
