"""One commit."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from apps.explorer.forms import parse_page
from apps.explorer.selectors import commit as commits
from apps.explorer.selectors.history import commit_data
from apps.explorer.selectors.version import table_version
from apps.pages.errors import PageError
from apps.pages.links import changed
from apps.pages.responses import respond, to_json


@require_safe
def commit_detail(
    request: HttpRequest, namespace: str, name: str, version: int, fmt: str
) -> HttpResponseBase:
    """Show one commit: its sentence, metrics, files, changes and raw actions."""
    page = commits.commit_detail(request.user, namespace, name, version)
    actions = page.actions
    changes = page.changes_page(parse_page(request.GET))
    previous, following = changes.previous_page, changes.next_page
    next_url = changed(request, page=following) if following else ""
    return respond(
        request,
        fmt,
        template="explorer/commit_detail.html",
        context={
            "page": page,
            "leaf": f"v{version}",
            "at": page.at,
            "head": page.at.head,
            "table": page.at.table,
            "commit": page.commit,
            "changes": changes,
            "previous_url": changed(request, page=previous) if previous else "",
            "next_url": next_url,
            "added": actions.added[: commits.MAX_FILES_SHOWN],
            "removed": actions.removed[: commits.MAX_FILES_SHOWN],
            "partitions": actions.partitions[: commits.MAX_PARTITIONS_SHOWN],
        },
        data={
            **page.at.describe(),
            **commit_data(page.commit),
            "parameters": page.commit.parameters,
            "metrics": page.commit.metrics,
            "num_changes": changes.num_changes,
            "changes": [change.describe() for change in changes.changes],
            "next": request.build_absolute_uri(next_url) if next_url else None,
            "added": [change.describe() for change in actions.added],
            "removed": [change.describe() for change in actions.removed],
            "actions_unavailable": actions.problem or None,
        },
    )


@require_safe
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
    actions = commits.commit_actions(at.table, commit)
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
