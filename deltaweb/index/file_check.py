"""Which data files of every version storage holds: one listing, no look at each.

A file whose deletion vector is gone cannot be read, and counts as missing itself.

The log is read first and storage is listed after it, so that a file which is written
meanwhile never counts as missing.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.deletion_vectors.descriptor import places_of_id
from deltaweb.delta.errors import PathEscapesTableError, SchemaError
from deltaweb.delta.log.overview import load_log_overview
from deltaweb.delta.log.store import DataStore, TableStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.history.commit_files import starting_files
from deltaweb.index.history.commit_rows import History
from deltaweb.index.history.engine import Engine, InProcess
from deltaweb.index.history.lifetimes import UNKNOWN, Lifetimes
from deltaweb.index.history.missing_files import missing_runs
from deltaweb.index.history.reader import HistoryReader, Progress, VersionLives
from deltaweb.index.nested_changes import NestedChange, nested_changes
from deltaweb.index.query.relative_paths import relative_paths_below
from deltaweb.table import DeltaTable
from deltaweb.writer.respelling import SpelledColumn, spelled_columns

MAX_LOOKS: Final = 100  # at single files that a listing does not show


@dataclass(frozen=True, slots=True, eq=False)
class FileCheck:
    """What one listing of a table's storage says of its versions.

    Attributes:
        version: The newest version. Those between that the log builds were checked too.
        num_paths: Data files that any of them has.
        missing: Rows of `MISSING_SCHEMA`.
        spelled: The partition columns of the newest version whose values are not
            spelled in one way.
        nested_changes: Commits of earlier releases that may have lost or exchanged
            nested values, newest first.
    """

    first_version: int
    version: int
    num_versions: int
    num_paths: int
    num_missing: int
    missing: pa.Table
    spelled: tuple[SpelledColumn, ...] = ()
    nested_changes: tuple[NestedChange, ...] = ()


def check_files(
    table: DeltaTable, *, engine: Engine | None = None, report: Progress | None = None
) -> FileCheck:
    """List a table's storage once, and count for each version what it lacks."""
    report = report or _no_progress
    engine = engine or InProcess(table)
    followed, history = follow_files(engine, table.store, report)
    listed = _listed(table.store, report)
    report("Counting the files of every version", 0, None, "")
    paths = [lives.lifetimes.paths for lives in followed]
    absent = [
        pc.or_(
            _absent(table.store, some, listed),
            _lacks_vector(table.store, lives.lifetimes.vector_ids, listed),
        )
        for some, lives in zip(paths, followed, strict=True)
    ]
    counts = [
        _counts(lives, history, is_absent)
        for lives, is_absent in zip(followed, absent, strict=True)
    ]
    missing = [some.filter(mask) for some, mask in zip(paths, absent, strict=True)]
    first_version = int(followed[0].versions[0])
    runs = missing_runs(pa.concat_tables(counts))
    return FileCheck(
        first_version=first_version,
        version=int(followed[-1].versions[-1]),
        num_versions=sum(len(lives.versions) for lives in followed),
        num_paths=_count_distinct(paths),
        num_missing=_count_distinct(missing),
        missing=runs,
        spelled=tuple(_spelled(engine)),
        nested_changes=tuple(_nested(history, runs, first_version)),
    )


def _nested(
    history: History, missing: pa.Table, first_version: int
) -> Iterator[NestedChange]:
    """Yield changes to look at, and whether the version before each is gone."""
    lacking = missing.select(["first_version", "last_version"]).to_pylist()
    for change in reversed([*nested_changes(history)]):
        before = change.version - 1
        is_gone = before < first_version or any(
            run["first_version"] <= before <= run["last_version"] for run in lacking
        )
        yield replace(change, vacuumed=is_gone)


def _spelled(engine: Engine) -> list[SpelledColumn]:
    """Return how the newest version spells its partition values, if in several ways.

    A version that may not be read has no values to speak of.
    """
    snapshot = engine.load()
    if snapshot.refusal is not None or not snapshot.metadata.partition_columns:
        return []
    with suppress(SchemaError):
        return spelled_columns(engine.with_files(snapshot))
    return []


