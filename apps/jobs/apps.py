"""The Django app `jobs`."""

from django.apps import AppConfig

from apps.pages import navigation


class JobsConfig(AppConfig):
    """Runs of background work."""

    name = "apps.jobs"

    def ready(self) -> None:
        """Take a place in the rail, and find brokers and workers."""
        from apps.jobs import (  # noqa: PLC0415 (models must be loaded)
            file_broker,
            heartbeat,
        )

        file_broker.register()
        heartbeat.connect()

        navigation.register(
            navigation.NavEntry(
                label="Jobs",
                icon="list-check",
                url_name="jobs:job-list",
                order=500,
                prefixes=("/jobs/",),
            )
        )
