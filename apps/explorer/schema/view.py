"""The columns of a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from django.http import (
    HttpRequest,
    HttpResponseBase,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.permissions import signed_in
from apps.explorer.columns.tree import SchemaColumn, SchemaTree, version_tree
from apps.explorer.schema.log import inline_schema, schema_pieces
from apps.explorer.schema.selector import (
    JSON_LENGTH,
    LANGUAGES,
    PAGE_LENGTH,
    SchemaPage,
    Spelling,
    profile_job,
    schema_page,
    spelled,
    spellings,
)
from apps.explorer.version.page import JobOfPage, TablePage
from apps.explorer.version.query import parse_page, parse_physical, parse_search
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion, table_version
from apps.jobs.models import Job
from apps.jobs.waiting import wait_a_glance
from apps.pages.errors import PageError
from apps.pages.lists.links import changed
from apps.pages.lists.paging import PageLinks, page_links
from apps.pages.page_json import As, Named, OnPage, Spread
from apps.pages.responses import respond_page
from apps.tables.head.job_json import NotIndexedError
from apps.tables.models import MetadataVersion
from apps.tables.work.profile import PROFILE_ALL, ProfileAll
from deltaweb.delta.errors import SchemaError

LOG_FORM = "log"  # the text that the log has


@dataclass(frozen=True, kw_only=True)
class Schema(TablePage):
    """The tree of a version's schema; `schema_url` has the whole, however long."""

    tree: Spread[SchemaTree]
    page: OnPage[SchemaPage]
    count: int
    columns: Sequence[dict[str, object]]
    links: Spread[PageLinks]
    metadata: Annotated[
        MetadataVersion | None, Named("schema_string"), As(inline_schema)
    ]
    partition_columns: Sequence[str]
    clustering_columns: Sequence[str]
    schema_url: str | None
    text: OnPage[str]
    shows_physical: OnPage[bool]
    spellings: OnPage[Sequence[Spelling]]
    log_url: OnPage[str]
    job: JobOfPage


def schema_detail(request: HttpRequest, at: TableVersion, fmt: str) -> HttpResponseBase:
    """Show the tree of a version's schema, and the schema as code."""
    text = parse_search(request.GET)
    metadata = at.metadata
    tree = version_tree(metadata)
    found = schema_page(
        at,
        tree,
        text,
        page=parse_page(request.GET),
        length=JSON_LENGTH if fmt == "json" else PAGE_LENGTH,
    )
    log_url = code_url(at, LOG_FORM)
    page = Schema(
        at=at,
        tree=tree,
        page=found,
        count=found.paged.count,
        columns=_described(found) if fmt == "json" else (),
        links=page_links(request, found.paged),
        metadata=metadata,
        partition_columns=metadata.partition_columns if metadata else [],
        clustering_columns=at.clustering_columns,
        schema_url=request.build_absolute_uri(log_url) if metadata else None,
        text=text,
        shows_physical=tree.is_mapped and parse_physical(request.GET),
        spellings=spellings(metadata, at.table.name) if metadata else (),
        log_url=log_url,
        job=profile_job(at),
    )
    response = respond_page(
        request,
        fmt,
        page,
        template="explorer/schema/schema_detail.html",
        fragment="schema-rows",
        rows=_lines(tree.matching(text)),
    )
    # What a filter box sends has its empty fields; the address goes without them.
    if "HX-Request" in request.headers:
        number = found.paged.page if found.paged.page > 1 else None
        response["HX-Replace-Url"] = changed(request, q=text or None, page=number)
    return response


def schema_profile(request: HttpRequest, namespace: str, name: str) -> HttpResponseBase:
    """Ask for the profile of every column; the page shows it, or how far it is."""
    user, wanted = signed_in(request), request.POST.get("v", "")
    job, url = request_profiles(user, namespace, name, wanted)
    wait_a_glance(job)
    return HttpResponseRedirect(url)


def request_profiles(
    user: User, namespace: str, name: str, version: str
) -> tuple[Job, str]:
    """Queue the profile of every column; return the job and the page of the schema."""
    at = table_version(user, namespace, name, version)
    if at.version is None:
        raise NotIndexedError(table=at.table.full_name)
    if at.unreadable_reason:
        raise PageError(
            status=409,
            code="not-profiled",
            message=at.unreadable_reason,
            hint="Choose another version.",
        )
    asked = ProfileAll(version=at.version)
    job = PROFILE_ALL.request(at.table, asked, requested_by=user, now=timezone.now())
    names = [at.table.namespace, at.table.name]
    return job, f"{reverse('explorer:schema-detail', args=names)}{at.pin}"


def schema_code(
    request: HttpRequest, at: TableVersion, language: str
) -> HttpResponseBase:
    """Send the whole schema in one language, or as the log writes it.

    However wide it is: the text of the log is sent piece by piece.
    """
    del request
    if at.metadata is None or not at.metadata.has_schema:
        raise _no_code(at, "The schema of this version is not known.")
    if language == LOG_FORM:
        pieces = schema_pieces(at.metadata)
    elif language in LANGUAGES:
        try:
            pieces = iter([spelled(at.metadata, at.table.name, language)])
        except SchemaError as error:
            raise _no_code(at, error.message) from error
    else:
        known = ", ".join((LOG_FORM, *LANGUAGES))
        raise _no_code(at, f"A schema is written as one of {known}.")
    is_json = language in {LOG_FORM, "json"}
    response = StreamingHttpResponse(
        pieces,
        content_type="application/json" if is_json else "text/plain; charset=utf-8",
    )
    suffix = "json" if is_json else {"ddl": "sql"}.get(language, "py")
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in at.table.name)
    response["Content-Disposition"] = f'attachment; filename="{name}-schema.{suffix}"'
    return response


def code_url(at: TableVersion, language: str) -> str:
    """Return where the whole schema is, at the version that is shown."""
    names = [at.table.namespace, at.table.name, language]
    return f"{reverse('explorer:schema-code', args=names)}{at.pin}"


def _no_code(at: TableVersion, message: str) -> PageError:
    return PageError(
        status=404,
        code="schema-unknown",
        message=message,
        hint=f"The page of the schema of {at.table.full_name} says what is known.",
    )


def _described(page: SchemaPage) -> list[dict[str, object]]:
    """Return the columns of a page, with what files tell of those that they tell of."""
    described = []
    for row in page.rows[page.num_above :]:
        bounds, entry = row.bounds, row.column.describe_briefly()
        if row.profile is not None:
            top = row.most_frequent
            entry["profile"] = {
                "rows": row.profile.num_rows,
                "nulls": row.profile.num_nulls,
                "distinct": row.profile.num_distinct,
                "most_frequent": top[0] if top else None,
            }
        if bounds is not None:
            entry["statistics"] = {
                "files": bounds.ranges.num_files,
                "files_with_min_max": bounds.ranges.num_bounds,
                "null_percent": bounds.ranges.null_percent,
                "min": bounds.minimum or None,
                "max": bounds.maximum or None,
            }
        described.append(entry)
    return described


def _lines(columns: Sequence[SchemaColumn]) -> Iterator[Sequence[object]]:
    yield ["path", "type", "nullable", "comment", "partition", "facts"]
    for column in columns:
        facts = "; ".join(f"{label}: {value}" for label, value in column.facts)
        yield [
            column.path,
            column.describe()["type"],
            column.nullable,
            column.comment,
            column.is_partition,
            facts,
        ]


table_read(
    "/schema", "TableSchema", "schema-detail", Schema, "List the columns of a version."
)
