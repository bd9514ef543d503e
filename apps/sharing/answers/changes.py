"""The changes of one shared table: its feed, and the files of a stream.

Source: delta_sharing_protocol_2026.md, "Read Change Data Feed from a Table" and "Read
Data from a Table" (startingVersion).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Final

from apps.sharing.access.grants.changed import offered_changes, offered_range
from apps.sharing.access.grants.prepared import location_of
from apps.sharing.access.grants.rules import TableRule, rule_for
from apps.sharing.answers.opening import (
    check_history,
    check_start,
    naming_shared_versions,
    open_shared,
)
from apps.sharing.answers.paging import ChangesStart, paging_of
from apps.sharing.answers.signed_lines import (
    SigningPlan,
    open_plan,
    signed_changes,
)
from apps.sharing.answers.tables import FilesAnswer
from apps.sharing.models import SharedTable
from deltaweb.delta.errors import VersionNotFoundError
from deltaweb.delta.feed.feed_files import FeedFiles
from deltaweb.delta.feed.row_schema import feed_schema, schema_of
from deltaweb.delta.feed.versions import (
    VersionRange,
    find_range,
    has_feed,
    shown_definition,
)
from deltaweb.delta.snapshot.state import Definition, load_definition
from deltaweb.index.query.change_selection import (
    ChangeFacts,
    ChangePlace,
    ChangeSelection,
)
from deltaweb.sharing.capabilities import Capabilities
from deltaweb.sharing.compatibility import misreadings
from deltaweb.sharing.errors import (
    FileOutsideTableError,
    FilesVacuumedError,
    RuledChangesError,
)
from deltaweb.sharing.narrowed import narrowed
from deltaweb.sharing.plain import plain_form
from deltaweb.sharing.query_tokens import head_digest
from deltaweb.sharing.response_format import ResponseFormat, choose_format
from deltaweb.sharing.table_query import ChangesQuery
from deltaweb.sharing.wire.delta import covering_protocol
from deltaweb.sharing.wire.lines import TableFacts
from deltaweb.sharing.wire.partition_values import instant_columns
from deltaweb.storage.location import normalize_location
from deltaweb.table import DeltaTable

MAX_HELD_FILES: Final = 100_000  # of a page, which is held in memory


def table_changes(
    shared: SharedTable,
    query: ChangesQuery,
    *,
    capabilities: Capabilities,
    signing: SigningPlan,
) -> FilesAnswer:
    """Return the files with the changes of some versions, or a page of them."""
    check_history(shared)
    rule = rule_for(shared, signing.token.recipient)
    check_start(shared, query.starting_version)
    paging = paging_of(shared, rule, query, capabilities=capabilities, signing=signing)
    start = paging.start(ChangesStart)
    table = open_shared(shared)
    are_rewritten = is_rewritten(rule, table)
    with naming_shared_versions(shared):
        versions = _find_range(table, query, start)
    check_start(shared, versions.first)
    if are_rewritten:
        ends = (query.ending_version, query.ending_timestamp)
        # The end of a stream is but a hint.
        is_open = start is None and (ends == (None, None) or not query.with_feed)
        versions = offered_range(shared, rule, versions, is_open=is_open)
    changes = FeedFiles(table.store, versions, with_feed=query.with_feed)
    seen = [
        _narrowed(rule, table.root, at, is_plain=rule.is_plain and are_rewritten)
        for at in changes.definitions
    ]
    if are_rewritten:
        shown = seen[0]
        if not query.with_old_metadata:
            shown = _shown_part(rule, table, changes.definitions, versions, start)
        offered = offered_changes(
            shared, rule, versions, seen, with_feed=query.with_feed, now=signing.now
        )
        selection = ChangeSelection(
            changes=offered,
            root=normalize_location(location_of(shared.id)),
            schema=schema_of(table.root, shown),
        )
    else:
        shown = _narrowed(
            rule, table.root, _shown(table, changes, query, start), is_plain=False
        )
        selection = _select(rule, changes, (table.root, shown), query)
    following, place = None, ChangePlace(versions.first)
    if start is None:
        facts = selection.facts()
        _check_files(shared, rule, facts)
        has_vectors = facts.has_deletion_vectors
    else:
        place, has_vectors = start.place, start.has_deletion_vectors
    if query.page.is_paged:
        max_files = min(query.page.max_files or MAX_HELD_FILES, MAX_HELD_FILES)
        selection, following = selection.page(place, max_files)
        facts = selection.facts()
        _check_files(shared, rule, facts)
    chosen = _format(
        shared, [*seen, shown], capabilities, has_deletion_vectors=has_vectors
    )
    head, later = _head_lines(seen, shown, query, chosen)
    paging.check_head(start, head_digest(head))
    signers = open_plan(shared, signing, rule)
    signer = signers.prepared if are_rewritten else signers.own
    lines = signed_changes(
        selection, chosen, signer=signer, instants=_instants(shared, seen)
    )
    first = next(lines, b"")  # what is wrong with all of them becomes the status
    page = None
    if following is not None:
        page = ChangesStart(
            first=versions.first,
            last=versions.last,
            shown=shown.version,
            place=following,
            has_deletion_vectors=has_vectors,
            head=head_digest(head),
        )
    expires_at = signer.expires_at if facts.num_files else None
    return FilesAnswer(
        version=versions.first,
        response_format=chosen,
        lines=chain([head + (later if start is None else b"") + first], lines),
        num_files=facts.num_files,
        total_files=facts.total_files,
        size_bytes=facts.size_bytes,
        skipped_hints=(),
        end=paging.end(page, expires_at=expires_at),
        last_version=versions.last if following is None else None,
    )


def _shown(
    table: DeltaTable,
    changes: FeedFiles,
    query: ChangesQuery,
    start: ChangesStart | None,
) -> Definition:
    """Return the version in whose schema the changes are shown, on every page alike."""
    if query.with_old_metadata:
        return changes.definitions[0]
    if start is None:
        return changes.shown()
    return load_definition(table.store, start.shown)


def _find_range(
    table: DeltaTable, query: ChangesQuery, page: ChangesStart | None
) -> VersionRange:
    """Return the versions that are asked for; the end of a stream is but a hint."""
    times = table.commit_times()
    if page is not None:
        whole = (page.first, page.last)
        return find_range(table.root, times, versions=whole, timestamps=(None, None))
    newest, ending = times.versions[-1], query.ending_version
    start = query.starting_version
    if start is not None and start > newest:
        raise VersionNotFoundError(
            root=table.root, version=start, earliest=times.versions[0], latest=newest
        )
    if ending is not None and not query.with_feed:
        ending = min(ending, newest)
    return find_range(
        table.root,
        times,
        versions=(start, ending),
        timestamps=(query.starting_timestamp, query.ending_timestamp),
    )


def is_rewritten(rule: TableRule, table: DeltaTable) -> bool:
    """Return whether changes are offered by rewritten files alone."""
    return not (rule.is_stored or rule.leaves_whole_files(table.snapshot_metadata()))


def _shown_part(
    rule: TableRule,
    table: DeltaTable,
    known: Sequence[Definition],
    versions: VersionRange,
    start: ChangesStart | None,
) -> Definition:
    """Return the version in whose schema the changes of a part are shown, as told.

    Args:
        known: The definitions of the range, as the table has them.
    """
    if start is not None:
        found = load_definition(table.store, start.shown)
        return _narrowed(rule, table.root, found, is_plain=rule.is_plain)
    found = shown_definition(table.store, versions, known[-1])
    shown, *seen = (
        _narrowed(rule, table.root, at, is_plain=False) for at in (found, *known)
    )
    # Rewritten files have the names and types of their version.
    feed_schema(table.root, shown, seen, is_exact=rule.is_plain)
    return _narrowed(rule, table.root, found, is_plain=rule.is_plain)


def _narrowed(
    rule: TableRule, root: str, at: Definition, *, is_plain: bool
) -> Definition:
    """Return the definition of a version as a rule shows it.

    Args:
        is_plain: Whether its files are plain ones.
    """
    if rule.is_whole and not is_plain:
        return at
    schema = schema_of(root, at)
    visible = rule.visible(schema)
    metadata = narrowed(at.metadata, schema, visible.names)
    if not is_plain:
        return replace(at, metadata=metadata)
    form = plain_form(at.protocol, metadata, visible)
    return replace(at, protocol=form.protocol, metadata=form.metadata)


def _select(
    rule: TableRule,
    changes: FeedFiles,
    of_table: tuple[str, Definition],
    query: ChangesQuery,
) -> ChangeSelection:
    """Choose the files that are offered, each of them as it is."""
    root, shown = of_table
    schema = schema_of(root, shown)
    condition = rule.condition(schema) if rule.conditions else None
    return ChangeSelection(
        changes=changes,
        root=root,
        schema=schema,
        partition_filter=condition,
        reads_removed=query.with_feed,
    )


def _check_files(shared: SharedTable, rule: TableRule, facts: ChangeFacts) -> None:
    if rule.is_plain and facts.has_deletion_vectors:  # older versions may have them
        raise RuledChangesError(table=shared.full_name, is_plain=True)
    if facts.outside is not None:
        raise FileOutsideTableError(table=shared.full_name, path=facts.outside)
    if facts.missing is not None:
        raise FilesVacuumedError(version=facts.missing)


def _format(
    shared: SharedTable,
    versions: Sequence[Definition],
    capabilities: Capabilities,
    *,
    has_deletion_vectors: bool,
) -> ResponseFormat:
    """Return the format that the client reads all of the versions in."""
    found = dict.fromkeys(
        misreading
        for at in versions
        for misreading in misreadings(
            at.protocol,
            at.metadata,
            schema_of(shared.full_name, at),
            has_deletion_vectors=has_deletion_vectors,
        )
    )
    protocol = covering_protocol([at.protocol for at in versions])
    return choose_format(
        capabilities, [*found], protocol=protocol, table=shared.full_name
    )


def _instants(shared: SharedTable, versions: Sequence[Definition]) -> frozenset[str]:
    """Return the partition columns that are of instants in all of the versions."""
    found = [
        instant_columns(schema_of(shared.full_name, at), at.metadata.partition_columns)
        for at in versions
    ]
    return frozenset.intersection(*found)


def _head_lines(
    known: Sequence[Definition],
    shown: Definition,
    query: ChangesQuery,
    response_format: ResponseFormat,
) -> tuple[bytes, bytes]:
    """Return the lines of protocol and metadata, and those of later versions."""
    first = TableFacts(
        version=shown.version if query.with_old_metadata else None,
        has_feed=has_feed(shown.metadata),
    )
    later: list[bytes] = []
    if not query.with_old_protocol:
        head = response_format.head_lines(shown.metadata, first)
    else:
        protocol, *later = response_format.protocol_lines(
            [(at.version, at.protocol) for at in known]
        )
        head = protocol + response_format.metadata_line(shown.metadata, first)
    if query.with_old_metadata:
        later += _later_metadata(known, response_format)
    return head, b"".join(later)


def _later_metadata(
    known: Sequence[Definition], response_format: ResponseFormat
) -> Iterator[bytes]:
    for before, after in pairwise(known):
        if after.metadata != before.metadata:
            facts = TableFacts(version=after.version, has_feed=has_feed(after.metadata))
            yield response_format.metadata_line(after.metadata, facts)
