"""The first page."""

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.explorer.selectors import dashboard as dashboards
from apps.explorer.selectors.history import commit_data
from apps.jobs.models import Job
from apps.pages.responses import respond


@require_safe
def dashboard(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show what happened last; an empty install is shown how to begin."""
    page = dashboards.dashboard(request.user, timezone.now())
    return respond(
        request,
        fmt,
        template="explorer/dashboard.html",
        context={"page": page},
        data={
            "tables": page.num_tables,
            "tables_not_indexed": page.num_unindexed,
            "tables_failing": page.num_failing,
            "size_bytes": page.size_bytes,
            "num_files": page.num_files,
            "jobs_running": page.num_running,
            "jobs_failed_7d": page.num_failed,
            **{number.key: number.value for number in page.numbers},
            "latest_commits": [
                {
                    "namespace": latest.commit.table.namespace,
                    "table": latest.commit.table.name,
                    **commit_data(latest.commit),
                    "num_commits_24h": latest.num_commits,
                }
                for latest in page.latest
            ],
            "running": [_job_data(job) for job in page.running],
            "failed": [
                _job_data(failures.newest.job)
                | {
                    "subject": failures.label,
                    "count": failures.count,
                    "error": failures.newest.short_error,
                }
                for failures in page.failures
            ],
        },
    )


def _job_data(job: Job) -> dict[str, object]:
    return {
        "id": job.id,
        "kind": job.kind,
        "title": job.title,
        "state": job.state,
        "step": job.step,
        "progress_done": job.progress_done,
        "progress_total": job.progress_total,
        "created_at": job.created_at,
        "error": job.error,
        "error_code": job.error_code,
    }
