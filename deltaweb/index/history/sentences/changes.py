"""What a commit did, in plain words.

The sentence stands beside the operation's name, its user and its time on a page, so
it repeats none of them: "Updated 41 rows and inserted 3, matching on id; rewrote 312
files (9.1 GiB), 5,200 rows written for each one changed."
"""

from collections.abc import Callable
from typing import Final

from deltaweb.delta.log.commits.summary import CommitSummary
from deltaweb.index.history.sentences import definitions as definition
from deltaweb.index.history.sentences.commit_facts import Facts, shorten
from deltaweb.index.history.sentences.words import (
    condition,
    in_bytes,
    joined,
    matched,
    named,
    where,
)
from deltaweb.words import counted

AMPLIFICATION_SHOWN: Final = 10  # rows written for one changed row; less is no news


def commit_sentence(summary: CommitSummary, parameters: Facts | None = None) -> str:
    """Say in one plain sentence what a commit did.

    Known operations of Spark and delta-rs have words of their own; any other commit
    is described by what its actions did. Metrics win over counts where they say more.

    Args:
        summary: The commit; its metrics and parameters may hold anything.
        parameters: Its parameters, where others of the same have been read before.

    Returns:
        A sentence that starts with a capital letter and ends with a full stop.
    """
    if summary.fault is not None:
        return f"This commit cannot be read: {shorten(summary.fault)}."
    operation = summary.operation
    say = _WORDS.get(operation)
    if say is None:
        say = _WORDS.get(operation.strip().upper(), _say_actions)
    if parameters is None:
        parameters = Facts(summary.parameters)
    text = say(summary, Facts(summary.metrics), parameters)
    return f"{text[0].upper()}{text[1:]}."


# === Rows ===


