"""The Django app `jobs`."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Runs of background work."""

    name = "apps.jobs"
