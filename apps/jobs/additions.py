"""What jobs add to the pages of all apps: a place in the rail, and their news."""

from apps.jobs.listing.metrics import job_gauges, spark_state
from apps.jobs.listing.revisions import TOPICS
from apps.news.topics import topics
from apps.operate.doctor.checks import setup_modules
from apps.operate.metrics.gauges import gauges
from apps.operate.probes.parts import ServerPart, parts
from apps.pages import frame

topics.register(*TOPICS)
gauges.register(job_gauges)
setup_modules.register("apps.jobs.listing.setup_checks")
parts.register(ServerPart(name="spark", state=spark_state))
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