def follow_files(
    engine: Engine, store: TableStore, report: Progress | None = None
) -> tuple[list[VersionLives], History]:
    """Replay a log, and follow the files of the versions that it builds.

    Returns:
        The files of each run of versions, with the newest one; and the history.
    """
    report = report or _no_progress
    report("Replaying the log", 0, None, "commits")
    snapshot = engine.load()
    with engine.commit_reader(snapshot.version + 1) as read_commits:
        overview = load_log_overview(store)
        reader = HistoryReader(store, overview, engine, read_commits, report)
        history, runs = reader.read(snapshot)
    followed = list(reader.lives(history, runs))
    if not followed or snapshot.version not in followed[-1].versions[-1:]:
        followed = [_newest_alone(engine.with_files(snapshot), history)]
    return followed, history


def _newest_alone(snapshot: Snapshot, history: History) -> VersionLives:
    rows = pa.chunked_array([pa.nulls(snapshot.num_files, pa.int64())])
    start = starting_files(snapshot.files, rows, snapshot.version)
    lifetimes = Lifetimes(start, first=snapshot.version, last=snapshot.version)
    newest = np.array([snapshot.version], dtype=np.int64)
    is_newest = np.array(history.versions, dtype=np.int64) == snapshot.version
    return VersionLives(is_newest, snapshot.version, newest, lifetimes)


def _counts(lives: VersionLives, history: History, is_absent: pa.Array) -> pa.Table:
    """Return for each version what `missing_runs` reads."""
    lifetimes, positions = lives.lifetimes, lives.positions
    missing = lifetimes.count_among(is_absent.to_numpy(zero_copy_only=False))
    vacuums = [v for v in history.vacuums if v.version >= lives.first]
    vacuumed_by = lifetimes.vacuumed(vacuums)[0][positions]
    return pa.table(
        {
            "version": lives.versions,
            "num_files": lifetimes.totals().num_files[positions],
            "num_missing_files": missing[positions],
            "vacuumed_by": pa.array(vacuumed_by, mask=vacuumed_by == UNKNOWN),
        }
    )


def _listed(store: DataStore, report: Progress) -> pa.ChunkedArray:
    chunks: list[pa.StringArray] = []
    count = 0
    for names in store.list_data_files():
        chunks.append(names)
        count += len(names)
        report("Listing storage", count, None, "files")
    return pa.chunked_array(chunks, pa.string())


def _absent(
    store: TableStore, paths: pa.StringArray, listed: pa.ChunkedArray
) -> pa.BooleanArray:
    """Tell of each path whether its file is missing.

    Some that a listing does not show are looked at by themselves: storage may spell
    names in another way than the log. A path that leads elsewhere is not in a listing.
    """
    places = relative_paths_below(paths, store.root)
    is_listed = pc.is_in(places, value_set=listed, skip_nulls=True)
    is_absent = pc.and_not(places.is_valid(), is_listed)
    doubtful = pc.and_not(paths.is_valid(), is_listed)
    looked_at = pc.indices_nonzero(doubtful)[:MAX_LOOKS]
    if not len(looked_at):
        return is_absent
    result = is_absent.to_numpy(zero_copy_only=False).copy()
    for position in looked_at.to_pylist():
        result[position] = not _is_there(store, paths[position].as_py())
    return pa.array(result)


def _lacks_vector(
    store: TableStore, ids: pa.StringArray, listed: pa.ChunkedArray
) -> pa.BooleanArray:
    if ids.null_count == len(ids):
        return pa.array(np.zeros(len(ids), np.bool_))
    distinct = pc.unique(ids.drop_null())
    owners, places = [], []
    for owner, vector_id in enumerate(distinct.to_pylist()):
        for place in places_of_id(vector_id):
            owners.append(owner)
            places.append(place)
    is_absent = np.zeros(len(distinct), np.bool_)
    absent = _absent(store, pa.array(places, pa.string()), listed)
    of_place = np.array(owners, np.int64)
    is_absent[of_place] = True
    is_absent[of_place[~absent.to_numpy(zero_copy_only=False)]] = False
    missing = distinct.filter(pa.array(is_absent))
    return pc.is_in(ids, value_set=missing, skip_nulls=True)


def _is_there(store: DataStore, path: str) -> bool:
    try:
        return store.has_data_file(path)
    except PathEscapesTableError:
        return True  # it is never read, nor looked for


def _count_distinct(paths: list[pa.StringArray]) -> int:
    return int(pc.count_distinct(pa.chunked_array(paths, pa.string())).as_py())


def _no_progress(_step: str, _done: int, _total: int | None, _unit: str) -> None:
    """Ignore progress."""
