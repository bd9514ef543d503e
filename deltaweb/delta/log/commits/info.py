"""What one commit says of itself, by as little of its file as that takes.

Source: delta_protocol.md, "Commit Provenance Information".
"""

from collections.abc import Mapping
from typing import Any, Final

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.commits.arrow_reader import load_line
from deltaweb.delta.log.commits.fields import COMMIT_INFO
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import LogStore

HEAD_BYTES: Final = 1 << 16
OWN_TIME: Final = "inCommitTimestamp"
LONG: Final = range(2**63)


def own_time_ms(info: Mapping[str, Any] | None) -> int | None:
    """Return the time that a commit carries, None where it carries none."""
    value = None if info is None else info.get(OWN_TIME)
    is_time = isinstance(value, int) and not isinstance(value, bool) and value in LONG
    return value if is_time else None


def read_commit_info(store: LogStore, version: int) -> Mapping[str, Any] | None:
    """Return the commitInfo of one commit as it is, None without one.

    Most writers put it first; the rest of a large commit is then not read.
    """
    name = commit_name(version)
    try:
        head = store.read_head(name, HEAD_BYTES)
        found = _find_commit_info(head[: head.rfind(b"\n") + 1])
        if found is None and len(head) == HEAD_BYTES:
            head = store.read(name)
        return found if found is not None else _find_commit_info(head)
    except FileNotFoundError:
        return None


def _find_commit_info(data: bytes) -> Mapping[str, Any] | None:
    for line in data.split(b"\n"):
        if b"commitInfo" in line:
            try:
                found = load_line(line, name="").get(COMMIT_INFO)
            except LogCorruptError:
                continue
            if isinstance(found, dict):
                return found
    return None
