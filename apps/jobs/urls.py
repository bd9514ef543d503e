"""The URLs of jobs."""

from django.urls import path

from deltaweb.web.jobs import views
from deltaweb.web.jobs.listing.job_list import JOBS
from deltaweb.web.pages.urls import page

app_name = "jobs"
urlpatterns = [
    *page("jobs/", views.job_list, "job-list", csv=True, takes=[JOBS.form]),
    path("jobs/chip", views.job_chip, name="job-chip"),
    *page("jobs/<uuid:job_id>/", views.job_detail, "job-detail"),
    path("jobs/<uuid:job_id>/progress", views.job_progress, name="job-progress"),
    path("jobs/<uuid:job_id>/cancel", views.job_cancel, name="job-cancel"),
    path("jobs/<uuid:job_id>/retry", views.job_retry, name="job-retry"),
    *page("status", views.status, "status"),
]
