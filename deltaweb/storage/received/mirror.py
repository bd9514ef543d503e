"""A log of a received table, of what its provider told: kept in a folder of ours.

A version that we see for the first time begins it, as a log that was cleaned up begins
with a checkpoint; each newer one that the provider tells the files of is a commit.
Where it does not tell them, the log begins again at the newest version.
"""

import json
import os
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from deltaweb.delta.features.change_feed import CHANGE_DATA_FEED_PROPERTY
from deltaweb.delta.log.paths import (
    commit_name,
    parse_checkpoint_name,
    parse_commit_name,
    uuid_checkpoint_name,
)
from deltaweb.storage.data_path import LOG_FOLDER
from deltaweb.storage.local import LocalTableStore
from deltaweb.storage.local_pending import folder_lock
from deltaweb.storage.received.actions import (
    CHANGE_FOLDER,
    Action,
    FileAction,
    SignedURL,
    TableActions,
    by_version,
    parse_actions,
)
from deltaweb.storage.received.client import SharingClient, TableAnswer
from deltaweb.storage.received.errors import RequestRefusedError
from deltaweb.storage.received.profile import SharedName

FIRST_VERSIONS: Final = 20  # of a table that is seen for the first time
MOST_FILES: Final = 10_000  # of a version, where several are asked for whole
MOST_COMMITS: Final = 1_000  # that are asked for at once; beyond, the log begins again
OPERATION: Final = "RECEIVE"  # who wrote it, and how, is not told
DELTA, PARQUET = "delta", "parquet"

_Key = tuple[str, str | None, int | None]


@dataclass(slots=True)
class _Head:
    """What a version has beside its files, and in which format it was told."""

    protocol: Action | None = None
    metadata: Action | None = None
    time_ms: int = 0
    is_delta: bool = False


