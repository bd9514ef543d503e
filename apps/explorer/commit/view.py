"""One commit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from deltaweb.web.explorer.commit import selector as commits
from deltaweb.web.explorer.history.selector import commit_data
from deltaweb.web.explorer.version.page import TablePage
from deltaweb.web.explorer.version.query import parse_page
from deltaweb.web.explorer.version.table_version import table_version
from deltaweb.web.pages.errors import PageError
from deltaweb.web.pages.page_json import OnPage, Spread
from deltaweb.web.pages.paging import PageLinks, page_links
from deltaweb.web.pages.responses import respond_page, to_json
from deltaweb.web.tables.models import Commit


def _commit_facts(commit: Commit) -> dict[str, object]:
    facts = {"parameters": commit.parameters, "metrics": commit.metrics}
    return commit_data(commit) | facts


@dataclass(frozen=True, kw_only=True)
class CommitPage(TablePage):
    """One commit: its sentence, metrics, files, changes and raw actions."""

    page: OnPage[commits.CommitDetail]
    commit: OnPage[Commit]
    facts: Spread[Mapping[str, object]]
    num_changes: int
    changes: Spread[commits.ChangesPage]
    links: Spread[PageLinks]
    added: Sequence[commits.FileChange]
    removed: Sequence[commits.FileChange]
    actions_unavailable: str | None
    leaf: OnPage[str]

    @property
    def shown_added(self) -> Sequence[commits.FileChange]:
        """The first of the files that were added."""
        return self.added[: commits.MAX_FILES_SHOWN]

    @property
    def shown_removed(self) -> Sequence[commits.FileChange]:
        """The first of the files that were removed."""
        return self.removed[: commits.MAX_FILES_SHOWN]

    @property
    def partitions(self) -> Sequence[tuple[str, int, int]]:
        """The first of the partitions that files came to or went from."""
        return self.page.actions.partitions[: commits.MAX_PARTITIONS_SHOWN]


@require_safe
def commit_detail(
    request: HttpRequest, namespace: str, name: str, version: int, fmt: str
) -> HttpResponseBase:
    """Show one commit: its sentence, metrics, files, changes and raw actions."""
    found = commits.commit_detail(request.user, namespace, name, version)
    changes = found.changes_page(parse_page(request.GET))
    page = CommitPage(
        at=found.at,
        page=found,
        commit=found.commit,
        facts=_commit_facts(found.commit),
        num_changes=changes.paged.count,
        changes=changes,
        links=page_links(request, changes.paged),
        added=found.actions.added,
        removed=found.actions.removed,
        actions_unavailable=found.actions.problem or None,
        leaf=f"v{version}",
    )
    return respond_page(
        request, fmt, page, template="explorer/commit/commit_detail.html"
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
