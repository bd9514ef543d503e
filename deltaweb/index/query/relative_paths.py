"""Where the paths of a log lead below a table's root: many at once.

Most paths are plain: ASCII without escapes, below the root as they stand. Those are
recognised by their bytes, a whole array at a time. Every other path is resolved by
itself, by the rules of `deltaweb.storage.data_path`.
"""

from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.deletion_vectors.descriptor import DeletionVector
from deltaweb.delta.deletion_vectors.reading import vector_faults
from deltaweb.delta.errors import PathEscapesTableError
from deltaweb.delta.values.whole import joined_bytes
from deltaweb.storage.data_path import LOG_FOLDER, decode_path, resolve_data_path

SAME_SCHEME: Final = (("s3a://", "s3://"), ("s3n://", "s3://"), ("gcs://", "gs://"))
CACHED_FOLDERS: Final = 4096
# A path may only leave the root, name no file at all, or one of a log, if it holds one
# of these. Nobody has a reason to escape letters, digits and what may stand as it is.
_SUSPICIOUS: Final = (
    r"(?i)\.\.|%2e|%00|%[89a-f][0-9a-f]|^/|^[a-z][a-z0-9+.-]*:|^(?:[./]|%2f)*$"
    r"|_delta_log|%[46][1-9a-f]|%[57][0-9a]|%5f"
)
_UNUSUAL: Final = (b"%", b":", b"\0", LOG_FOLDER.encode())


def are_plain(paths: pa.StringArray) -> bool:
    """Tell whether every path is below the root exactly as it is written."""
    if not len(paths):
        return True
    text = joined_bytes(paths)
    if not text.isascii() or any(one in text for one in _UNUSUAL):
        return False
    letters = np.frombuffer(text, np.uint8)
    separates = (letters | 1) == ord("/")  # a dot, or a slash: a bit apart
    if (separates[:-1] & separates[1:]).any():  # `..`, `//`, `/.` and `./`
        return False
    unusual = pc.or_(pc.starts_with(paths, "/"), pc.starts_with(paths, "."))
    unusual = pc.or_(unusual, pc.or_(pc.ends_with(paths, "/"), pc.equal(paths, "")))
    return not pc.any(unusual).as_py()


def find_outside(paths: pa.StringArray, root: str) -> str | None:
    """Return the first path that leads to no file below the root; None without one."""
    if are_plain(paths):
        return None
    is_suspicious = pc.or_(
        pc.match_substring_regex(paths, _SUSPICIOUS), pc.match_substring(paths, "\0")
    )
    for path in paths.filter(is_suspicious).to_pylist():
        try:
            relative_path(path, root)
        except PathEscapesTableError:
            return str(path)
    return None


def relative_paths(paths: pa.StringArray, root: str) -> pa.StringArray:
    """Return the paths below the root, decoded once."""
    if are_plain(paths):
        return paths
    return pa.array(
        [_usual_path(path, root) for path in paths.to_pylist()], pa.string()
    )


def relative_paths_below(paths: pa.StringArray, root: str) -> pa.StringArray:
    """Return the paths below the root, decoded once; null for one that leads elsewhere.

    Args:
        paths: As in the log; null stays null.
    """
    if are_plain(paths):
        return paths
    return pa.array(
        [_path_below(path, root) for path in paths.to_pylist()], pa.string()
    )


def relative_path(path: str, root: str) -> str:
    """Return one path of the log below the root, decoded once."""
    for scheme, same in SAME_SCHEME:
        if path.startswith(scheme):
            path = f"{same}{path.removeprefix(scheme)}"
    place = resolve_data_path(path, root=root, allowed_roots=())
    relative = place[len(root.rstrip("/")) + 1 :]
    if LOG_FOLDER in relative.split("/"):
        raise PathEscapesTableError(path=path)
    try:
        relative.encode()
    except UnicodeEncodeError:
        raise PathEscapesTableError(path=path) from None
    return relative


def _path_below(path: str | None, root: str) -> str | None:
    try:
        return None if path is None else _usual_path(path, root)
    except PathEscapesTableError:
        return None


def _usual_path(path: str, root: str) -> str:
    """As `relative_path`; the folders of a partition are decoded once for all files."""
    folder, _, name = path.rpartition("/")
    is_usual = name.isascii() and not any(one in name for one in "%:\0")
    if not name or not is_usual or name.startswith("."):
        return relative_path(path, root)
    decoded = _decoded_folder(folder)
    if decoded is None:
        return relative_path(path, root)
    return f"{decoded}/{name}" if decoded else name


@lru_cache(maxsize=CACHED_FOLDERS)
def _decoded_folder(folder: str) -> str | None:
    """Return a folder decoded; None for one that asks for a closer look."""
    if not folder:
        return ""
    parts = folder.split("/")
    if ":" in parts[0] or "\0" in folder:
        return None
    decoded = decode_path(folder)
    parts = decoded.split("/")
    is_usual = all(part not in {"", ".", "..", LOG_FOLDER} for part in parts)
    if not is_usual or any(0xD800 <= ord(letter) <= 0xDFFF for letter in decoded):  # noqa: PLR2004  # surrogates
        return None
    return decoded


# === Where deletion vectors lead ===


def vector_paths(
    paths: pa.StringArray, vectors: pa.StructArray, root: str
) -> pa.StringArray:
    """Return the path of each file's deletion vector below the root, decoded once.

    Null where a file has none, or has it in the log.
    """
    if vectors.null_count == len(vectors):
        return pa.nulls(len(vectors), pa.string())
    found = []
    for path, fields in zip(paths.to_pylist(), vectors.to_pylist(), strict=True):
        place = None
        if fields is not None:
            with vector_faults(path, fields):
                place = DeletionVector.of(fields).path
                place = None if place is None else relative_path(place, root)
        found.append(place)
    return pa.array(found, pa.string())
