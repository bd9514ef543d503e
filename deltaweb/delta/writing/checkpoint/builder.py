"""One checkpoint, from the files of the log to `_last_checkpoint`.

The order keeps every fault harmless: the version exists before anything is written;
the files are made beside their places and made durable before the first of them is
visible; the hint comes after the last of them.

Source: delta_protocol.md, "Requirements for Writers", "Checkpoints".
"""

import contextlib
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar, cast

from deltaweb.delta.log.checkpoints.attempts import of_checkpoint, try_segments
from deltaweb.delta.log.checkpoints.reader import CheckpointReader
from deltaweb.delta.log.commits.times import to_ms
from deltaweb.delta.log.segment import LogSegment
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.writing.checkpoint.announce import (
    PreparedCheckpoint,
    announce,
    with_manifest,
)
from deltaweb.delta.writing.checkpoint.commit_source import (
    read_commit_facts,
    read_commit_files,
)
from deltaweb.delta.writing.checkpoint.file_rows import FileRows
from deltaweb.delta.writing.checkpoint.last_actions import ActionKeys, LastActions
from deltaweb.delta.writing.checkpoint.older_checkpoint import (
    names_fault,
    read_checkpoint_files,
    read_checkpoint_keys,
)
from deltaweb.delta.writing.checkpoint.parts import PartsWriter
from deltaweb.delta.writing.checkpoint.plan import (
    CheckpointPlan,
    make_plan,
    open_checkpoint,
)
from deltaweb.delta.writing.checkpoint.request import (
    MAX_PARTS,
    CheckpointRequest,
    Progress,
    WrittenCheckpoint,
)

__all__ = [
    "MAX_PARTS",
    "CheckpointRequest",
    "Progress",
    "WrittenCheckpoint",
    "build_checkpoint",
    "prepare_checkpoint",
]

READ_AHEAD: Final = 4


def build_checkpoint(store: LogStore, request: CheckpointRequest) -> WrittenCheckpoint:
    """Write a checkpoint of a version that exists.

    A checkpoint that does not read is skipped for an older one. On any error
    nothing is left that a reader could take for a checkpoint.
    """
    with prepare_checkpoint(store, request) as (prepared, parts):
        request.check_wanted(store, prepared.version)
        return announce(store, prepared, parts.files)


@contextlib.contextmanager
def prepare_checkpoint(
    store: LogStore, request: CheckpointRequest
) -> Iterator[tuple[PreparedCheckpoint, PartsWriter]]:
    """Make the files of a checkpoint whole and durable, none of them visible.

    What the block does not put in place is forgotten after it.
    """
    request.check()
    attempt = partial(_prepare, store, request)
    prepared, parts = try_segments(
        store, request.version, attempt, by_compactions=False
    )
    try:
        yield prepared, parts
    finally:
        parts.discard()


def _prepare(
    store: LogStore, request: CheckpointRequest, segment: LogSegment
) -> tuple[PreparedCheckpoint, PartsWriter]:
    """Write the files by the commits and the checkpoint of a segment."""
    request.check_wanted(store, segment.version)
    with ActionKeys() as keys:
        facts = read_commit_facts(store, segment.commit_names, keys)
        older = open_checkpoint(store, segment)
        plan = make_plan(store, segment, older, facts, request)
        with of_checkpoint(segment.checkpoint):
            known = () if older is None else read_checkpoint_keys(older)
            last = keys.find_last(known)
    store.remove_leftovers()
    source = _Source(store, segment, older, last, plan)
    parts = PartsWriter(store, plan.names, plan.shaper.layout.schema)
    try:
        return _write(source, parts, request), parts
    except BaseException:
        parts.discard()
        raise


def _write(
    source: "_Source", parts: PartsWriter, request: CheckpointRequest
) -> PreparedCheckpoint:
    plan, version = source.plan, source.segment.version
    done = num_files = num_tombstones = 0
    rare = plan.state.table(plan.shaper.layout, root=source.store.root)
    if plan.manifest is None:
        parts.write_first(rare)
    with contextlib.closing(read_ahead(source.rows(), depth=READ_AHEAD)) as shaped:
        for num_read, rows in shaped:
            if rows.adds is not None:
                parts.put("add", rows.adds)
                num_files += len(rows.adds)
            if rows.removes is not None:
                parts.put("remove", rows.removes)
                num_tombstones += len(rows.removes)
            done += num_read
            if request.on_progress is not None:
                request.on_progress(min(done, plan.num_actions), plan.num_actions)
            request.check_wanted(source.store, version)
    sizes = parts.finish()
    prepared = PreparedCheckpoint(
        version=version,
        names=plan.names,
        num_actions=parts.num_rows,
        num_files=num_files,
        num_tombstones=num_tombstones,
        size_bytes=sum(sizes),
        made_ms=to_ms(request.now),
        schema=plan.shaper.layout.schema,
    )
    if plan.manifest is None:
        return prepared
    return with_manifest(prepared, plan.manifest, rare=rare, sizes=sizes)


@dataclass(frozen=True, slots=True)
class _Source:
    """Where the file actions of a version are, for one attempt."""

    store: LogStore
    segment: LogSegment
    older: CheckpointReader | None
    last: LastActions
    plan: CheckpointPlan

    def rows(self) -> Iterator[tuple[int, FileRows]]:
        """Yield how many file actions were read, and what is left of them."""
        shape = self.plan.shaper.shape
        if self.older is not None:
            with of_checkpoint(self.segment.checkpoint):
                for adds, removes in read_checkpoint_files(
                    self.older, self.last.covers
                ):
                    num_read = sum(len(some) for some in (adds, removes) if some)
                    with names_fault(self.older.path):
                        rows = shape(adds, removes)
                    yield num_read, rows
        for adds, removes in read_commit_files(
            self.store,
            self.segment.commit_names,
            self.last.kinds,
            self.plan.partition_keys,
        ):
            yield len(adds) + len(removes), shape(adds, removes)


# === A piece ahead ===


T = TypeVar("T")

END: Final = object()


def read_ahead(items: Iterator[T], *, depth: int) -> Generator[T]:
    """Yield items in order; a thread makes up to `depth` of them ahead.

    Whoever stops early closes this iterator; the thread has ended then.
    """
    with ThreadPoolExecutor(1) as pool:
        waiting = deque(pool.submit(next, items, END) for _ in range(depth))
        try:
            while (item := waiting.popleft().result()) is not END:
                waiting.append(pool.submit(next, items, END))
                yield cast("T", item)
                del item
        finally:
            for future in waiting:
                future.cancel()