def _say_write(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    rows = metrics.number("numOutputRows", "num_added_rows")
    rows = summary.added_rows if rows is None else rows
    mode = parameters.text("mode").lower()
    if not summary.num_added_files and not summary.num_removed_files:
        return "wrote nothing" if summary.metadata is None else "set up the table"
    if mode == "overwrite":
        replaced = condition(parameters, "replaceWhere", "predicate")
        text = "overwrote the table with"
        if replaced:
            text = f"replaced the rows where {replaced} with"
    elif mode == "append" or not summary.num_removed_files:
        text = "appended"
    else:
        text = "wrote"
    new = (
        f"{counted(summary.num_added_files, 'new file')}{in_bytes(summary.added_bytes)}"
    )
    text += f" {new}" if rows is None else f" {counted(rows, 'row')} in {new}"
    if summary.num_removed_files:
        text += f"; removed {counted(summary.num_removed_files, 'file')}"
    return text


def _say_merge(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
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
    text = joined([parts[0], *(part.rpartition(" ")[0] for part in parts[1:])])
    predicate = condition(parameters, "predicate", "mergePredicate")
    if predicate:
        text += f", matching on {matched(predicate)}"
    changed = (updated or 0) + (inserted or 0) + (deleted or 0)
    written = changed - (deleted or 0)
    return text + _rewriting(summary, metrics, changed, written=written)


def _say_update(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    updated = metrics.number("numUpdatedRows")
    text = "updated rows" if updated is None else f"updated {counted(updated, 'row')}"
    text += where(parameters)
    return text + _rewriting(summary, metrics, updated or 0, written=updated or 0)


def _say_delete(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    deleted = metrics.number("numDeletedRows")
    if deleted is None and not summary.num_added_files:
        deleted = summary.removed_rows
    text = "deleted rows" if deleted is None else f"deleted {counted(deleted, 'row')}"
    text += where(parameters)
    if summary.num_removed_files and not summary.num_added_files:
        return f"{text}: {counted(summary.num_removed_files, 'whole file')}"
    return text + _rewriting(summary, metrics, deleted or 0, written=0)


def _say_truncate(summary: CommitSummary, _metrics: Facts, _parameters: Facts) -> str:
    return f"emptied the table: {counted(summary.num_removed_files, 'file')} removed"


def _rewriting(
    summary: CommitSummary, metrics: Facts, changed: int, *, written: int
) -> str:
    """Say of the files that were rewritten, and of rows copied with them."""
    marked = _marked_files(summary, metrics)
    if marked:
        return _marking(marked, summary)
    if not summary.num_removed_files:
        if not summary.num_added_files:
            return ""
        new = counted(summary.num_added_files, "new file")
        return f"; wrote {new}{in_bytes(summary.added_bytes)}"
    size = summary.removed_bytes
    rewritten = counted(summary.num_removed_files, "file")
    text = f"; rewrote {rewritten}{in_bytes(size or 0)}"
    copied = metrics.number("numCopiedRows", "numTargetRowsCopied")
    if changed and copied is not None:
        ratio = (copied + written) // changed
        if ratio >= AMPLIFICATION_SHOWN:
            text += f", {ratio:,} rows written for each one changed"
    return text


def _marked_files(summary: CommitSummary, metrics: Facts) -> int:
    """Count the files that stay, with rows marked as deleted.

    Such a file is removed and added again, with another deletion vector. Spark counts
    a changed vector both as added and as updated.
    """
    most = min(summary.num_added_files, summary.num_removed_files)
    if not most:
        return 0
    marked = metrics.number(
        "numDeletionVectorsAdded", "numTargetDeletionVectorsAdded"
    ) or metrics.number("numDeletionVectorsUpdated", "numTargetDeletionVectorsUpdated")
    return min(marked or 0, most)


def _marking(marked: int, summary: CommitSummary) -> str:
    """Say of files whose rows were marked, and of those beside them.

    The sizes of the commit hold those of the marked files too, so they show nothing.
    """
    parts = [f"marked rows of {counted(marked, 'file')} as deleted"]
    new = summary.num_added_files - marked
    gone = summary.num_removed_files - marked
    if gone:
        parts.append(f"{'rewrote' if new else 'removed'} {counted(gone, 'file')}")
    elif new:
        parts.append(f"wrote {counted(new, 'new file')}")
    return f"; {joined(parts)}"


# === Files ===


def _say_optimize(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    removed = metrics.number("numRemovedFiles", "numFilesRemoved")
    added = metrics.number("numAddedFiles", "numFilesAdded")
    removed = summary.num_removed_files if removed is None else removed
    added = summary.num_added_files if added is None else added
    if not removed and not added:
        return "found nothing to compact"
    if not summary.num_removed_files and not summary.data_change:
        return _say_actions(summary, metrics, parameters)  # other texts of values
    text = f"compacted {counted(removed, 'file')} into {added:,}"
    text += in_bytes(summary.added_bytes)
    columns = parameters.parsed("zOrderBy", "clusterBy")
    if isinstance(columns, list) and columns:
        text += f", ordered by {named([str(column) for column in columns])}"
    return text if summary.data_change else f"{text}; no row changed"


def _say_reorg(summary: CommitSummary, _metrics: Facts, _parameters: Facts) -> str:
    if not summary.num_removed_files:
        return "found no file to rewrite"
    old = f"{counted(summary.num_removed_files, 'file')}"
    if summary.removed_bytes:
        old += in_bytes(summary.removed_bytes)
    new = f"{summary.num_added_files:,}{in_bytes(summary.added_bytes)}"
    text = f"rewrote {old} into {new}"
    return text if summary.data_change else f"{text}; no row changed"


def _say_vacuum_start(
    _summary: CommitSummary, metrics: Facts, _parameters: Facts
) -> str:
    count = metrics.number("numFilesToDelete")
    if count is None:
        return "began to delete files that no kept version needs"
    size = metrics.number("sizeOfDataToDelete")
    return f"began to delete {counted(count, 'unneeded file')}{in_bytes(size or 0)}"


def _say_vacuum_end(_summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    if parameters.text("status").upper() == "FAILED":
        return "stopped deleting unneeded files: the VACUUM failed"
    count = metrics.number("numDeletedFiles")
    if count is None:
        return "deleted files that no kept version needs"
    if not count:
        return "deleted no file"
    return (
        f"deleted {counted(count, 'unneeded file')};"
        " older versions that need them can no longer be read in full"
    )


def _say_restore(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    version = parameters.text("version")
    moment = parameters.text("timestamp", "datetime")
    target = f"version {version}" if version else f"the state of {moment or 'before'}"
    back = metrics.number("numRestoredFiles", "numRestoredFile")
    gone = metrics.number("numRemovedFiles", "numRemovedFile")
    back = summary.num_added_files if back is None else back
    gone = summary.num_removed_files if gone is None else gone
    return f"restored {target}: {counted(back, 'file')} restored, {gone:,} removed"


def _say_undo(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    back = metrics.number("numRestoredFiles")
    gone = metrics.number("numRemovedFiles")
    back = summary.num_added_files if back is None else back
    gone = summary.num_removed_files if gone is None else gone
    version = parameters.text("version")
    undone = f"version {version}" if version else "a commit"
    return f"undid {undone}: {counted(back, 'file')} restored, {gone:,} removed"


# === Anything else ===


def _say_actions(summary: CommitSummary, _metrics: Facts, _parameters: Facts) -> str:
    """Say what the actions did, where the operation's name says nothing to us."""
    parts = []
    is_same_data = summary.num_added_files and not summary.data_change
    if is_same_data and not summary.num_removed_files:
        # Files that add no row are those of the table, with other facts.
        files = counted(summary.num_added_files, "file")
        parts.append(f"rewrote the log entries of {files}")
    elif summary.num_added_files:
        parts.append(
            f"added {counted(summary.num_added_files, 'file')}"
            f"{in_bytes(summary.added_bytes)}"
        )
    if summary.num_removed_files:
        parts.append(f"removed {counted(summary.num_removed_files, 'file')}")
    if summary.metadata is not None:
        parts.append("set the table's metadata")
    if summary.protocol is not None:
        parts.append("set the protocol")
    if summary.has_transactions and not parts:
        parts.append("recorded the progress of an application")
    if not parts:
        return "changed no file and no metadata"
    text = joined(parts)
    if not summary.data_change and summary.num_added_files + summary.num_removed_files:
        text += "; no row changed"
    return text


_Say = Callable[[CommitSummary, Facts, Facts], str]
_WORDS: Final[dict[str, _Say]] = {
    "WRITE": _say_write,
    "STREAMING UPDATE": _say_write,
    "COPY INTO": _say_write,
    "MERGE": _say_merge,
    "UPDATE": _say_update,
    "DELETE": _say_delete,
    "TRUNCATE": _say_truncate,
    "OPTIMIZE": _say_optimize,
    "VACUUM START": _say_vacuum_start,
    "VACUUM END": _say_vacuum_end,
    "REORG": _say_reorg,
    "RESTORE": _say_restore,
    "UNDO": _say_undo,
    "CREATE TABLE": definition.say_create,
    "CREATE TABLE AS SELECT": definition.say_create,
    "CREATE OR REPLACE TABLE": definition.say_replace,
    "CREATE OR REPLACE TABLE AS SELECT": definition.say_replace,
    "REPLACE TABLE": definition.say_replace,
    "REPLACE TABLE AS SELECT": definition.say_replace,
    "ADD COLUMNS": definition.say_add_columns,
    "ADD COLUMN": definition.say_add_columns,
    "DROP COLUMNS": definition.say_drop_columns,
    "RENAME COLUMN": definition.say_rename_column,
    "CHANGE COLUMN": definition.say_change_column,
    "CHANGE COLUMNS": definition.say_change_column,
    "SET TBLPROPERTIES": definition.say_set_properties,
    "UNSET TBLPROPERTIES": definition.say_unset_properties,
    "ADD CONSTRAINT": definition.say_add_constraint,
    "DROP CONSTRAINT": definition.say_drop_constraint,
    "CLUSTER BY": definition.say_cluster,
    "CONVERT": definition.say_convert,
    "DROP FEATURE": definition.say_drop_feature,
    "UPGRADE PROTOCOL": definition.say_protocol,
    "ADD FEATURE": definition.say_protocol,
}
