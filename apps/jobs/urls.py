"""The URLs of jobs."""

from apps.jobs import views
from apps.jobs.listing.job_list import JOBS
from apps.pages.urls import action, answer, page

app_name = "jobs"
urlpatterns = [
    *page("jobs/", views.job_list, "job-list", csv=True, takes=[JOBS.form]),
    answer("jobs/chip", views.job_chip, "job-chip"),
    *page("jobs/<uuid:job_id>/", views.job_detail, "job-detail"),
    answer("jobs/<uuid:job_id>/progress", views.job_progress, "job-progress"),
    action("jobs/<uuid:job_id>/cancel", views.job_cancel, "job-cancel"),
    action("jobs/<uuid:job_id>/retry", views.job_retry, "job-retry"),
    *page("status", views.status, "status"),
]
