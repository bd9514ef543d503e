"""One commit."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from apps.explorer.commit import selector as commits
from apps.explorer.commit.actions import commit_actions
from apps.explorer.version.query import parse_page
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import table_version
from apps.pages.errors import PageError
from apps.pages.lists.paging import page_links
from apps.pages.responses import respond_page, to_json


def commit_detail(
    request: HttpRequest, namespace: str, name: str, version: int, fmt: str
) -> HttpResponseBase:
    """Show one commit: its sentence, metrics, files, changes and raw actions."""
    number = parse_page(request.GET)
    page = commits.commit_page(request.user, namespace, name, version, number)
    page = replace(page, links=page_links(request, page.paged))
    return respond_page(
        request, fmt, page, template="explorer/commit/commit_detail.html"
    )


def commit_raw(
    request: HttpRequest, namespace: str, name: str, version: int
) -> HttpResponse:
    """Send the actions of a commit as the log holds them, one a line."""
    at = table_version(request.user, namespace, name, str(version))
    commit = commits.find_commit(at, version)
    if commit.is_archived:
        raise PageError(
            status=410,
            code="commit-archived",
            message=f"The log no longer holds version {version}: it was cleaned.",
            hint="The page of the commit shows what was indexed of it before.",
        )
    actions = commit_actions(at.table, commit)
    if actions.problem:
        raise PageError(
            status=422 if actions.is_broken else 503,
            code="log-corrupt" if actions.is_broken else "storage-unavailable",
            message=actions.problem,
            hint=actions.hint,
        )
    lines = "".join(f"{to_json(action)}\n" for action in actions.raw)
    response = HttpResponse(lines, content_type="application/x-ndjson")
    response["Content-Disposition"] = f'attachment; filename="{version:020d}.json"'
    return response


table_read(
    "/versions/<int:version>",
    "TableVersion",
    "commit-detail",
    commits.CommitPage,
    "Get the commit of a version.",
)
