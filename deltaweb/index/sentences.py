"""What a commit did, in plain words.

The sentence stands beside the operation's name, its user and its time on a page, so
it repeats none of them: "Updated 41 rows and inserted 3, matching on id; rewrote 312
files (9.1 GiB), 5,200 rows written for each one changed."
"""

import re
from collections.abc import Callable
from typing import Any, Final

from deltaweb.delta.commit_summary import CommitSummary
from deltaweb.index.commit_facts import Facts, counted, shorten, size_text

AMPLIFICATION_SHOWN: Final = 10  # rows written for one changed row; less is no news
_SAME_COLUMN: Final = re.compile(r"\w+\.([\w.]+) = \w+\.\1", re.ASCII)
MAX_NAMED: Final = 3  # columns or properties that a sentence names


def commit_sentence(summary: CommitSummary) -> str:
    """Say in one plain sentence what a commit did.

    Known operations of Spark and delta-rs have words of their own; any other commit
    is told by what its actions did. Metrics win over counts where they say more.

    Args:
        summary: The commit; its metrics and parameters may hold anything.

    Returns:
        A sentence that starts with a capital letter and ends with a full stop.
    """
    if summary.fault is not None:
        return f"This commit does not read: {shorten(summary.fault)}."
    tell = _WORDS.get(summary.operation.strip().upper(), _tell_actions)
    text = tell(summary, Facts(summary.metrics), Facts(summary.parameters))
    return text[0].upper() + text[1:] + "."


# === Rows ===


