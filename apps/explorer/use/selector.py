"""What a page shows of a table, as code for other tools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Annotated

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.explorer.rows.filters import RowFilter
from apps.explorer.rows.form import RowQuery
from apps.explorer.rows.plan import RowPlan, row_plan
from apps.explorer.use.snippets import ShownView, restore_snippets, view_snippets
from apps.explorer.version.table_version import TableVersion
from apps.pages.page_json import As, OnPage
from apps.pages.request.server_paths import place_for_code
from apps.pages.snippets import Snippet
from apps.tables.extension.share_names import share_name_of
from apps.tables.models import Commit
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.delta.scan.variant_parts import VariantPart

MAX_NAMES_SHOWN = 5


def _conditions(filters: Sequence[RowFilter]) -> list[str]:
    return [wanted.sql for wanted in filters]


def _texts(snippets: Sequence[Snippet]) -> dict[str, str]:
    return {made.key: made.text for made in snippets}


@dataclass(frozen=True, slots=True, kw_only=True)
class UsePage:
    """A view as code.

    Attributes:
        columns: The chosen columns; empty for all.
        filters: The conditions; all must hold.
        snippets: The code for each tool; empty before the first index.
        restore: The code that makes this version the newest; empty for the newest.
        parts: Those columns, shown or compared, that are parts of variants.
        is_gone: Whether the files of the version are gone, so that nothing reads it.
        problem: Why the columns and conditions could not be taken, or nothing.
    """

    columns: Sequence[str] = ()
    filters: Annotated[Sequence[RowFilter], As(_conditions)] = ()
    snippets: Annotated[Sequence[Snippet], As(_texts)] = ()
    restore: Annotated[Sequence[Snippet], As(_texts)] = ()
    parts: OnPage[Mapping[str, VariantPart]] = field(default_factory=dict)
    is_gone: OnPage[bool] = False
    problem: Annotated[str, As(lambda problem: problem or None)] = ""

    @property
    def columns_text(self) -> str:
        """The chosen columns in words, the first by name."""
        shown = ", ".join(self.columns[:MAX_NAMES_SHOWN])
        more = len(self.columns) - MAX_NAMES_SHOWN
        return f"{shown} and {more:,} more" if more > 0 else shown


def use_page(
    at: TableVersion,
    query: RowQuery,
    *,
    user: User | AnonymousUser,
    zone: tzinfo,
    data_url: str,
) -> UsePage:
    """Return the code of a view.

    Args:
        at: The table at a version.
        query: The columns and conditions of the address.
        user: Who asks: names of shares are not for everybody.
        zone: Where a timestamp without a zone is.
        data_url: Where the rows of the view are JSON.

    Raises:
        PageError: 400 that names the part of the address that does not fit.
    """
    if at.version is None or at.metadata is None:
        return UsePage()
    plan, problem = _plan(at.metadata.schema_string, query, zone)
    columns: tuple[str, ...] = ()
    if plan and not plan.is_default and plan.chosen != plan.all_columns:
        columns = plan.chosen
    filters, parts = (plan.filters, plan.parts) if plan else ((), {})
    view = ShownView(
        name=at.table.name,
        location=place_for_code(at.table.location),
        version=at.version,
        columns=columns,
        filters=filters,
        parts=parts,
        shared_as=share_name_of(user, at.table.id),
        data_url=data_url,
    )
    run = at.head.timeline.shown_run if at.head.timeline else None
    return UsePage(
        columns=columns,
        filters=filters,
        snippets=view_snippets(view),
        parts=parts,
        restore=() if at.is_latest else restore_snippets(view),
        is_gone=run is not None and run.state == Commit.Readability.GONE,
        problem=problem,
    )


def _plan(
    schema_string: str, query: RowQuery, zone: tzinfo
) -> tuple[RowPlan | None, str]:
    """Return columns and conditions, or why the schema lets none be taken."""
    if not query.columns and not query.filters:
        return None, ""
    try:
        return row_plan(parse_schema(schema_string), query, zone), ""
    except SchemaError as error:
        return None, error.message
