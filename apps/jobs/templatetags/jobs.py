"""The chip of running jobs, and a job ready to render, for any template."""

from typing import Any

from django import template
from django.utils import timezone

from apps.jobs.listing import selectors
from apps.jobs.listing.revisions import (
    end_revision,
    job_revision,
    jobs_revision,
)
from apps.jobs.models import Job
from apps.jobs.running.news import JOB, JOB_END, JOBS
from apps.jobs.running.process import short_name
from deltaweb.words import duration_text

register = template.Library()
register.filter(short_name)

RING_LENGTH = 33  # around the chip's circle of radius 5.2


@register.inclusion_tag("jobs/_running.html", takes_context=True)
def running_jobs(context: template.Context) -> dict[str, Any]:
    """Draw the chip that says how many jobs are active; nothing when none is."""
    request = context["request"]
    count, furthest = selectors.active_summary(request.user)
    percent = furthest.percent if furthest else None
    return {
        "count": count,
        "news": jobs_news(context) if count else "",
        "percent": percent,
        "ring": f"{RING_LENGTH * (percent or 0) / 100:.1f} {RING_LENGTH}",
    }


@register.simple_tag
def job_view(job: Job) -> selectors.JobView:
    """Return a job with its place in the queue and how often to ask again."""
    return selectors.job_view(job, now=timezone.now())


@register.simple_tag
def job_news(job: Job, *, end: bool = False) -> str:
    """Name what a part hears of a job: all of it, or its end alone (`news.js`)."""
    topic = f"{JOB_END}:{job.id}@{end_revision(job)}"
    return topic if end else f"{JOB}:{job.id}@{job_revision(job)} {topic}"


@register.simple_tag(takes_context=True)
def jobs_news(context: template.Context) -> str:
    """Name what a part hears of all the jobs that its reader may see."""
    return f"{JOBS}@{jobs_revision(context['request'].user)}"


@register.filter
def duration(seconds: float | None) -> str:
    """Render a length of time: 40 ms, 3.2 s, 4 min 10 s, 2 h 5 min."""
    if seconds is None:
        return ""
    return duration_text(seconds)
