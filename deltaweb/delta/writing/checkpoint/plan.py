"""What a checkpoint will hold, and in which files: decided before it is written."""

from dataclasses import dataclass, replace
from typing import Final
from uuid import uuid4

from deltaweb.delta.errors import SchemaMissingError
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.features.registry import log_writing_refusal
from deltaweb.delta.features.v2_checkpoints import V2_CHECKPOINT, wants_second_spec
from deltaweb.delta.log.checkpoints.attempts import of_checkpoint
from deltaweb.delta.log.checkpoints.reader import CheckpointReader
from deltaweb.delta.log.commits.partition_keys import (
    PartitionKeys,
    partition_keys,
    possible_keys,
)
from deltaweb.delta.log.commits.times import to_ms
from deltaweb.delta.log.paths import (
    checkpoint_name,
    checkpoint_part_names,
    uuid_checkpoint_name,
)
from deltaweb.delta.log.segment import LogSegment
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.actions import Protocol
from deltaweb.delta.protocol.schema import stored_schema
from deltaweb.delta.protocol.table_properties import (
    deleted_file_retention_ms,
    writes_stats_as_json,
    writes_stats_as_struct,
)
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.checkpoint.announce import is_second_spec, new_sidecar_names
from deltaweb.delta.writing.checkpoint.checkpoint_schema import VECTOR, CheckpointLayout
from deltaweb.delta.writing.checkpoint.file_rows import RowShaper
from deltaweb.delta.writing.checkpoint.older_checkpoint import (
    checkpoint_extras,
    count_rows,
)
from deltaweb.delta.writing.checkpoint.present_parts import check_way
from deltaweb.delta.writing.checkpoint.rare_actions import (
    CommitFacts,
    RareActions,
    bring_up_to,
)
from deltaweb.delta.writing.checkpoint.request import MAX_PARTS, CheckpointRequest
from deltaweb.delta.writing.checkpoint.stats_columns import partition_type, stats_type

OPERATION: Final = "no checkpoint"


@dataclass(frozen=True, slots=True)
class CheckpointPlan:
    """What a checkpoint will hold, and in which files.

    Attributes:
        names: Its files in the log: those with its file actions.
        manifest: The file that names these; None where they are the checkpoint.
        num_actions: File actions that there are to read; more than it will hold.
    """

    names: tuple[str, ...]
    manifest: str | None
    state: RareActions
    shaper: RowShaper
    num_actions: int
    partition_keys: PartitionKeys


def open_checkpoint(store: LogStore, segment: LogSegment) -> CheckpointReader | None:
    """Open the checkpoint that a segment starts from; None without one."""
    if segment.checkpoint is None:
        return None
    with of_checkpoint(segment.checkpoint):
        return CheckpointReader(store, segment.checkpoint)


def check_checkpoint(store: LogStore, definition: Definition) -> None:
    """Refuse a table that may not get a checkpoint from us."""
    refusal = log_writing_refusal(
        definition.protocol,
        definition.metadata,
        root=store.root,
        version=definition.version,
        operation=OPERATION,
    )
    if refusal is not None:
        raise refusal


def make_plan(
    store: LogStore,
    segment: LogSegment,
    older: CheckpointReader | None,
    facts: CommitFacts,
    request: CheckpointRequest,
) -> CheckpointPlan:
    """Decide what the checkpoint of a segment's version will be."""
    known = _known_state(segment, older)
    state = bring_up_to(known, facts, version=segment.version, root=store.root)
    check_checkpoint(store, Definition(segment.version, state.protocol, state.metadata))
    extras = facts.extras | state.extras()
    if older is not None:
        with of_checkpoint(segment.checkpoint):
            extras |= checkpoint_extras(older)
    num_actions = facts.num_actions + (0 if older is None else count_rows(older))
    names, manifest = _names(segment.version, state, request, num_actions)
    check_way(store, segment.version, names)
    shaper = _shaper(store, segment, state, frozenset(extras), request)
    if is_second_spec(names[0]):
        layout = replace(
            shaper.layout, version=segment.version, has_sidecars=manifest is not None
        )
        shaper = replace(shaper, layout=layout)
    return CheckpointPlan(
        names=names,
        manifest=manifest,
        state=state,
        shaper=shaper,
        num_actions=num_actions,
        partition_keys=_partition_keys(state, known, facts),
    )


def has_feature(protocol: Protocol, name: str) -> bool:
    """Return whether a protocol lists a feature of readers and writers."""
    return name in (protocol.reader_features or ())


def _known_state(
    segment: LogSegment, older: CheckpointReader | None
) -> RareActions | None:
    """Read the rare actions of the older checkpoint; None without one."""
    if older is None:
        return None
    with of_checkpoint(segment.checkpoint):
        protocol, metadata = older.protocol_and_metadata(reads_ahead=False)
        return RareActions(
            protocol=protocol,
            metadata=metadata,
            transactions=older.transactions(),
            domains=older.domains(),
        )


def _partition_keys(
    state: RareActions, known: RareActions | None, facts: CommitFacts
) -> PartitionKeys:
    """Return the keys of partition values: those in force, and all there have been."""
    required = partition_keys(state.protocol, state.metadata)
    before = [] if known is None else possible_keys(known.metadata)
    possible = dict.fromkeys([*required, *before, *facts.partition_keys])
    return PartitionKeys(tuple(possible), tuple(required))


def _shaper(
    store: LogStore,
    segment: LogSegment,
    state: RareActions,
    extras: frozenset[str],
    request: CheckpointRequest,
) -> RowShaper:
    metadata, configuration = state.metadata, state.metadata.configuration
    if metadata.schema_string is None:
        raise SchemaMissingError(root=store.root, version=segment.version)
    # What a checkpoint types has the names that the log has.
    schema = stored_schema(table_schema(state.protocol, metadata))
    columns = tuple(partition_keys(state.protocol, metadata))
    is_typed = writes_stats_as_struct(configuration)
    has_vectors = f"add.{VECTOR}" in extras
    stats = stats_type(schema, columns, has_vectors=has_vectors)
    layout = CheckpointLayout(
        extras=extras,
        has_json_stats=writes_stats_as_json(configuration),
        stats_type=stats if is_typed else None,
        partition_type=partition_type(schema, columns) if is_typed else None,
    )
    retention_ms = deleted_file_retention_ms(configuration)
    return RowShaper(
        layout=layout,
        schema=schema,
        partition_columns=columns,
        oldest_ms=to_ms(request.now) - retention_ms,
        root=store.root,
        version=segment.version,
        allows_vectors=DELETION_VECTORS in (state.protocol.writer_features or ()),
    )


def _names(
    version: int, state: RareActions, request: CheckpointRequest, num_actions: int
) -> tuple[tuple[str, ...], str | None]:
    """Return the files with file actions, and the one that names them if that is so.

    Tables with the feature may not have checkpoints in parts.
    """
    parts = 1
    if not request.is_single:
        parts = request.parts or -(-num_actions // (request.rows_per_part or 1)) or 1
    parts = min(parts, MAX_PARTS)
    if has_feature(state.protocol, V2_CHECKPOINT):
        wants_second = wants_second_spec(state.metadata.configuration)
        if parts > 1:
            manifest = uuid_checkpoint_name(version, str(uuid4()), ".json")
            return new_sidecar_names(parts), manifest
        if wants_second or not request.is_single:
            return (uuid_checkpoint_name(version, str(uuid4()), ".parquet"),), None
    if request.is_single:
        return (checkpoint_name(version),), None
    return checkpoint_part_names(version, parts), None
