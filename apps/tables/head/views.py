"""What the head of every table page asks for: refresh, news, the timeline's tip."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django_htmx.http import trigger_client_event

from apps.accounts.permissions import signed_in
from apps.pages.responses import json_response
from apps.tables.head.finding import get_table, requested_version
from apps.tables.head.table_head import table_head
from apps.tables.index.refresh import refresh_table
from apps.tables.versions.missing_files import missing_files_of
from apps.tables.work.check_files import request_file_check


def table_refresh(request: HttpRequest, namespace: str, name: str) -> HttpResponseBase:
    """Queue an index of the table and go back to the page that asked."""
    user = signed_in(request)
    table = get_table(user, namespace, name)
    refresh_table(table, now=timezone.now(), requested_by=user)
    return redirect(table)


def table_check_files(
    request: HttpRequest, namespace: str, name: str
) -> HttpResponseBase:
    """Queue a check of the table's data files and show how far it is."""
    user = signed_in(request)
    table = get_table(user, namespace, name)
    job = request_file_check(table, now=timezone.now(), requested_by=user)
    return redirect("jobs:job-detail", job.id)


def table_state(request: HttpRequest, namespace: str, name: str) -> HttpResponseBase:
    """Say whether the index has moved on.

    A page that saw an index job, and tells `since` when it was indexed, then fetches
    itself. One that somebody reads tells the version `shown`, and offers the new one.
    """
    table = get_table(signed_in(request), namespace, name)
    if "shown" in request.GET:
        context = {"table": table, "shown": request.GET["shown"]}
        return render(request, "tables/head/_table_news.html", context)
    head = table_head(table)
    now_at = str(int(table.indexed_at.timestamp())) if table.indexed_at else ""
    moved_on = now_at != request.GET.get("since", "") or head.index_job is None
    if moved_on:
        response = HttpResponse(status=204)
        trigger_client_event(response, "page-moved-on", {})
        return response
    return render(
        request, "tables/head/_index_watch.html", {"table": table, "head": head}
    )


def version_tip(
    request: HttpRequest, namespace: str, name: str, version: str
) -> HttpResponseBase:
    """Say who made a version and when: the tip of the version timeline."""
    table = get_table(signed_in(request), namespace, name)
    number = requested_version(table, version)
    commit = None if number is None else table.commits.filter(version=number).first()
    found = {} if number is None else missing_files_of(table, [number])
    missing = found.get(number or 0)
    return json_response(
        {
            "version": number,
            "operation": commit.operation if commit else None,
            "user": commit.user_name if commit else None,
            "committed_at": commit.committed_at if commit else None,
            "files": None if missing is None else missing.describe(),
        }
    )
