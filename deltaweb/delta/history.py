"""What each commit says of itself, and what it holds.

This is for people: a commit that does not read is an entry with less in it, never
the end of the history.

Source: delta_protocol.md, "Commit Provenance Information".
"""

from collections.abc import Mapping
from typing import Any, Final

from deltaweb.delta.action_json import load_line
from deltaweb.delta.actions import CommitInfo
from deltaweb.delta.commit_times import CommitTimes
from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log_path import commit_name
from deltaweb.delta.log_store import LogStore

HEAD_BYTES: Final = 1 << 16
MAX_SHOWN_DEPTH: Final = 200  # levels of objects and lists in an action that is shown
COMMIT_INFO: Final = "commitInfo"


def read_history(
    store: LogStore, times: CommitTimes, limit: int | None = None
) -> list[CommitInfo]:
    """Return what the commits say of themselves, newest first.

    Args:
        store: The table's log.
        times: Its versions and their times.
        limit: How many at most; all for None.
    """
    entries: list[CommitInfo] = []
    shown = zip(times.versions, times.times_ms, times.sizes, strict=True)
    for version, time_ms, size in reversed(list(shown)):
        if limit is not None and len(entries) >= limit:
            break
        if size is not None:
            raw = read_commit_info(store, version)
            entries.append(
                CommitInfo.from_raw(raw, version=version, timestamp_ms=time_ms)
            )
    return entries


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


def read_raw_commit(
    store: LogStore, version: int, *, max_bytes: int
) -> list[dict[str, Any]]:
    """Return the raw actions of one commit, whole lines of its first bytes.

    Args:
        store: The table's log.
        version: The version that the commit makes.
        max_bytes: How much of the commit is read at most.

    Raises:
        FileNotFoundError: If there is no such commit.
        LogCorruptError: If a line is not a JSON object, or nests too deeply to be
            written again.
    """
    name = commit_name(version)
    data = store.read_head(name, max_bytes)
    if len(data) == max_bytes:
        data = data[: data.rfind(b"\n") + 1]
    path = f"{store.root}/_delta_log/{name}"
    return [_load_shown(line, path) for line in data.split(b"\n") if line.strip()]


def _load_shown(line: bytes, path: str) -> dict[str, Any]:
    """Parse a line that is to be shown: who writes JSON again goes down its levels."""
    action = load_line(line, name=path)
    if line.count(b"[") + line.count(b"{") <= MAX_SHOWN_DEPTH:
        return action
    level: list[Any] = [action]
    for _ in range(MAX_SHOWN_DEPTH):
        level = [inner for value in level for inner in _inside(value)]
    if level:
        raise LogCorruptError(path=path, reason="a line nests too deeply")
    return action


def _inside(value: dict[str, Any] | list[Any]) -> list[Any]:
    """Return the objects and lists right inside of one."""
    items = value.values() if isinstance(value, dict) else value
    return [item for item in items if isinstance(item, dict | list)]
