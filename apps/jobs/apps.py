"""The Django app `jobs`."""

from django.apps import AppConfig

from apps.news.topics import topics
from apps.pages.frame import navigation


class JobsConfig(AppConfig):
    """Runs of background work."""

    name = "apps.jobs"

    def ready(self) -> None:
        """Take a place in the rail; say what pages hear of jobs."""
        from apps.jobs.listing.revisions import TOPICS  # noqa: PLC0415 (models load before ready)

        topics.register(*TOPICS)
        navigation.entries.register(
            navigation.NavEntry(
                label="Jobs",
                icon="list-check",
                url_name="jobs:job-list",
                order=500,
                prefixes=("/jobs/",),
            )
        )
