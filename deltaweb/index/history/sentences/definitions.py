"""What a commit changed of a table's definition, in plain words."""

from deltaweb.delta.log.commits.summary import CommitSummary
from deltaweb.delta.protocol.column_path import split_paths
from deltaweb.index.history.sentences.commit_facts import Facts, shorten
from deltaweb.index.history.sentences.words import column_names, in_bytes, named
from deltaweb.words import counted


def say_create(summary: CommitSummary, metrics: Facts, parameters: Facts) -> str:
    """Say of a new table."""
    text = "created the table"
    partitions = parameters.parsed("partitionBy", "partitionColumns")
    if isinstance(partitions, list) and partitions:
        text += f", partitioned by {named([str(name) for name in partitions])}"
    return text + _with_rows(summary, metrics)


def say_replace(summary: CommitSummary, metrics: Facts, _parameters: Facts) -> str:
    """Say of a table that was defined again."""
    text = "replaced the table's definition and data" + _with_rows(summary, metrics)
    if summary.num_removed_files:
        text += f"; removed {counted(summary.num_removed_files, 'file')}"
    return text


def _with_rows(summary: CommitSummary, metrics: Facts) -> str:
    if not summary.num_added_files:
        return ""
    rows = metrics.number("numOutputRows", "num_added_rows")
    rows = summary.added_rows if rows is None else rows
    new = f"{counted(summary.num_added_files, 'file')}{in_bytes(summary.added_bytes)}"
    return f" with {new}" if rows is None else f" with {counted(rows, 'row')} in {new}"


def say_add_columns(_summary: CommitSummary, _metrics: Facts, parameters: Facts) -> str:
    names = column_names(parameters.parsed("columns", "fields", "column"))
    if not names:
        return "added columns"
    return f"added the column{'s' if len(names) > 1 else ''} {named(names)}"


def say_drop_columns(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    names = column_names(parameters.parsed("columns", "column"))
    return f"dropped {named(names)}" if names else "dropped columns"


def say_rename_column(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    old = parameters.text("oldColumnPath", "oldColumnName")
    new = parameters.text("newColumnPath", "newColumnName")
    return f"renamed {old} to {new}" if old and new else "renamed a column"


def say_change_column(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    names = column_names(parameters.parsed("columns", "column"))
    wide = parameters.text("type")
    if wide and len(names) == 1:
        return f"made {named(names)} {wide}"
    if not names:
        return "changed a column"
    return f"changed the column{'s' if len(names) > 1 else ''} {named(names)}"


def say_set_properties(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    properties = parameters.parsed("properties")
    if not isinstance(properties, dict) or not properties:
        return "set table properties"
    return f"set {named([f'{key} = {value}' for key, value in properties.items()])}"


def say_unset_properties(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    """Say of properties that were taken away."""
    properties = parameters.parsed("properties")
    if not isinstance(properties, (list, dict)) or not properties:
        return "unset table properties"
    return f"unset {named([str(key) for key in properties])}"


def say_add_constraint(
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


def say_drop_constraint(
    _summary: CommitSummary, _metrics: Facts, parameters: Facts
) -> str:
    name = parameters.text("name", "constraint")
    return f"dropped the constraint {name}" if name else "dropped a constraint"


def say_cluster(summary: CommitSummary, _metrics: Facts, parameters: Facts) -> str:
    old, new = (
        split_paths(parameters.text(key))
        for key in ("oldClusteringColumns", "newClusteringColumns")
    )
    if new:
        text = f"clustered the table by {named(new)}"
        return f"{text}, no longer by {named(old)}" if old else text
    if old:
        return f"ended the clustering by {named(old)}"
    return "set the table's metadata" if summary.metadata else "changed the clustering"


def say_convert(summary: CommitSummary, _metrics: Facts, parameters: Facts) -> str:
    """Say of a folder of files that became a table."""
    source = "Parquet file"
    if parameters.text("sourceFormat").lower() not in {"", "parquet"}:
        source = "data file"
    files = counted(summary.num_added_files, source)
    return f"made a Delta table of {files}{in_bytes(summary.added_bytes)}"


def say_drop_feature(summary: CommitSummary, _metrics: Facts, parameters: Facts) -> str:
    """Say of a dropped table feature, or of a step on the way there."""
    feature = parameters.text("featureName", "name")
    if feature:
        return f"dropped the table feature {feature}"
    names = column_names(parameters.parsed("columns"))
    if names:
        return f"made {named(names)} ready for dropping a table feature"
    return "set the table's metadata" if summary.metadata else "dropped a table feature"


def say_protocol(summary: CommitSummary, _metrics: Facts, parameters: Facts) -> str:
    features = parameters.parsed("name", "feature")
    protocol = summary.protocol
    if isinstance(features, (list, str)) and features:
        listed = features if isinstance(features, list) else [features]
        return f"turned on the table feature {named([str(name) for name in listed])}"
    if protocol is None:
        return "changed the protocol"
    return (
        f"raised the protocol to reader version {protocol.min_reader_version}"
        f" and writer version {protocol.min_writer_version}"
    )
