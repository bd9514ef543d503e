"""Two versions of a table, compared."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
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
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.users import signed_in_user
from apps.explorer import compare_jobs
from apps.explorer.cells import json_value, python_values
from apps.explorer.forms import QueryError, parse_file_filter, parse_page
from apps.explorer.selectors import compare_files, compare_key, compare_rows
from apps.explorer.selectors.compare import Comparison, compare_versions
from apps.explorer.selectors.compare_summary import summary_cards
from apps.explorer.selectors.page_numbers import PageNumbers
from apps.explorer.views.job_errors import check_job
from apps.explorer.zones import user_zone
from apps.jobs.models import Job
from apps.pages.errors import PageError
from apps.pages.links import changed
from apps.pages.responses import respond
from apps.tables.comparing import SAMPLE_ROWS
from apps.tables.selectors.results import JobRows
from deltaweb.delta.table_changes import SchemaChanges, ValueChanges

VIEWS = ("files", "schema", "properties", "protocol", "rows")
SUGGESTION = "suggestion"  # instead of a key: the one that is suggested
CSV_ROWS = 1_000


@require_safe
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


@require_POST
def compare_start(
    request: HttpRequest, namespace: str, name: str, before: int, after: int
) -> HttpResponseBase:
    """Start comparing the rows of two versions; a key that none has is said above.

    Who asks by suggestion, as the page of a commit does, gets the key of that.
    """
    found = compare_versions(request.user, namespace, name, str(before), str(after))
    _check_comparable(found, missing=_missing(found))
    url = comparison_url(namespace, name, before, after)
    try:
        key = compare_key.parse_key(_wanted_key(request, found), found)
    except QueryError as error:
        messages.error(request, f"Rows cannot be matched so. {error.hint}")
        return HttpResponseRedirect(f"{url}?view=rows")
    compare_jobs.start_row_diff(
        found, key, requested_by=signed_in_user(request), now=timezone.now()
    )
    query = {"view": "rows"} | ({"key": ",".join(key)} if key else {})
    return HttpResponseRedirect(f"{url}?{urlencode(query)}")


def _wanted_key(request: HttpRequest, found: Comparison) -> str:
    if request.POST.get("by") != SUGGESTION:
        return request.POST.get("key", "")
    suggestion = compare_key.suggest_key(found)
    return suggestion.text if suggestion else ""


def _check_comparable(found: Comparison, *, missing: str = "") -> None:
    """Refuse what no job can compare.

    Raises:
        PageError: 409, with the reason.
    """
    problem = found.unreadable_reason or missing
    if problem or found.is_same:
        raise PageError(
            status=409,
            code="not-comparable",
            message=problem or "That is one version twice.",
            hint="Choose two versions that can be read.",
        )


def _missing(found: Comparison) -> str:
    """Say which files are known to be deleted that comparing rows would read."""
    known = compare_jobs.known_file_diff(found) if found.partly_sides else None
    return compare_rows.missing_files_reason(known.facts if known else None)


@require_safe
def compare_download(
    request: HttpRequest, namespace: str, name: str, before: int, after: int
) -> HttpResponseBase:
    """Send every changed row as Parquet."""
    found = compare_versions(request.user, namespace, name, str(before), str(after))
    key = compare_key.parse_key(request.GET.get("key", ""), found)
    job, _ = compare_jobs.row_diff_job(found, key)
    path = _all_rows(job)
    file_name = f"{name}-{before}-{after}.parquet"
    return FileResponse(path.open("rb"), as_attachment=True, filename=file_name)


@dataclass
class _Answer:
    """What a view of the page adds: parts of the context, of JSON, and CSV rows."""

    context: dict[str, Any]
    data: dict[str, Any]
    rows: Iterable[Sequence[object]] | None = None
    job: Job | None = None
    is_waiting: bool = False


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
    answer = _Answer({}, {})
    file_facts: dict[str, Any] | None = None
    if can_read and view in {"files", "rows"}:
        job, result = compare_jobs.file_diff_job(
            found,
            requested_by=signed_in_user(request),
            now=timezone.now(),
            waits=fmt == "csv" and view == "files",
        )
        file_facts = result.facts if result else None
        make = _files_view if view == "files" else _rows_view
        answer = make(request, found, job, result)
    elif can_read:
        known = compare_jobs.known_file_diff(found)
        file_facts = known.facts if known else None
        if view == "schema" and found.schema:
            answer = _schema_view(request, found)
    if fmt != "html":
        check_job(answer.job)
    if fmt == "csv" and answer.rows is None:
        answer.rows = _change_rows(found, view, answer.job)
    return respond(
        request,
        fmt,
        template="explorer/compare.html",
        fragment="compared",
        context={
            "found": found,
            "at": found.at,
            "head": found.head,
            "table": found.table,
            "span": found.span,
            "view": view,
            "views": _tabs(request, found, view, file_facts),
            "cards": summary_cards(found, file_facts),
            "file_facts": file_facts,
            **answer.context,
        },
        data={
            **found.describe(),
            "view": view,
            "files": file_facts,
            **answer.data,
            "job": _job(answer.job),
        },
        rows=answer.rows,
        status=202 if answer.is_waiting and fmt == "json" else 200,
    )


def _files_view(
    request: HttpRequest, found: Comparison, job: Job, result: JobRows | None
) -> _Answer:
    del found
    if result is None:
        return _Answer({"job": job}, {}, job=job, is_waiting=True)
    kind = request.GET.get("kind", "")
    page = compare_files.changed_file_page(
        result.rows, result.facts, kind=kind, page=parse_file_filter(request.GET).page
    )
    return _Answer(
        {
            "page": page,
            "kinds": compare_files.KINDS,
            "partitions": compare_files.partition_changes(result.rows),
            **_page_urls(request, page),
        },
        {
            "count": page.num_matching,
            "next": request.build_absolute_uri(changed(request, page=page.next_page))
            if page.next_page
            else None,
            "changed_files": [file.describe() for file in page.files],
        },
        rows=compare_files.changed_file_rows(result.rows, kind=kind),
    )


def _schema_view(request: HttpRequest, found: Comparison) -> _Answer:
    page = found.schema_page(parse_page(request.GET))
    urls = _page_urls(request, page)
    next_url = urls["next_url"]
    return _Answer(
        {"schema_page": page, **urls},
        {
            "schema": page.describe(),
            "next": request.build_absolute_uri(next_url) if next_url else None,
        },
    )


def _page_urls(request: HttpRequest, page: PageNumbers) -> dict[str, str]:
    following, previous = page.next_page, page.previous_page
    return {
        "next_url": changed(request, page=following) if following else "",
        "previous_url": changed(request, page=previous) if previous else "",
    }


def _rows_view(
    request: HttpRequest, found: Comparison, file_job: Job, files: JobRows | None
) -> _Answer:
    suggestion = compare_key.suggest_key(found)
    key = compare_key.parse_key(request.GET.get("key", ""), found)
    job, result = compare_jobs.row_diff_job(found, key)
    problem = compare_rows.missing_files_reason(files.facts if files else None)
    context: dict[str, Any] = {
        "missing": problem,
        "suggestion": suggestion,
        "key_text": ",".join(key)
        or (suggestion.text if suggestion and not job else ""),
        "key": key,
        "row_job": job if result is None else None,
        "file_job": file_job if files is None else None,
        "estimate": files.facts.get("estimate") if files else None,
    }
    if result is None:
        data = {
            "rows": None,
            "suggested_key": suggestion.columns if suggestion else [],
            "suggested_because": suggestion.reason if suggestion else None,
            "rows_problem": problem or None,
        }
        waiting = job is not None or files is None
        return _Answer(context, data, job=job or None, is_waiting=waiting)
    kind = request.GET.get("kind", "")
    if kind and kind not in compare_rows.ROW_KINDS:
        kinds = ", ".join(compare_rows.ROW_KINDS)
        raise QueryError(part="kind", expected=f"one of {kinds}")
    changes = compare_rows.row_changes_page(
        result.rows,
        result.facts,
        kind=kind,
        page=parse_file_filter(request.GET).page,
        zone=user_zone(request.user),
    )
    path = compare_jobs.all_rows_file(job)
    sample, is_cut = compare_rows.sample_objects(result.rows)
    return _Answer(
        context
        | {"changes": changes, "kind": kind, "has_download": path is not None}
        | {"sample_rows": SAMPLE_ROWS}
        | _page_urls(request, changes),
        {"rows": result.facts | {"sample": sample, "sample_is_cut": is_cut}},
        rows=_csv_rows(path) if path else None,
    )


def _change_rows(
    found: Comparison, view: str, job: Job | None
) -> Iterable[Sequence[object]]:
    """Return the CSV form of the views that come from the database.

    Raises:
        PageError: 409 when files or rows cannot be compared, or are not yet.
    """
    if view in {"files", "rows"}:
        _check_comparable(found)
        raise _not_ready(job)
    values = found.properties if view == "properties" else found.protocol
    changes = found.schema if view == "schema" else values
    return _named_rows(changes) if changes else []


def _named_rows(changes: SchemaChanges | ValueChanges) -> Iterator[Sequence[object]]:
    yield ["change", "name", "from", "to"]
    kinds = (
        ("added", changes.added),
        ("removed", changes.removed),
        ("changed", changes.changed),
    )
    for kind, entries in kinds:
        for entry in entries:
            sides = (
                getattr(side, "type_text", side) for side in (entry.before, entry.after)
            )
            yield [
                kind,
                entry.name,
                *(", ".join(s) if isinstance(s, tuple) else s for s in sides),
            ]


def _csv_rows(path: Path) -> Iterator[Sequence[object]]:
    """Yield every changed row, the header first."""
    with pq.ParquetFile(path) as file:
        yield list(file.schema_arrow.names)
        for batch in file.iter_batches(batch_size=CSV_ROWS):
            columns = [python_values(column) for column in batch.columns]
            for row in zip(*columns, strict=True):
                yield [
                    value if isinstance(value, str | int | float) else json_value(value)
                    for value in row
                ]


def _tabs(
    request: HttpRequest,
    found: Comparison,
    view: str,
    facts: dict[str, Any] | None,
) -> list[dict[str, Any]]:
    kinds = ("added", "removed", "rewritten", "rewritten_into")
    counts = {
        "files": sum(facts[kind] for kind in kinds) if facts else None,
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
    return PageError(
        status=409,
        code="still-comparing",
        message="These versions are still being compared.",
        hint=f"Ask again when job {job.id} is done.",
    )


def _job(job: Job | None) -> dict[str, object] | None:
    if job is None:
        return None
    return {"id": job.id, "state": job.state, "error": job.error or None}


def comparison_url(namespace: str, name: str, before: int, after: int) -> str:
    """Return the address of a comparison."""
    parts = {"namespace": namespace, "name": name, "before": before, "after": after}
    return reverse("explorer:compare-detail", kwargs=parts)