class Mirror:
    """What is known of one received table."""

    def __init__(
        self,
        folder: Path,
        *,
        root: str,
        client: SharingClient,
        table: SharedName,
        provider: str,
    ) -> None:
        self._folder, self._root = folder, root
        self._client, self._table, self._provider = client, table, provider
        self._log = LocalTableStore(str(folder))

    # === The log ===

    def refresh(self, *, now_ms: int) -> dict[str, SignedURL]:
        """Ask for the newest version and keep what is new; return the URLs of it.

        Args:
            now_ms: When the versions were made whose time the provider does not say.
        """
        newest = self._client.version(self._table)
        if self._newest() == newest:
            return {}
        log = self._folder / LOG_FOLDER
        log.mkdir(parents=True, exist_ok=True)
        with folder_lock(str(log)):
            known = self._newest()
            if known == newest:
                return {}
            if known is None:
                return self._begin_early(newest, now_ms)
            if known < newest <= known + MOST_COMMITS:
                try:
                    return self._go_on(known + 1, newest, now_ms)
                except RequestRefusedError:
                    pass
            return self._begin(None, newest, now_ms)

    def urls(self, path: str) -> dict[str, SignedURL]:
        """Ask for fresh URLs of the files of the version that a file is of."""
        version, was_removed = self._version_of(path)
        if path.startswith(f"{CHANGE_FOLDER}/"):
            return self._ask_changes(version, version).urls
        if not was_removed:
            found = self._ask_files(None).urls
            if path in found:
                return found
        try:
            return self._ask_files(version).urls
        except RequestRefusedError:
            return {}  # that version is not shared

    def _newest(self) -> int | None:
        """Return the newest version of the log; None where it has to begin.

        The commit of a checkpoint is written last: without it, whoever began the log
        was broken off.
        """
        names = self._log.list_names_from("")
        commits = {v for v in map(parse_commit_name, names) if v is not None}
        checkpoints = filter(None, map(parse_checkpoint_name, names))
        if any(one.version not in commits for one in checkpoints):
            return None
        return max(commits, default=None)

    def _version_of(self, path: str) -> tuple[int, bool]:
        """Return the last known version that a file is of, and whether it went."""
        mark = json.dumps(path).encode()
        newest = 0
        for name in reversed(self._log.list_names_from("")):
            version = parse_commit_name(name)
            if version is None:
                continue
            newest = max(newest, version)
            if mark not in (data := self._log.read(name)):
                continue
            for line in data.split(b"\n"):
                if mark in line and line.startswith(b'{"remove"'):
                    return version - 1, True
                if mark in line and line.startswith(b'{"cdc"'):
                    return version, False
            break
        return newest, False

    # === What is written ===

    def _begin_early(self, newest: int, now_ms: int) -> dict[str, SignedURL]:
        """Begin with versions before the newest one, where the provider shares them."""
        first = max(0, newest - FIRST_VERSIONS)
        if first < newest:
            try:
                urls = self._begin(first, newest, now_ms)
                return urls | self._go_on(first + 1, newest, 0)
            except RequestRefusedError:
                pass
        return self._begin(None, newest, now_ms)

    def _begin(
        self, version: int | None, newest: int, now_ms: int
    ) -> dict[str, SignedURL]:
        """Begin with one version, the newest for None, and forget all others."""
        found = self._ask_files(version)
        at = version if found.version is None else found.version
        at = newest if at is None else at
        times = [file.timestamp_ms for file in found.files if file.timestamp_ms]
        time_ms = times[0] if times else now_ms
        actions = [
            {"protocol": found.protocol},
            {"metaData": found.metadata[None]},
            *({file.kind: file.action} for file in found.files),
        ]
        older = [name for name in self._log.list_names_from("") if _is_of_log(name)]
        if at > 0:
            name = uuid_checkpoint_name(at, str(uuid.uuid4()), ".json")
            head = {"checkpointMetadata": {"version": at}}
            self._log.put(name, _lines([head, *actions]))
        for name in older:
            self._log.delete(name)
        in_commit = [] if at > 0 else actions
        self._put_commit(at, time_ms, in_commit, is_delta=found.is_delta)
        return found.urls

    def _go_on(self, first: int, last: int, now_ms: int) -> dict[str, SignedURL]:
        """Add commits to the log.

        A provider need not tell of files that were rewritten without a change of rows,
        so what the commits make is held against the files of the versions themselves.
        """
        with self._client.commits(self._table, first, last) as answer:
            found = self._parsed(answer)
        head = self._head()
        if head.is_delta != found.is_delta:
            # Files have other ids there.
            raise self._refusal(reason="it changed its format")
        if (head.metadata or {}).get("id") != found.metadata[None].get("id"):
            raise self._refusal(reason="another table has its name now")
        files, urls = dict(by_version(found.files)), dict(found.urls)
        exact = self._exact(files, first, last)
        for one in exact.values():
            urls |= one.urls
        if (
            found.metadata[None].get("configuration", {}).get(CHANGE_DATA_FEED_PROPERTY)
            == "true"
        ):
            files, more = self._with_feed(files, first, last)
            urls |= more
        protocol, metadata, time_ms = head.protocol, head.metadata, head.time_ms
        live = self._live()
        for version in range(first, last + 1):
            some = files.get(version, [])
            times = [file.timestamp_ms for file in some if file.timestamp_ms]
            time_ms = max(times, default=(now_ms if version == last else 0) or time_ms)
            actions: list[Action] = []
            shown = found.metadata.get(version)
            if version == first:
                shown = shown or found.metadata[None]
                if found.protocol != protocol:
                    actions.append({"protocol": found.protocol})
            if shown is not None and shown != metadata:
                actions.append({"metaData": shown})
                metadata = shown
            actions += [{file.kind: file.action} for file in some]
            _apply(actions, live)
            if version in exact:
                rewritten = _rewritten(live, exact[version], time_ms)
                _apply(rewritten, live)
                actions += rewritten
            self._put_commit(version, time_ms, actions, is_delta=found.is_delta)
        return urls

    def _exact(
        self, files: Mapping[int, list[FileAction]], first: int, last: int
    ) -> dict[int, TableActions]:
        """Return the files of the newest version; of others where commits lack some."""
        newest = self._ask_files(last)
        live = self._live()
        for version in range(first, last + 1):
            _apply([{one.kind: one.action} for one in files.get(version, [])], live)
        if first == last or not _rewritten(live, newest, 0):
            return {last: newest}
        if last - first > FIRST_VERSIONS or len(newest.files) > MOST_FILES:
            raise self._refusal(reason="its commits leave files out")
        older = range(first, last)
        return {one: self._ask_files(one) for one in older} | {last: newest}

    def _live(self) -> dict[_Key, Action]:
        """Return the files that are live by the log."""
        live: dict[_Key, Action] = {}
        for name in self._log.list_names_from(""):
            if _is_of_log(name):
                lines = self._log.read(name).split(b"\n")
                _apply([json.loads(line) for line in lines if _is_of_file(line)], live)
        return live

    def _with_feed(
        self, files: Mapping[int, list[FileAction]], first: int, last: int
    ) -> tuple[dict[int, list[FileAction]], dict[str, SignedURL]]:
        """Add the files with changed rows to those of each version."""
        both = dict(files)
        try:
            found = self._ask_changes(first, last)
        except RequestRefusedError:
            return both, {}  # it is not shared, or not for all of them
        for version, some in by_version(found.files):
            rows = [file for file in some if file.kind == "cdc"]
            both[version] = [*both.get(version, []), *rows]
        return both, found.urls

    def _head(self) -> "_Head":
        """Return what the newest version of the log has, beside its files."""
        head = _Head()
        for name in reversed(self._log.list_names_from("")):
            if not _is_of_log(name):
                continue
            if not head.time_ms and parse_commit_name(name) is not None:
                head.time_ms = self._log.status(name).modification_time
            for line in self._log.read(name).split(b"\n"):
                if head.metadata is None and line.startswith(b'{"metaData"'):
                    head.metadata = json.loads(line)["metaData"]
                elif head.protocol is None and line.startswith(b'{"protocol"'):
                    head.protocol = json.loads(line)["protocol"]
                elif line.startswith(b'{"commitInfo"'):
                    recorded = json.loads(line)["commitInfo"]["operationParameters"]
                    head.is_delta = recorded["responseFormat"] == DELTA
            if head.protocol is not None and head.metadata is not None:
                break
        return head

    def _put_commit(
        self, version: int, time_ms: int, actions: list[Action], *, is_delta: bool
    ) -> None:
        info = {
            "timestamp": time_ms,
            "inCommitTimestamp": time_ms,
            "operation": OPERATION,
            "operationParameters": {"responseFormat": DELTA if is_delta else PARQUET},
        }
        name = commit_name(version)
        self._log.put(name, _lines([{"commitInfo": info}, *actions]))
        path = self._folder / LOG_FOLDER / name
        os.utime(path, ns=(time_ms * 1_000_000,) * 2)

    def _ask_files(self, version: int | None) -> TableActions:
        with self._client.files(self._table, version=version) as answer:
            return self._parsed(answer)

    def _ask_changes(self, first: int, last: int) -> TableActions:
        with self._client.changes(self._table, first, last) as answer:
            return self._parsed(answer)

    def _refusal(self, *, reason: str) -> RequestRefusedError:
        return RequestRefusedError(provider=self._provider, reason=reason)

    def _parsed(self, answer: TableAnswer) -> TableActions:
        return parse_actions(answer, provider=self._provider, root=self._root)


