"""Descriptions of the query parameters of the REST API."""

from collections.abc import Mapping
from typing import Final

DESCRIPTIONS: Final[Mapping[str, str]] = {
    "a": "The value to compare with, or the lower one of `between`.",
    "action": "The name of the recorded action, such as `share.create`.",
    "as": "The language of the schema: `delta`, `spark` or `arrow`.",
    "b": "The upper value of `between`.",
    "bars": "Page of the columns by size, from 1.",
    "before": "The `next` of the page before.",
    "by": "Key columns that match rows, comma-separated.",
    "changed": "Only updates that changed this column.",
    "col": "A column to return; all without.",
    "cols": "Page of the columns, from 1.",
    "column": "Number of the leaf column whose row groups are returned, from 0.",
    "columns": "`all` to include columns that no update changed.",
    "dv": "Whether the file has a deletion vector: `yes` or `no`.",
    "f": "A condition: `column:operator:value`, or SQL.",
    "feature": "A table feature in use.",
    "folder": "The folder of the file in the table.",
    "from": "Start version, time or date.",
    "group": "Number of the row group whose columns are returned, from 0.",
    "groups": "Page of the row groups, from 1.",
    "is": "Value of the first key column.",
    "key": "Key columns that match rows, comma-separated.",
    "kind": "Kind of change: `insert`, `update` or `delete`.",
    "limit": "Rows per page, 1 to 500; 50 without.",
    "location": "The path or URL of the file.",
    "mark": "A mark of the table, such as `shared`.",
    "max": "Largest file size, such as `64 MiB`.",
    "min": "Smallest file size, such as `64 MiB`.",
    "names": "`physical` for the physical names of columns.",
    "namespace": "The namespace of the table.",
    "newest": "Whether the code always reads the newest version.",
    "only": "`changed` for columns that changed.",
    "op": "The operation of the commit, as in the log.",
    "page": "Page number, from 1.",
    "pageToken": "The `nextPageToken` of the page before.",
    "partition": "A partition: `column=value`; `column` alone for null.",
    "picture": "The chart of the partitions.",
    "q": "Text in the name or description.",
    "recipient": "Name of the recipient.",
    "rows": "Whether to include the first rows.",
    "share": "Name of the share.",
    "show": "Which files are returned: `read` or `skipped`; both without.",
    "sort": "Column that orders the list; descending with a minus sign before it.",
    "state": "State of the job.",
    "stats": "Whether the log has the file's row count: `yes` or `no`.",
    "status": "State of the table.",
    "table": "Name of the table.",
    "to": "End version, time or date.",
    "unlisted": "Whether the file is one that the version does not list.",
    "user": "The user who made the commit.",
    "v": "The version; the newest without. `version` is an alias.",
    "view": "What to compare: files, schema, properties, protocol or rows.",
    "where": "A condition in Spark SQL.",
    "who": "Name of the user or recipient.",
    "writer": "The writer of the newest commit.",
}
"""What a parameter means, by its name."""
OF_ENDPOINT: Final[Mapping[tuple[str, str], str]] = {
    ("activity", "from"): "Start time or date.",
    ("activity", "kind"): "Type of event.",
    ("activity", "status"): "Outcome: ok or failed.",
    ("activity", "to"): "End time or date.",
    ("diff", "kind"): "Kind of difference.",
    ("jobs", "kind"): "Kind of job.",
    ("parquet", "op"): "Operator of the condition on the column's values.",
    ("parquet", "q"): "Text in the name of a column.",
    ("partitions", "q"): "Text in a partition value.",
    ("recipients", "state"): "State of the recipient.",
    ("schema", "q"): "Text in the name, type or comment of a column.",
    ("schema-lanes", "q"): "Text in a current or earlier name of a column.",
    ("search", "kind"): "Kind of result.",
    ("search", "q"): "Text in the name, comment or column.",
    ("skipping", "group"): "Number of the reason whose files are returned, from 1.",
    ("versions", "q"): "Text in the sentence about the commit.",
    ("{file}", "op"): "Operator of the condition on the column's values.",
    ("{file}", "q"): "Text in the name of a column.",
}
"""What it means at one endpoint, by the last part of the path and its name."""


def description_of(name: str, path: str) -> str:
    """Return what a query parameter means at an endpoint; "" if unknown."""
    last = path.rstrip("/").rpartition("/")[2]
    return OF_ENDPOINT.get((last, name)) or DESCRIPTIONS.get(name, "")
