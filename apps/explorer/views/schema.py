"""The columns of a table."""

from collections.abc import Iterator, Sequence

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from apps.explorer.forms import parse_search
from apps.explorer.selectors.columns import (
    MAX_ROWS,
    SchemaColumn,
    version_tree,
)
from apps.explorer.selectors.spellings import spellings
from apps.explorer.selectors.version import table_version
from apps.pages.responses import respond


@require_safe
def schema_detail(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show the tree of a version's schema, and the schema as code."""
    at = table_version(request.user, namespace, name, request.GET.get("v", ""))
    text = parse_search(request.GET)
    metadata = at.metadata
    tree = version_tree(metadata)
    columns = tree.matching(text)
    return respond(
        request,
        fmt,
        template="explorer/schema_detail.html",
        fragment="schema-rows",
        context={
            "at": at,
            "head": at.head,
            "table": at.table,
            "metadata": metadata,
            "tree": tree,
            "text": text,
            "columns": columns[:MAX_ROWS],
            "num_matching": len(columns),
            "num_hidden": max(len(columns) - MAX_ROWS, 0),
            "spellings": spellings(metadata, at.table.name) if metadata else (),
        },
        data={
            **at.describe(),
            "count": len(columns),
            "next": None,
            "num_columns": tree.num_columns,
            "problem": tree.problem or None,
            "partition_columns": metadata.partition_columns if metadata else [],
            "columns": [column.describe() for column in columns],
            "schema_string": metadata.schema_string if metadata else None,
        },
        rows=_lines(columns),
    )


def _lines(columns: Sequence[SchemaColumn]) -> Iterator[Sequence[object]]:
    yield ["path", "type", "nullable", "comment", "partition", "facts"]
    for column in columns:
        facts = "; ".join(f"{label}: {value}" for label, value in column.facts)
        yield [
            column.path,
            column.type_text,
            column.nullable,
            column.comment,
            column.is_partition,
            facts,
        ]
