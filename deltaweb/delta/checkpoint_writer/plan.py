"""What a checkpoint will hold, and in which files: decided before it is written."""

from dataclasses import dataclass
from typing import Final

from deltaweb.delta.checkpoint import CheckpointReader
from deltaweb.delta.checkpoint_writer.attempts import of_checkpoint
from deltaweb.delta.checkpoint_writer.checkpoint_schema import CheckpointLayout
from deltaweb.delta.checkpoint_writer.commit_facts import CommitFacts, bring_up_to
from deltaweb.delta.checkpoint_writer.file_rows import RowShaper
from deltaweb.delta.checkpoint_writer.older_checkpoint import (
    checkpoint_extras,
    count_rows,
)
from deltaweb.delta.checkpoint_writer.present_parts import check_way
from deltaweb.delta.checkpoint_writer.rare_actions import RareActions
from deltaweb.delta.checkpoint_writer.request import MAX_PARTS, CheckpointRequest
from deltaweb.delta.checkpoint_writer.stats_columns import partition_type, stats_type
from deltaweb.delta.commit_times import to_ms
from deltaweb.delta.errors import SchemaMissingError
from deltaweb.delta.log_path import checkpoint_name, checkpoint_part_names
from deltaweb.delta.log_segment import LogSegment
from deltaweb.delta.log_store import LogStore
from deltaweb.delta.partition_keys import (
    PartitionKeys,
    partition_keys,
    possible_keys,
)
from deltaweb.delta.schema import parse_schema
from deltaweb.delta.table_features import log_writing_refusal
from deltaweb.delta.table_properties import (
    deleted_file_retention_ms,
    writes_stats_as_json,
    writes_stats_as_struct,
)

OPERATION: Final = "no checkpoint"


@dataclass(frozen=True, slots=True)
class CheckpointPlan:
    """What a checkpoint will hold, and in which files.

    Attributes:
        names: Its files in the log.
        state: The actions that it has one of, or few.
        shaper: Brings file actions to its columns.
        num_actions: File actions that there are to read; more than it will hold.
        partition_keys: The keys of the partition values of commits.
    """

    names: tuple[str, ...]
    state: RareActions
    shaper: RowShaper
    num_actions: int
    partition_keys: PartitionKeys


def open_checkpoint(store: LogStore, segment: LogSegment) -> CheckpointReader | None:
    """Open the checkpoint that a segment starts from; None without one.

    Raises:
        UnreadableCheckpointError: If its footers do not read.
    """
    if segment.checkpoint is None:
        return None
    with of_checkpoint(segment.checkpoint):
        return CheckpointReader(store, segment.checkpoint)


def make_plan(
    store: LogStore,
    segment: LogSegment,
    older: CheckpointReader | None,
    facts: CommitFacts,
    request: CheckpointRequest,
) -> CheckpointPlan:
    """Decide what the checkpoint of a segment's version will be.

    Args:
        store: The table's log.
        segment: The files of the log that build the version.
        older: The checkpoint among them.
        facts: What the commits among them say.
        request: What is wanted.

    Raises:
        DeltaError: If the table may not get a checkpoint from us.
        UnreadableCheckpointError: If `older` turns out broken.
    """
    known = _known_state(segment, older)
    state = bring_up_to(known, facts, version=segment.version, root=store.root)
    refusal = log_writing_refusal(
        state.protocol,
        state.metadata,
        root=store.root,
        version=segment.version,
        operation=OPERATION,
    )
    if refusal is not None:
        raise refusal
    extras = facts.extras | state.extras()
    if older is not None:
        with of_checkpoint(segment.checkpoint):
            extras |= checkpoint_extras(older)
    num_actions = facts.num_actions + (0 if older is None else count_rows(older))
    names = _names(segment.version, request, num_actions)
    check_way(store, segment.version, names)
    return CheckpointPlan(
        names=names,
        state=state,
        shaper=_shaper(store, segment, state, frozenset(extras), request),
        num_actions=num_actions,
        partition_keys=_partition_keys(state, known, facts),
    )


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
    schema = parse_schema(metadata.schema_string)
    columns = tuple(dict.fromkeys(metadata.partition_columns))
    is_typed = writes_stats_as_struct(configuration)
    layout = CheckpointLayout(
        extras=extras,
        has_json_stats=writes_stats_as_json(configuration),
        stats_type=stats_type(schema, columns) if is_typed else None,
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
    )


def _names(
    version: int, request: CheckpointRequest, num_actions: int
) -> tuple[str, ...]:
    if request.is_single:
        return (checkpoint_name(version),)
    parts = request.parts or -(-num_actions // (request.rows_per_part or 1)) or 1
    return checkpoint_part_names(version, min(parts, MAX_PARTS))