def _tell_write(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    rows = metrics.number("numOutputRows", "num_added_rows")
    rows = summary.added_rows if rows is None else rows
    mode = parameters.text("mode").lower()
    if not summary.num_added_files and not summary.num_removed_files:
        return "wrote nothing" if summary.metadata is None else "set up the table"
    verb = {"overwrite": "overwrote the table with", "append": "appended"}
    condition = parameters.text("replaceWhere")
    text = verb.get(mode, "appended" if not summary.num_removed_files else "wrote")
    if mode == "overwrite" and condition:
        text = f"replaced the rows where {condition} with"
    new = f"{counted(summary.num_added_files, 'new file')}{_bytes(summary.added_bytes)}"
    text += f" {new}" if rows is None else f" {counted(rows, 'row')} in {new}"
    if summary.num_removed_files:
        text += f"; took out {counted(summary.num_removed_files, 'file')}"
    return text


def _tell_merge(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    updated = metrics.number("numTargetRowsUpdated")
    inserted = metrics.number("numTargetRowsInserted")
    deleted = metrics.number("numTargetRowsDeleted")
    parts = [
        f"{verb} {counted(count, 'row')}"
        for verb, count in [
            ("updated", updated),
            ("inserted", inserted),
            ("deleted", deleted),
        ]
        if count
    ]
    if not parts:
        known = updated is not None or inserted is not None or deleted is not None
        parts = ["merged without changing a row" if known else "merged rows"]
    text = _joined([parts[0], *(part.replace(" rows", "") for part in parts[1:])])
    predicate = parameters.text("predicate", "mergePredicate")
    if predicate:
        text += f", matching on {_without_quotes(predicate)}"
    changed = (updated or 0) + (inserted or 0) + (deleted or 0)
    copied = metrics.number("numTargetRowsCopied")
    return text + _rewriting(summary, changed, copied, written=changed - (deleted or 0))


def _tell_update(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    updated = metrics.number("numUpdatedRows")
    text = "updated rows" if updated is None else f"updated {counted(updated, 'row')}"
    copied = metrics.number("numCopiedRows")
    text += _where(parameters)
    return text + _rewriting(summary, updated or 0, copied, written=updated or 0)


def _tell_delete(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    deleted = metrics.number("numDeletedRows")
    if deleted is None and not summary.num_added_files:
        deleted = summary.removed_rows
    text = "deleted rows" if deleted is None else f"deleted {counted(deleted, 'row')}"
    text += _where(parameters)
    if summary.num_removed_files and not summary.num_added_files:
        return f"{text}: {counted(summary.num_removed_files, 'whole file')}"
    copied = metrics.number("numCopiedRows")
    return text + _rewriting(summary, deleted or 0, copied, written=0)


def _tell_truncate(summary: CommitSummary, _metrics: Facts, _parameters: Facts) -> str:
    return f"emptied the table: {counted(summary.num_removed_files, 'file')} taken out"


def _rewriting(
    summary: CommitSummary, changed: int, copied: int | None, *, written: int
) -> str:
    """Tell of the files that were written anew, and of rows copied with them."""
    if not summary.num_removed_files:
        if not summary.num_added_files:
            return ""
        new = counted(summary.num_added_files, "new file")
        return f"; wrote {new}{_bytes(summary.added_bytes)}"
    size = summary.removed_bytes
    rewritten = counted(summary.num_removed_files, "file")
    text = f"; rewrote {rewritten}{_bytes(size or 0)}"
    if changed and copied is not None:
        ratio = (copied + written) // changed
        if ratio >= AMPLIFICATION_SHOWN:
            text += f", {ratio:,} rows written for each one changed"
    return text


# === Files ===


def _tell_optimize(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    removed = metrics.number("numRemovedFiles", "numFilesRemoved")
    added = metrics.number("numAddedFiles", "numFilesAdded")
    removed = summary.num_removed_files if removed is None else removed
    added = summary.num_added_files if added is None else added
    if not removed and not added:
        return "found nothing to compact"
    text = f"compacted {counted(removed, 'file')} into {added:,}"
    text += _bytes(summary.added_bytes)
    columns = parameters.parsed("zOrderBy", "clusterBy")
    if isinstance(columns, list) and columns:
        text += f", ordered by {_named([str(column) for column in columns])}"
    return text if summary.data_change else f"{text}; no row changed"


def _tell_vacuum_start(
    _summary: CommitSummary, metrics: Facts, _parameters: Facts
) -> str:
    count = metrics.number("numFilesToDelete")
    if count is None:
        return "began to delete files that no kept version needs"
    size = metrics.number("sizeOfDataToDelete")
    return f"began to delete {counted(count, 'unneeded file')}{_bytes(size or 0)}"


def _tell_vacuum_end(_summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    if parameters.text("status").upper() == "FAILED":
        return "stopped deleting unneeded files: the VACUUM failed"
    count = metrics.number("numDeletedFiles")
    if count is None:
        return "deleted files that no kept version needs"
    if not count:
        return "found no unneeded file to delete"
    return (
        f"deleted {counted(count, 'unneeded file')};"
        " older versions that need them can no longer be read in full"
    )


def _tell_restore(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    version = parameters.text("version")
    moment = parameters.text("timestamp", "datetime")
    target = f"version {version}" if version else f"the state of {moment or 'before'}"
    back = metrics.number("numRestoredFiles", "numRestoredFile")
    gone = metrics.number("numRemovedFiles", "numRemovedFile")
    back = summary.num_added_files if back is None else back
    gone = summary.num_removed_files if gone is None else gone
    return (
        f"restored {target}: {counted(back, 'file')} brought back, {gone:,} taken out"
    )


# === Metadata ===


def _tell_create(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    text = "created the table"
    partitions = parameters.parsed("partitionBy", "partitionColumns")
    if isinstance(partitions, list) and partitions:
        text += f", partitioned by {_named([str(name) for name in partitions])}"
    return text + _with_rows(summary, metrics)


def _tell_replace(summary: CommitSummary, metrics: Facts, _parameters: Facts) -> str:
    text = "replaced the table's definition and data" + _with_rows(summary, metrics)
    if summary.num_removed_files:
        text += f"; took out {counted(summary.num_removed_files, 'file')}"
    return text


def _with_rows(summary: CommitSummary, metrics: Facts) -> str:
    if not summary.num_added_files:
        return ""
    rows = metrics.number("numOutputRows", "num_added_rows")
    rows = summary.added_rows if rows is None else rows
    new = f"{counted(summary.num_added_files, 'file')}{_bytes(summary.added_bytes)}"
    return f" with {new}" if rows is None else f" with {counted(rows, 'row')} in {new}"


def _tell_add_columns(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    names = _column_names(parameters.parsed("columns", "fields", "column"))
    if not names:
        return "added columns"
    return f"added the column{'s' if len(names) > 1 else ''} {_named(names)}"


def _tell_drop_columns(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    names = _column_names(parameters.parsed("columns", "column"))
    return f"dropped {_named(names)}" if names else "dropped columns"


def _tell_rename_column(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    old = parameters.text("oldColumnPath", "oldColumnName")
    new = parameters.text("newColumnPath", "newColumnName")
    return f"renamed {old} to {new}" if old and new else "renamed a column"


def _tell_change_column(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    names = _column_names(parameters.parsed("columns", "column"))
    return f"changed {_named(names)}" if names else "changed a column"


def _tell_set_properties(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    properties = parameters.parsed("properties")
    if not isinstance(properties, dict) or not properties:
        return "set table properties"
    return f"set {_named([f'{key} = {value}' for key, value in properties.items()])}"


def _tell_unset_properties(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    properties = parameters.parsed("properties")
    if not isinstance(properties, (list, dict)) or not properties:
        return "unset table properties"
    return f"unset {_named([str(key) for key in properties])}"


def _tell_add_constraint(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    name, rule = parameters.text("name"), parameters.text("expr", "expression")
    constraint = parameters.parsed("constraints")
    if not name and isinstance(constraint, list) and constraint:
        first = constraint[0] if isinstance(constraint[0], dict) else {}
        name, rule = (
            shorten(str(first.get("name", ""))),
            shorten(str(first.get("expression", ""))),
        )
    text = f"added the constraint {name}" if name else "added a constraint"
    return f"{text}: {rule}" if rule else text


def _tell_drop_constraint(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    name = parameters.text("name", "constraint")
    return f"dropped the constraint {name}" if name else "dropped a constraint"


def _tell_protocol(summary: CommitSummary, _metrics: Facts, parameters: Facts) -> str:
    features = parameters.parsed("name", "feature")
    protocol = summary.protocol
    if isinstance(features, (list, str)) and features:
        named = (
            _named([str(f) for f in features])
            if isinstance(features, list)
            else (shorten(features))
        )
        return f"turned on the table feature {named}"
    if protocol is None:
        return "changed the protocol"
    return (
        f"raised the protocol to reader version {protocol.min_reader_version}"
        f" and writer version {protocol.min_writer_version}"
    )


# === Anything else ===


def _tell_actions(summary: CommitSummary, _metrics: Facts, _parameters: Facts) -> str:
    """Tell what the actions did, where the operation's name says nothing to us."""
    parts = []
    if summary.num_added_files:
        parts.append(
            f"added {counted(summary.num_added_files, 'file')}"
            f"{_bytes(summary.added_bytes)}"
        )
    if summary.num_removed_files:
        parts.append(f"removed {counted(summary.num_removed_files, 'file')}")
    if summary.metadata is not None:
        parts.append("set the table's metadata")
    if summary.protocol is not None:
        parts.append("set the protocol")
    if summary.transactions and not parts:
        parts.append("noted how far an application has come")
    if not parts:
        return "changed no file and no metadata"
    text = _joined(parts)
    if not summary.data_change and summary.num_added_files + summary.num_removed_files:
        text += "; no row changed"
    return text


# === Words ===


def _where(parameters: Facts) -> str:
    predicate = parameters.parsed("predicate")
    if isinstance(predicate, list):
        predicate = " AND ".join(str(part) for part in predicate[:MAX_NAMED])
    if not isinstance(predicate, str) or not predicate.strip("[]() "):
        return ""
    return f" where {_without_quotes(shorten(predicate))}"


def _without_quotes(predicate: str) -> str:
    """Return a predicate without quotes around names and parentheses around all."""
    text = predicate.replace("`", "").strip('"')
    while text.startswith("(") and _closing(text) == len(text) - 1:
        text = text[1:-1].strip()
    same = _SAME_COLUMN.fullmatch(text)
    return same[1] if same else text


def _closing(text: str) -> int:
    """Where the parenthesis closes that `text` starts with; -1 where it does not."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if not depth:
            return position
    return -1


def _bytes(size_bytes: int) -> str:
    return f" ({size_text(size_bytes)})" if size_bytes else ""


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _named(names: list[str]) -> str:
    shown = [shorten(name) for name in names[:MAX_NAMED]]
    if len(names) > MAX_NAMED:
        shown.append(f"{len(names) - MAX_NAMED:,} more")
    return _joined(shown)


def _column_names(value: Any) -> list[str]:  # noqa: ANN401 (any JSON)
    """Take the column names out of any of the shapes that writers use."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return []
    names = []
    for entry in value:
        column = entry.get("column", entry) if isinstance(entry, dict) else entry
        if isinstance(column, dict) and isinstance(column.get("name"), str):
            type_name = column.get("type")
            simple = isinstance(type_name, str)
            names.append(f"{column['name']} {type_name}" if simple else column["name"])
        elif isinstance(column, str):
            names.append(column)
    return names


_Teller = Callable[[CommitSummary, Facts, Facts], str]
_WORDS: Final[dict[str, _Teller]] = {
    "WRITE": _tell_write,
    "STREAMING UPDATE": _tell_write,
    "COPY INTO": _tell_write,
    "MERGE": _tell_merge,
    "UPDATE": _tell_update,
    "DELETE": _tell_delete,
    "TRUNCATE": _tell_truncate,
    "OPTIMIZE": _tell_optimize,
    "VACUUM START": _tell_vacuum_start,
    "VACUUM END": _tell_vacuum_end,
    "RESTORE": _tell_restore,
    "CREATE TABLE": _tell_create,
    "CREATE TABLE AS SELECT": _tell_create,
    "CREATE OR REPLACE TABLE": _tell_replace,
    "CREATE OR REPLACE TABLE AS SELECT": _tell_replace,
    "REPLACE TABLE": _tell_replace,
    "REPLACE TABLE AS SELECT": _tell_replace,
    "ADD COLUMNS": _tell_add_columns,
    "ADD COLUMN": _tell_add_columns,
    "DROP COLUMNS": _tell_drop_columns,
    "RENAME COLUMN": _tell_rename_column,
    "CHANGE COLUMN": _tell_change_column,
    "CHANGE COLUMNS": _tell_change_column,
    "SET TBLPROPERTIES": _tell_set_properties,
    "UNSET TBLPROPERTIES": _tell_unset_properties,
    "ADD CONSTRAINT": _tell_add_constraint,
    "DROP CONSTRAINT": _tell_drop_constraint,
    "UPGRADE PROTOCOL": _tell_protocol,
    "ADD FEATURE": _tell_protocol,
}
