"""The first page of a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from apps.explorer.columns.tree import SchemaColumn
from apps.explorer.history.parameters import Parameter, decoded, parameter_of
from apps.explorer.overview.selector import SCHEMA_ROWS, Overview, overview
from apps.explorer.schema.log import inline_schema
from apps.explorer.schema.view import LOG_FORM, code_url
from apps.explorer.version.gone import GoneVersion, gone_version
from apps.explorer.version.indexed import known_files
from apps.explorer.version.page import TablePage
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion
from apps.pages.page_json import As, Mark, OnPage, Spread, in_json, json_with
from apps.pages.responses import respond_page
from apps.tables.head.shapes import TableResource, table_resource
from apps.tables.health.listing import TableHealth, table_health
from apps.tables.models import ProtocolVersion
from apps.tables.versions.missing_files import lacking_versions
from deltaweb.delta.features.clustering import CLUSTERING_COLUMNS, CLUSTERING_DOMAIN
from deltaweb.delta.row_tracking.logged_fields import DOMAIN as ROW_TRACKING
from deltaweb.delta.row_tracking.logged_fields import HIGH_WATER_MARK

MAX_LACKING = 500  # runs of versions that the JSON form names


def _beside_version(resource: TableResource) -> dict[str, object]:
    """Return what the table is called and how it is; the page is of one version."""
    shown = json_with(resource)
    return {name: value for name, value in shown.items() if name != "version"}


def _metadata(at: TableVersion) -> dict[str, object] | None:
    if at.metadata is None:
        return None
    return json_with(
        at.metadata.as_action(),
        schema_string=inline_schema(at.metadata),
        schema_url=code_url(at, LOG_FORM),
    )


@dataclass(frozen=True, kw_only=True)
class TableOverview(TablePage):
    """The first page of a table; without `page` nothing is indexed."""

    resource: Annotated[TableResource, Mark.SPREAD, As(_beside_version)]
    page: Spread[Overview | None]
    gone: GoneVersion | None
    protocol: Annotated[ProtocolVersion | None, As(ProtocolVersion.as_action)]
    schema_rows: OnPage[Sequence[SchemaColumn]]
    health: TableHealth | None

    @in_json
    def error(self) -> dict[str, object] | None:
        """What keeps storage from being read, by its old name."""
        found = self.resource
        if found.error_code is None:
            return None
        return {
            "code": found.error_code,
            "message": found.error_message,
            "hint": found.error_hint,
            "since": found.error_since,
        }

    @in_json
    def metadata(self) -> dict[str, object] | None:
        """The metadata of the version, a long schema by its address alone."""
        return _metadata(self.at)

    @in_json
    def partition_columns(self) -> Sequence[str]:
        """What files are partitioned by."""
        return self.at.metadata.partition_columns if self.at.metadata else []

    @in_json
    def clustering_columns(self) -> Sequence[str]:
        """What files of the newest version are laid out by."""
        return self.at.clustering_columns

    @in_json
    def domains(self) -> Mapping[str, str]:
        """What the newest version's metadata says, by its domain."""
        return self.at.domains

    @property
    def shown_domains(self) -> list[Parameter]:
        """The same in words, but for what says nothing."""
        return shown_domains(self.at.domains, self.at.clustering_columns)

    @in_json
    def unreadable(self) -> str | None:
        """Why the rows cannot be read."""
        return self.at.unreadable_reason or None

    @in_json
    def readable_versions(self) -> list[dict[str, object]]:
        """Which versions can be read, in runs."""
        runs = self.head.timeline.runs if self.head.timeline else ()
        return [
            {"first": run.first, "last": run.last, "state": run.state} for run in runs
        ]

    @in_json
    def missing_files(self) -> list[dict[str, object]]:
        """Which versions lack files, in runs."""
        return [
            {"first": row.first_version, "last": row.last_version, **row.describe()}
            for row in lacking_versions(self.table, MAX_LACKING)
        ]


def table_overview(
    request: HttpRequest, at: TableVersion, fmt: str
) -> HttpResponseBase:
    """Show what a table holds, how it got there and what it is made of."""
    found = overview(at, known_files(at)) if at.is_indexed else None
    page = TableOverview(
        at=at,
        resource=table_resource(at.table),
        page=found,
        gone=gone_version(at),
        protocol=at.protocol,
        schema_rows=found.tree.head(SCHEMA_ROWS) if found else (),
        health=table_health(request.user, at.table, timezone.now())
        if at.is_latest
        else None,
    )
    return respond_page(
        request, fmt, page, template="explorer/overview/table_overview.html"
    )


# === Metadata by domain ===

OWN_NAME: Final = "domainName"  # which Delta's own domains repeat within


def shown_domains(
    domains: Mapping[str, str], clustering_columns: Sequence[str]
) -> list[Parameter]:
    """Return the domains that say something, each named as the log names it."""
    return list(_shown(domains, clustering_columns))


def _shown(
    domains: Mapping[str, str], clustering_columns: Sequence[str]
) -> Iterator[Parameter]:
    for name, configuration in domains.items():
        found = decoded(configuration)
        if not isinstance(found, Mapping):
            yield parameter_of(name, found)
            continue
        facts = {key: value for key, value in found.items() if key != OWN_NAME}
        if name == CLUSTERING_DOMAIN and not facts.get(CLUSTERING_COLUMNS):
            continue  # the clustering has ended
        if name == CLUSTERING_DOMAIN and clustering_columns:
            columns = ", ".join(clustering_columns)
            yield Parameter(name=name, label="", text=f"clustered by {columns}")
        elif name == ROW_TRACKING and isinstance(facts.get(HIGH_WATER_MARK), int):
            yield Parameter(name=name, label="", text=_row_ids(facts[HIGH_WATER_MARK]))
        else:
            yield parameter_of(name, facts)


def _row_ids(highest: int) -> str:
    if highest < 0:
        return "no row has an id yet"
    return f"row ids are assigned up to {highest:,}"


table_read("", "Table", "table-overview", TableOverview, "Get the overview of a table.")