def _is_of_log(name: str) -> bool:
    is_file = parse_commit_name(name) is not None
    return is_file or parse_checkpoint_name(name) is not None


def _lines(actions: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(action).encode() + b"\n" for action in actions)


def _is_of_file(line: bytes) -> bool:
    return line.startswith((b'{"add"', b'{"remove"'))


def _apply(actions: Iterable[Mapping[str, Any]], live: dict[_Key, Action]) -> None:
    """Bring the live files up to date.

    Source: delta_protocol.md, "Action Reconciliation".
    """
    for one in actions:
        for kind, action in one.items():
            if kind == "add":
                live[_key(action)] = action
            elif kind == "remove":
                live.pop(_key(action), None)


def _key(action: Action) -> _Key:
    """Return what tells a logical file from others: its path and its vector."""
    vector = action.get("deletionVector") or {}
    return action["path"], vector.get("pathOrInlineDv"), vector.get("offset")


def _rewritten(
    live: Mapping[_Key, Action], exact: TableActions, time_ms: int
) -> list[Action]:
    """Return the actions that make the live files those that a version has."""
    files = {_key(file.action): file.action for file in exact.files}
    gone = [action for key, action in live.items() if key not in files]
    come = [action for key, action in files.items() if key not in live]
    kept = ("path", "partitionValues", "size", "deletionVector")
    removes = [
        {
            "remove": {name: old[name] for name in kept if name in old}
            | {
                "deletionTimestamp": time_ms,
                "dataChange": False,
                "extendedFileMetadata": True,
            }
        }
        for old in gone
    ]
    return [*removes, *({"add": {**new, "dataChange": False}} for new in come)]
