"""What each commit says of itself, and what it holds.

This is for people: a commit that does not read is an entry with less in it, never
the end of the history.

Source: delta_protocol.md, "Commit Provenance Information".
"""

from typing import Any, Final

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.commits.arrow_reader import load_line
from deltaweb.delta.log.commits.info import read_commit_info
from deltaweb.delta.log.commits.times import CommitTimes
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.actions import CommitInfo

MAX_SHOWN_DEPTH: Final = 200  # levels of objects and lists in an action that is shown


def read_history(
    store: LogStore, times: CommitTimes, limit: int | None = None
) -> list[CommitInfo]:
    """Return what the commits say of themselves, newest first.

    Args:
        limit: How many at most; all for None.
    """
    entries: list[CommitInfo] = []
    for position in reversed(range(len(times.versions))):
        if limit is not None and len(entries) >= limit:
            break
        if times.sizes[position] is not None:
            version = times.versions[position]
            raw = read_commit_info(store, version)
            time_ms = times.of_commit(position, raw)
            entries.append(
                CommitInfo.from_raw(raw, version=version, timestamp_ms=time_ms)
            )
    return entries


def read_raw_commit(
    store: LogStore, version: int, *, max_bytes: int
) -> list[dict[str, Any]]:
    """Return the raw actions of one commit, whole lines of its first bytes."""
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
        raise LogCorruptError(path=path, reason="a line is nested too deeply")
    return action


def _inside(value: dict[str, Any] | list[Any]) -> list[Any]:
    """Return the objects and lists right inside of one."""
    items = value.values() if isinstance(value, dict) else value
    return [item for item in items if isinstance(item, dict | list)]
