"""What jobs add to the pages of all apps: a place in the rail, and their news."""

from apps.jobs.listing.revisions import TOPICS
from apps.news.topics import topics
from apps.operate import loading
from apps.pages import frame

topics.register(*TOPICS)
loading.modules.register("apps.jobs.listing.metrics", "apps.jobs.listing.setup_checks")
frame.entries.register(
    frame.NavEntry(
        label="Jobs",
        icon="list-check",
        url_name="jobs:job-list",
        order=500,
        prefixes=("/jobs/",),
    )
)
frame.explain("jobs", {"how-to/follow-a-job/": "job-list job-detail status"})
