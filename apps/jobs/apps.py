"""The Django app `jobs`."""

from django.apps import AppConfig

from apps.pages.frame import navigation


class JobsConfig(AppConfig):
    """Runs of background work."""

    name = "apps.jobs"

    def ready(self) -> None:
        """Take a place in the rail."""
        navigation.entries.register(
            navigation.NavEntry(
                label="Jobs",
                icon="list-check",
                url_name="jobs:job-list",
                order=500,
                prefixes=("/jobs/",),
            )
        )
