"""Two versions of a table, compared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from django.contrib import messages
from django.http import (
    FileResponse,
    HttpRequest,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from apps.accounts.permissions import signed_in
from apps.accounts.zones import user_zone
from apps.explorer.columns.key import KeySuggestion
from apps.explorer.compare import files as compare_files
from apps.explorer.compare import jobs as compare_jobs
from apps.explorer.compare import rows as compare_rows
from apps.explorer.compare.rows import named_rows, stored_rows
from apps.explorer.compare.schema import SchemaPart
from apps.explorer.compare.selector import Comparison, compare_versions
from apps.explorer.compare.summary import Card, summary_cards
from apps.explorer.files.form import parse_file_filter
from apps.explorer.version.page import JobOfPage, TablePage, still
from apps.explorer.version.query import parse_page
from apps.jobs.models import Job
from apps.jobs.results import JobRows
from apps.pages.errors import PageError
from apps.pages.lists.links import changed
from apps.pages.lists.paging import PageLinks, page_links
from apps.pages.page_json import (
    As,
    Named,
    OnPage,
    Spread,
    context_of,
    in_json,
    json_with,
)
from apps.pages.request.parameters import QueryError
from apps.pages.responses import respond
from apps.tables.head.job_json import check_job
from apps.tables.versions.timeline import TimelineSpan
from apps.tables.work.diff_files import FileDiff
from apps.tables.work.diff_rows import SAMPLE_ROWS
from deltaweb.delta.protocol.column_path import join_names

VIEWS = ("files", "schema", "properties", "protocol", "rows")
SUGGESTION = "suggestion"  # instead of a key: the one that is suggested


def compare_detail(  # noqa: PLR0913, PLR0917 (the parts of the address)
    request: HttpRequest,
    namespace: str,
    name: str,
    before: int,
    after: int,
    fmt: str,
) -> HttpResponseBase:
    """Compare two versions: files, schema, properties, protocol, or rows."""
    return comparison_page(request, namespace, name, (str(before), str(after)), fmt)


def compare_start(
    request: HttpRequest, namespace: str, name: str, before: int, after: int
) -> HttpResponseBase:
    """Start comparing the rows of two versions; a key that none has is said above.

    Who asks by suggestion, as the page of a commit does, gets the key of that.
    """
    found = compare_versions(request.user, namespace, name, str(before), str(after))
    try:
        job = start_comparison(request, found, _wanted_key(request, found))
    except QueryError as error:
        messages.error(request, f"Rows cannot be matched this way. {error.hint}")
        url = comparison_url(namespace, name, before, after)
        return HttpResponseRedirect(f"{url}?view=rows")
    return HttpResponseRedirect(_rows_url(found, job))


def compare_few(request: HttpRequest, found: Comparison) -> HttpResponseBase:
    """Start comparing rows by the suggested key if that reads little.

    Otherwise the page says first how much a comparison reads.
    """
    is_problem = found.is_same or found.unreadable_reason or found.partly_sides
    if not is_problem and compare_jobs.are_rows_few(found):
        suggestion = compare_jobs.suggest_key(found)
        key = suggestion.text if suggestion else ""
        return HttpResponseRedirect(
            _rows_url(found, start_comparison(request, found, key))
        )
    table, versions = found.table, found.versions
    url = comparison_url(table.namespace, table.name, *versions)
    return HttpResponseRedirect(f"{url}?view=rows")


def _rows_url(found: Comparison, job: Job) -> str:
    """Return the address of the rows that a job compares."""
    table, (before, after) = found.table, found.versions
    url = comparison_url(table.namespace, table.name, before, after)
    key = join_names(job.parameters["key"])
    return f"{url}?{urlencode({'view': 'rows'} | ({'key': key} if key else {}))}"


def start_comparison(request: HttpRequest, found: Comparison, key: str) -> Job:
    """Start comparing rows, matched by the columns that a text names."""
    _check_comparable(found, missing=_missing(found))
    columns, user = compare_jobs.parse_key(key, found), signed_in(request)
    now = timezone.now()
    return compare_jobs.start_row_diff(found, columns, requested_by=user, now=now)


def _wanted_key(request: HttpRequest, found: Comparison) -> str:
    if request.POST.get("by") != SUGGESTION:
        return request.POST.get("key", "")
    suggestion = compare_jobs.suggest_key(found)
    return suggestion.text if suggestion else ""


def _check_comparable(found: Comparison, *, missing: str = "") -> None:
    """Refuse what no job can compare."""
    problem = found.unreadable_reason or missing
    if problem or found.is_same:
        raise PageError(
            status=409,
            code="not-comparable",
            message=problem or "Both sides are the same version.",
            hint="Choose two versions that can be read.",
        )


def _missing(found: Comparison) -> str:
    """Say which files are known to be deleted that comparing rows would read."""
    known = compare_jobs.known_file_diff(found) if found.partly_sides else None
    return compare_rows.missing_files_reason(known.facts if known else None)


def compare_download(
    request: HttpRequest, namespace: str, name: str, before: int, after: int
) -> HttpResponseBase:
    """Send every changed row as Parquet."""
    found = compare_versions(request.user, namespace, name, str(before), str(after))
    key = compare_jobs.parse_key(request.GET.get("key", ""), found)
    job, _ = compare_jobs.row_diff_job(found, key)
    path, sent_as = _all_rows(job), f"{name}-{before}-{after}.parquet"
    return FileResponse(path.open("rb"), as_attachment=True, filename=sent_as)


@dataclass(frozen=True, kw_only=True)
class Part:
    """What a view of the page adds: the job that it waits for, and rows of its CSV."""

    job: JobOfPage = None
    is_waiting: OnPage[bool] = False
    lines: OnPage[Iterable[Sequence[object]] | None] = None


@dataclass(frozen=True, kw_only=True)
class FilesPart(Part):
    """Which files the versions do not share."""

    page: Spread[compare_files.ChangedFilePage]
    links: Spread[PageLinks]
    partitions: OnPage[Sequence[compare_files.PartitionChange]]

    @property
    def kinds(self) -> Mapping[str, str]:
        return compare_files.KINDS


@dataclass(frozen=True, kw_only=True)
class SchemaView(Part):
    """Which columns differ."""

    schema_page: Annotated[SchemaPart, Named("schema")]
    links: Spread[PageLinks]


@dataclass(frozen=True, kw_only=True)
class RowsPart(Part):
    """Which rows differ, or what comparing them takes."""

    missing: Annotated[str, Named("rows_problem"), As(lambda why: why or None)]
    suggestion: OnPage[KeySuggestion | None]
    key: OnPage[Sequence[str]]
    key_text: OnPage[str]
    row_job: OnPage[Job | None]
    file_job: OnPage[Job | None]
    estimate: OnPage[object]
    rows: Mapping[str, object] | None = None
    changes: OnPage[compare_rows.RowChangesPage | None] = None
    kind: OnPage[str] = ""
    has_download: OnPage[bool] = False
    links: OnPage[PageLinks] = field(default_factory=PageLinks)
    sample_rows: OnPage[int] = SAMPLE_ROWS

    @in_json
    def suggested_key(self) -> Sequence[str]:
        """Columns that rows may be matched by."""
        return self.suggestion.columns if self.suggestion else []

    @in_json
    def suggested_because(self) -> str | None:
        """Why by these."""
        return self.suggestion.reason if self.suggestion else None


@dataclass(frozen=True, kw_only=True)
class ComparisonPage(TablePage):
    """Two versions, compared."""

    found: Spread[Comparison]
    view: str
    file_facts: Annotated[FileDiff | None, Named("files")]
    part: Spread[Part]
    views: OnPage[Sequence[Mapping[str, object]]]
    cards: OnPage[Sequence[Card]]

    @property
    def span(self) -> TimelineSpan | None:
        """Both versions on the timeline."""
        return self.found.span


def comparison_page(
    request: HttpRequest,
    namespace: str,
    name: str,
    versions: tuple[str, str],
    fmt: str,
) -> HttpResponseBase:
    """Answer with what is known of two versions; "" for both is an unindexed table."""
    view = request.GET.get("view") or VIEWS[0]
    if view not in VIEWS:
        raise QueryError(part="view", expected=f"one of {', '.join(VIEWS)}")
    found = compare_versions(request.user, namespace, name, *versions)
    can_read = found.before and not found.is_same and not found.unreadable_reason
    part = Part()
    file_facts: FileDiff | None = None
    if can_read and view in {"files", "rows"}:
        job, result = compare_jobs.file_diff_job(
            found,
            requested_by=signed_in(request),
            now=timezone.now(),
            waits=fmt == "csv" and view == "files",
        )
        file_facts = result.facts if result else None
        make = _files_view if view == "files" else _rows_view
        part = make(request, found, job, result)
    elif can_read:
        known = compare_jobs.known_file_diff(found)
        file_facts = known.facts if known else None
        if view == "schema" and found.schema:
            part = _schema_view(request, found)
    if fmt != "html":
        check_job(part.job)
    lines = part.lines
    if fmt == "csv" and lines is None:
        lines = _change_rows(found, view, part.job)
    page = ComparisonPage(
        at=found.at,
        found=found,
        view=view,
        file_facts=file_facts,
        part=part,
        views=_tabs(request, found, view, file_facts),
        cards=summary_cards(found, file_facts),
    )
    return respond(
        request,
        fmt,
        template="explorer/compare/compare.html",
        fragment="compared",
        context=context_of(page) | context_of(part),
        data=page,
        rows=lines,
        status=202 if part.is_waiting and fmt == "json" else 200,
    )


def _files_view(
    request: HttpRequest,
    found: Comparison,
    job: Job,
    result: JobRows[FileDiff] | None,
) -> Part:
    if result is None:
        return Part(job=job, is_waiting=True)
    kind = request.GET.get("kind", "")
    page = compare_files.changed_file_page(
        result.rows, result.facts, kind=kind, page=parse_file_filter(request.GET).page
    )
    return FilesPart(
        page=page,
        links=page_links(request, page.paged),
        partitions=compare_files.partition_changes(result.rows, found.partition_types),
        lines=compare_files.changed_file_rows(result.rows, kind=kind),
    )


def _schema_view(request: HttpRequest, found: Comparison) -> Part:
    page = found.schema_page(parse_page(request.GET))
    return SchemaView(schema_page=page, links=page_links(request, page.paged))


def _rows_view(
    request: HttpRequest,
    found: Comparison,
    file_job: Job,
    files: JobRows[FileDiff] | None,
) -> Part:
    suggestion = compare_jobs.suggest_key(found)
    key = compare_jobs.parse_key(request.GET.get("key", ""), found)
    job, result = compare_jobs.row_diff_job(found, key)
    suggested = suggestion.text if suggestion and not job else ""
    part = RowsPart(
        missing=compare_rows.missing_files_reason(files.facts if files else None),
        suggestion=suggestion,
        key=key,
        key_text=join_names(key) or suggested,
        row_job=job if result is None else None,
        file_job=file_job if files is None else None,
        estimate=files.facts.estimate if files else None,
        job=job if result is None else None,
        is_waiting=result is None and (job is not None or files is None),
    )
    if result is None:
        return part
    kind = request.GET.get("kind", "")
    if kind and kind not in compare_rows.ROW_KINDS:
        kinds = ", ".join(compare_rows.ROW_KINDS)
        raise QueryError(part="kind", expected=f"one of {kinds}")
    path = compare_jobs.all_rows_file(job)
    changes = compare_rows.row_changes_page(
        result.rows,
        result.facts,
        kind=kind,
        page=parse_file_filter(request.GET).page,
        zone=user_zone(request.user),
        path=path,
    )
    sample, is_cut = compare_rows.sample_objects(result.rows)
    return replace(
        part,
        rows=json_with(result.facts, sample=sample, sample_is_cut=is_cut),
        changes=changes,
        kind=kind,
        has_download=path is not None,
        links=page_links(request, changes.paged),
        lines=stored_rows(path) if path else None,
    )


def _change_rows(
    found: Comparison, view: str, job: Job | None
) -> Iterable[Sequence[object]]:
    """Return the CSV form of the views that come from the database."""
    if view in {"files", "rows"}:
        _check_comparable(found)
        raise _not_ready(job)
    values = found.properties if view == "properties" else found.protocol
    changes = found.schema if view == "schema" else values
    return named_rows(changes) if changes else []


def _tabs(
    request: HttpRequest,
    found: Comparison,
    view: str,
    facts: FileDiff | None,
) -> list[dict[str, Any]]:
    counts = {
        "files": facts.added + facts.removed + facts.rewritten + facts.rewritten_into
        if facts
        else None,
        "schema": found.schema.count if found.schema else None,
        "properties": found.settings_count,
        "protocol": found.protocol.count,
    }
    return [
        {
            "label": name.capitalize(),
            "count": counts.get(name),
            "url": changed(request, view=name, page=None, kind=None),
            "is_current": name == view,
        }
        for name in VIEWS
    ]


def _all_rows(job: Job | None) -> Path:
    path = compare_jobs.all_rows_file(job)
    if path is None:
        raise _not_ready(job)
    return path


def _not_ready(job: Job | None) -> PageError:
    check_job(job)
    if job is None:
        return PageError(
            status=409,
            code="not-compared",
            message="These versions have not been compared yet.",
            hint="Start the comparison on its page.",
        )
    return still("comparing", "These versions are still being compared.", job)


def comparison_url(namespace: str, name: str, before: int, after: int) -> str:
    """Return the address of a comparison."""
    parts = {"namespace": namespace, "name": name, "before": before, "after": after}
    return reverse("explorer:compare-detail", kwargs=parts)
