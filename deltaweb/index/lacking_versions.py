"""Which versions need some files, by the log alone: those that a read has missed."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.deletion_vectors.descriptor import places_of_id
from deltaweb.index.file_check import follow_files
from deltaweb.index.history.engine import InProcess
from deltaweb.index.history.lifetimes import UNKNOWN, Flags, Longs
from deltaweb.index.history.reader import VersionLives
from deltaweb.table import DeltaTable

MAX_NAMED: Final = 50  # files of which one is named beside the versions that need it
_UNNAMED: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class LackingRun:
    """Versions that lack as many of as many files.

    Attributes:
        first_version, last_version: Both included.
        num_missing: How many of these are among those that are missing.
        vacuum_version: The newest VACUUM that deleted files of them; None without one.
        path: One of the missing files; "" where none is named.
    """

    first_version: int
    last_version: int
    num_files: int
    num_missing: int
    vacuum_version: int | None
    path: str


def lacking_versions(table: DeltaTable, paths: Collection[str]) -> list[LackingRun]:
    """Return the versions that need some of the files at `paths`, ascending.

    Args:
        paths: Data files, or files of deletion vectors, as the log has them.
    """
    followed, history = follow_files(InProcess(table), table.store)
    runs: list[LackingRun] = []
    for lives in followed:
        is_missing = _among(lives, paths)
        lifetimes, at = lives.lifetimes, lives.positions
        vacuums = [v for v in history.vacuums if v.version >= lives.first]
        runs += _joined(
            (
                lives.versions,
                lifetimes.totals().num_files[at],
                lifetimes.count_among(is_missing)[at],
                lifetimes.vacuumed(vacuums)[0][at],
                _named(lives, is_missing),
            ),
            lifetimes.paths,
        )
    return runs


def _among(lives: VersionLives, paths: Collection[str]) -> Flags:
    """Tell of each file of `lives` whether it cannot be read without these."""
    wanted = pa.array(paths, pa.string())
    lifetimes = lives.lifetimes
    is_missing = pc.is_in(lifetimes.paths, value_set=wanted, skip_nulls=True)
    ids = lifetimes.vector_ids
    if ids.null_count < len(ids):
        known = set(paths)
        lost = [
            vector_id
            for vector_id in pc.unique(ids.drop_null()).to_pylist()
            if not known.isdisjoint(places_of_id(vector_id))
        ]
        lacks_vector = pc.is_in(ids, value_set=pa.array(lost, pa.string()))
        is_missing = pc.or_(is_missing, lacks_vector)
    found: Flags = is_missing.to_numpy(zero_copy_only=False)
    return found


def _named(lives: VersionLives, is_missing: Flags) -> Longs:
    named = np.full(len(lives.versions), _UNNAMED, dtype=np.int64)
    for file in np.flatnonzero(is_missing)[:MAX_NAMED]:
        alone = np.zeros(len(is_missing), dtype=np.bool_)
        alone[file] = True
        needs = lives.lifetimes.count_among(alone)[lives.positions] > 0
        named[needs & (named == _UNNAMED)] = file
    return named


def _joined(columns: tuple[Longs, ...], paths: pa.StringArray) -> list[LackingRun]:
    """Join neighbours that are alike; versions that lack nothing are left out."""
    lacks = columns[2] > 0
    versions, *rest = (column[lacks] for column in columns)
    if not len(versions):
        return []
    begins = np.ones(len(versions), dtype=np.bool_)
    begins[1:] = np.diff(versions) != 1
    for values in rest:
        begins[1:] |= np.diff(values) != 0
    firsts = np.flatnonzero(begins)
    lasts = np.append(firsts[1:], len(versions)) - 1
    return [
        LackingRun(
            first_version=int(versions[first]),
            last_version=int(versions[last]),
            num_files=int(rest[0][first]),
            num_missing=int(rest[1][first]),
            vacuum_version=None if rest[2][first] == UNKNOWN else int(rest[2][first]),
            path=""
            if rest[3][first] == _UNNAMED
            else str(paths[int(rest[3][first])].as_py()),
        )
        for first, last in zip(firsts, lasts, strict=True)
    ]
