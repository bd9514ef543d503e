"""Paths of the log as the places below the root that storage lists.

Source: delta_protocol.md, "Add File and Remove File".
"""

import posixpath
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.file_actions import canonical_keys

LOG_PART = "/_delta_log/"
ODD = r"%|^/|^[A-Za-z][A-Za-z0-9+.-]*:|//|(?:^|/)\.{1,2}(?:/|$)"
"""Paths that are spelled otherwise than storage spells them."""


def data_places(paths: pa.ChunkedArray, *, root: str) -> pa.ChunkedArray:
    """Return where storage lists files, row for row; decoded once.

    Args:
        root: The table's root; an absolute path that is not below it stays as it is.
    """
    is_odd = pc.match_substring_regex(paths, ODD)
    if not pc.any(is_odd).as_py():
        return paths
    places = [
        _place(path, root) if odd else path
        for path, odd in zip(paths.to_pylist(), is_odd.to_pylist(), strict=True)
    ]
    return pa.chunked_array([pa.array(places, pa.string())])


def tables_below(places: pa.ChunkedArray) -> list[str]:
    """Return the folders below the root that are tables of their own: they have a log.

    Args:
        places: Where storage lists files, those of such logs among them.
    """
    of_logs = places.filter(pc.match_substring(places, LOG_PART))
    return sorted({place.partition(LOG_PART)[0] for place in of_logs.to_pylist()})


def are_below(places: pa.ChunkedArray, folders: Sequence[str]) -> pa.ChunkedArray:
    """Tell of each place whether it is in one of some folders, at any depth."""
    is_there = pa.chunked_array(
        [pa.array(np.zeros(len(places), np.bool_))], type=pa.bool_()
    )
    for folder in folders:
        is_there = pc.or_(is_there, pc.starts_with(places, f"{folder}/"))
    return is_there


def kept_places(paths: pa.ChunkedArray, *, root: str) -> pa.ChunkedArray:
    """Return every place that files may be at, to keep them: more rather than less.

    A path of a root that is written otherwise (a link, another scheme) may still be
    one below the root, so all of its ends are kept.
    """
    places, _ = kept_with(paths, root=root)
    return places


def kept_with(paths: pa.ChunkedArray, *, root: str) -> tuple[pa.ChunkedArray, pa.Array]:
    """Return the same, and the row of the path that each place is of."""
    places = data_places(paths, root=root)
    rows = pa.array(np.arange(len(places)), pa.int64())
    is_absolute = pc.match_substring_regex(places, r"^/|^[A-Za-z][A-Za-z0-9+.-]*:")
    if not pc.any(is_absolute).as_py():
        return places, rows
    ends: list[str] = []
    rows_of: list[int] = []
    absolute = places.filter(is_absolute).to_pylist()
    for row, place in zip(rows.filter(is_absolute).to_pylist(), absolute, strict=True):
        found = [*_ends(place)]
        ends.extend(found)
        rows_of.extend([row] * len(found))
    more = pa.array(ends, pa.string())
    return (
        pa.chunked_array([*places.chunks, more], pa.string()),
        pa.concat_arrays([rows, pa.array(rows_of, pa.int64())]),
    )


def _place(path: str, root: str) -> str:
    decoded = unquote(path, errors="replace")
    canonical: str = canonical_keys(pa.array([decoded], pa.string()))[0].as_py()
    start = f"{root.rstrip('/')}/"
    below = canonical.removeprefix(start)
    scheme = "://" in below
    return below if scheme else posixpath.normpath(below)


def _ends(place: str) -> Iterator[str]:
    parts = place.split("/")
    return ("/".join(parts[first:]) for first in range(1, len(parts)))
