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
    TableActions,
    parse_actions,
)
from deltaweb.storage.received.client import SharingClient, TableAnswer
from deltaweb.storage.received.columns import (
    Action,
    ReceivedFiles,
    SignedURLs,
)
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

    def refresh(self, *, now_ms: int) -> SignedURLs:
        """Ask for the newest version and keep what is new; return the URLs of it.

        Args:
            now_ms: When the versions were made whose time the provider does not say.
        """
        newest = self._client.version(self._table)
        if self._newest() == newest:
            return SignedURLs()
        log = self._folder / LOG_FOLDER
        log.mkdir(parents=True, exist_ok=True)
        with folder_lock(str(log)):
            known = self._newest()
            if known == newest:
                return SignedURLs()
            if known is None:
                return self._begin_early(newest, now_ms)
            if known < newest <= known + MOST_COMMITS:
                try:
                    return self._go_on(known + 1, newest, now_ms)
                except RequestRefusedError:
                    pass
            return self._begin(None, newest, now_ms)

    def urls(self, path: str) -> SignedURLs:
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
            return SignedURLs()  # that version is not shared

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

    def _begin_early(self, newest: int, now_ms: int) -> SignedURLs:
        """Begin with versions before the newest one, where the provider shares them."""
        first = max(0, newest - FIRST_VERSIONS)
        if first < newest:
            try:
                urls = self._begin(first, newest, now_ms)
                return urls | self._go_on(first + 1, newest, 0)
            except RequestRefusedError:
                pass
        return self._begin(None, newest, now_ms)

    def _begin(self, version: int | None, newest: int, now_ms: int) -> SignedURLs:
        """Begin with one version, the newest for None, and forget all others."""
        found = self._ask_files(version)
        at = version if found.version is None else found.version
        at = newest if at is None else at
        times = (file.timestamp_ms for file in found.files if file.timestamp_ms)
        time_ms = next(times, now_ms)
        heads = [{"protocol": found.protocol}, {"metaData": found.metadata[None]}]
        lines = [*map(_line, heads), *(file.line for file in found.files)]
        older = [name for name in self._log.list_names_from("") if _is_of_log(name)]
        if at > 0:
            name = uuid_checkpoint_name(at, str(uuid.uuid4()), ".json")
            head = {"checkpointMetadata": {"version": at}}
            self._log.put(name, _text([_line(head), *lines]))
        for name in older:
            self._log.delete(name)
        in_commit = [] if at > 0 else lines
        self._put_commit(at, time_ms, in_commit, is_delta=found.is_delta)
        return found.urls

    def _go_on(self, first: int, last: int, now_ms: int) -> SignedURLs:
        """Add commits to the log.

        A provider need not tell of files that were rewritten without a change of rows,
        so what the commits make is held against the files of the versions themselves.
        """
        found = self._client.commits(self._table, first, last, self._parsed)
        head = self._head()
        if head.is_delta != found.is_delta:
            # Files have other ids there.
            raise self._refusal(reason="it changed its format")
        if (head.metadata or {}).get("id") != found.metadata[None].get("id"):
            raise self._refusal(
                reason=("the provider now shares another table with this name")
            )
        files, urls = found.files.by_version(), found.urls
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
            some = files.get(version, ReceivedFiles())
            times = [file.timestamp_ms for file in some if file.timestamp_ms]
            time_ms = max(times, default=(now_ms if version == last else 0) or time_ms)
            lines: list[bytes] = []
            shown = found.metadata.get(version)
            if version == first:
                shown = shown or found.metadata[None]
                if found.protocol != protocol:
                    lines.append(_line({"protocol": found.protocol}))
            if shown is not None and shown != metadata:
                lines.append(_line({"metaData": shown}))
                metadata = shown
            lines += [file.line for file in some]
            _apply(lines, live)
            if version in exact:
                rewritten = _rewritten(live, exact[version], time_ms)
                _apply(rewritten, live)
                lines += rewritten
            self._put_commit(version, time_ms, lines, is_delta=found.is_delta)
        return urls

    def _exact(
        self, files: Mapping[int, ReceivedFiles], first: int, last: int
    ) -> dict[int, TableActions]:
        """Return the files of the newest version; of others where commits lack some."""
        newest = self._ask_files(last)
        live = self._live()
        for version in range(first, last + 1):
            _apply((one.line for one in files.get(version, ReceivedFiles())), live)
        if first == last or not _rewritten(live, newest, 0):
            return {last: newest}
        if last - first > FIRST_VERSIONS or len(newest.files) > MOST_FILES:
            raise self._refusal(reason="its commits leave files out")
        older = range(first, last)
        return {one: self._ask_files(one) for one in older} | {last: newest}

    def _live(self) -> dict[_Key, bytes]:
        """Return the lines of the files that are live by the log."""
        live: dict[_Key, bytes] = {}
        for name in self._log.list_names_from(""):
            if _is_of_log(name):
                lines = self._log.read(name).split(b"\n")
                _apply((line for line in lines if _is_of_file(line)), live)
        return live

    def _with_feed(
        self, files: Mapping[int, ReceivedFiles], first: int, last: int
    ) -> tuple[dict[int, ReceivedFiles], SignedURLs]:
        """Add the files with changed rows to those of each version."""
        both = dict(files)
        try:
            found = self._ask_changes(first, last)
        except RequestRefusedError:
            return both, SignedURLs()  # it is not shared, or not for all of them
        for version, rows in found.files.of_kind("cdc").by_version().items():
            both[version] = both.get(version, ReceivedFiles()) + rows
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
        self, version: int, time_ms: int, lines: list[bytes], *, is_delta: bool
    ) -> None:
        info = {
            "timestamp": time_ms,
            "inCommitTimestamp": time_ms,
            "operation": OPERATION,
            "operationParameters": {"responseFormat": DELTA if is_delta else PARQUET},
        }
        name = commit_name(version)
        self._log.put(name, _text([_line({"commitInfo": info}), *lines]))
        path = self._folder / LOG_FOLDER / name
        os.utime(path, ns=(time_ms * 1_000_000,) * 2)

    def _ask_files(self, version: int | None) -> TableActions:
        return self._client.files(self._table, self._parsed, version=version)

    def _ask_changes(self, first: int, last: int) -> TableActions:
        return self._client.changes(self._table, first, last, self._parsed)

    def _refusal(self, *, reason: str) -> RequestRefusedError:
        return RequestRefusedError(provider=self._provider, reason=reason)

    def _parsed(self, answer: TableAnswer) -> TableActions:
        return parse_actions(answer, provider=self._provider, root=self._root)


