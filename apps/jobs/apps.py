"""The Django app `jobs`."""

from django.apps import AppConfig

from deltaweb.web.news.topics import topics
from deltaweb.web.pages.frame import navigation


class JobsConfig(AppConfig):
    """Runs of background work."""

    name = "deltaweb.web.jobs"

    def ready(self) -> None:
        """Take a place in the rail; say what pages hear of jobs."""
        from deltaweb.web.jobs.listing.revisions import TOPICS  # noqa: PLC0415 (models load before ready)

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