def _is_of_log(name: str) -> bool:
    is_file = parse_commit_name(name) is not None
    return is_file or parse_checkpoint_name(name) is not None


def _line(action: Mapping[str, Any]) -> bytes:
    return json.dumps(action).encode()


def _text(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _is_of_file(line: bytes) -> bool:
    return line.startswith((b'{"add"', b'{"remove"'))


def _apply(lines: Iterable[bytes], live: dict[_Key, bytes]) -> None:
    """Bring the live files up to date.

    Source: delta_protocol.md, "Action Reconciliation".
    """
    for line in lines:
        for kind, action in json.loads(line).items():
            if kind == "add":
                live[_key(action)] = line
            elif kind == "remove":
                live.pop(_key(action), None)


def _key(action: Action) -> _Key:
    """Return what tells a logical file from others: its path and its vector."""
    vector = action.get("deletionVector") or {}
    return action["path"], vector.get("pathOrInlineDv"), vector.get("offset")


def _rewritten(
    live: Mapping[_Key, bytes], exact: TableActions, time_ms: int
) -> list[bytes]:
    """Return the lines that make the live files those that a version has."""
    files = {_key(file.action): file for file in exact.files}
    gone = [line for key, line in live.items() if key not in files]
    come = [file for key, file in files.items() if key not in live]
    kept = ("path", "partitionValues", "size", "deletionVector")
    lines = []
    for line in gone:
        old = json.loads(line)["add"]
        removed = {name: old[name] for name in kept if name in old}
        removed |= {
            "deletionTimestamp": time_ms,
            "dataChange": False,
            "extendedFileMetadata": True,
        }
        lines.append(_line({"remove": removed}))
    adds = ({"add": {**file.action, "dataChange": False}} for file in come)
    return [*lines, *map(_line, adds)]
