"""The lines of a provider's answer as actions of a log, and where its files are.

A file gets a path of ours, made of the id that the provider gives it, which is the same
in every answer; its URL, which ends, is kept beside the log.

Source: delta_sharing_protocol_2026.md, "API Response Actions".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlsplit

from deltaweb.delta.deletion_vectors.descriptor import ABSOLUTE
from deltaweb.storage.received.client import TableAnswer
from deltaweb.storage.received.errors import ProviderAnswerError

CHANGE_FOLDER: Final = "_change_data"
_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
_KINDS: Final = {"file": "add", "add": "add", "remove": "remove", "cdf": "cdc"}
_PLAIN_PROTOCOL: Final = {"minReaderVersion": 1, "minWriterVersion": 2}
"""Of tables in parquet format: whoever serves it, applies what else there is."""
_PLAIN_METADATA: Final = (
    *("id", "name", "description", "format", "schemaString", "partitionColumns"),
    "configuration",
)

Action = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SignedURL:
    """Where a file is for a while.

    Attributes:
        url: Whoever has it may read the file.
        expires_ms: When it ends, in milliseconds since the epoch; None where the
            provider does not say.
    """

    url: str = field(repr=False)
    expires_ms: int | None
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class FileAction:
    """One action of a log on a file.

    Attributes:
        kind: `add`, `remove` or `cdc`.
        version: Of the table; None in the answer of one version.
    """

    kind: str
    action: Action
    version: int | None
    timestamp_ms: int | None


@dataclass(slots=True)
class TableActions:
    """What one answer tells of a table.

    Attributes:
        version: Of the table, by the header; None where it says none.
        metadata: The metadata by the version from which on it holds; None is the
            first of the answer.
        files: In the order of the answer.
        urls: By the path that the log has of a file, and of a deletion vector.
    """

    version: int | None
    is_delta: bool
    protocol: Action
    metadata: dict[int | None, Action]
    files: list[FileAction]
    urls: dict[str, SignedURL]


def parse_actions(answer: TableAnswer, *, provider: str, root: str) -> TableActions:
    """Return what an answer tells.

    Args:
        root: Root of the table, below which the paths of deletion vectors are.
    """
    found = TableActions(answer.version, answer.is_delta, _PLAIN_PROTOCOL, {}, [], {})
    try:
        for line in answer.lines:
            for key, value in line.items():
                if key == "protocol" and answer.is_delta:
                    found.protocol = dict(value["deltaProtocol"])
                elif key == "metaData":
                    version = value.get("version") if found.metadata else None
                    found.metadata[version] = _metadata(value)
                elif key in _KINDS:
                    found.files.append(_file(key, value, found.urls, root))
        if not found.metadata:
            raise KeyError("metaData")  # noqa: TRY301, EM101  # as any line that lacks it
    except (KeyError, TypeError, ValueError, AttributeError):
        reason = "a line of its answer is not part of the protocol"
        raise ProviderAnswerError(provider=provider, reason=reason) from None
    return found


def _metadata(value: Action) -> Action:
    if "deltaMetadata" in value:
        return dict(value["deltaMetadata"])
    plain = {
        name: value[name] for name in _PLAIN_METADATA if value.get(name) is not None
    }
    return {"partitionColumns": [], "configuration": {}, **plain}


def _file(key: str, value: Action, urls: dict[str, SignedURL], root: str) -> FileAction:
    expires_ms = _whole(value.get("expirationTimestamp"))
    if "deltaSingleAction" in value:
        ((kind, action),) = value["deltaSingleAction"].items()
        action = dict(action)
    else:
        kind, action = _KINDS[key], _plain_action(_KINDS[key], value)
    if kind not in {"add", "remove", "cdc"}:
        raise ValueError(kind)
    url = _text(action["path"])
    action["path"] = _path(value.get("id"), url, kind)
    urls[action["path"]] = SignedURL(url, expires_ms, _whole(action.get("size")))
    vector = action.get("deletionVector")
    if vector is not None and vector["storageType"] == ABSOLUTE:
        vector_url = _text(vector["pathOrInlineDv"])
        name = f"{_id(value.get('deletionVectorFileId'), vector_url)}.bin"
        urls[name] = SignedURL(vector_url, expires_ms, None)
        action["deletionVector"] = {**vector, "pathOrInlineDv": f"{root}/{name}"}
    version = _whole(value.get("version"))
    return FileAction(kind, action, version, _whole(value.get("timestamp")))


def _plain_action(kind: str, value: Action) -> Action:
    """Return the action of a line in parquet format."""
    action = {
        "path": value["url"],
        "partitionValues": value["partitionValues"],
        "size": value["size"],
        "dataChange": kind != "cdc",
    }
    time_ms = _whole(value.get("timestamp")) or 0
    if kind == "add":
        action |= {"modificationTime": time_ms}
        action |= {"stats": value["stats"]} if value.get("stats") else {}
    elif kind == "remove":
        action |= {"deletionTimestamp": time_ms, "extendedFileMetadata": True}
    return action


def _path(file_id: object, url: str, kind: str) -> str:
    folder = f"{CHANGE_FOLDER}/" if kind == "cdc" else ""
    return f"{folder}{_id(file_id, url)}.parquet"


def _id(value: object, url: str) -> str:
    """Return an id as a name of a file: its own, or a digest where it is not one."""
    if isinstance(value, str) and _PLAIN_ID.fullmatch(value):
        return value
    known = value if isinstance(value, str) and value else urlsplit(url).path
    return sha256(known.encode(errors="surrogatepass")).hexdigest()


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _whole(value: object) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value < 2**63 else None  # type: ignore[operator,return-value]


def by_version(files: list[FileAction]) -> Iterator[tuple[int, list[FileAction]]]:
    """Yield the actions of each version, ascending."""
    found: dict[int, list[FileAction]] = {}
    for file in files:
        if file.version is not None:
            found.setdefault(file.version, []).append(file)
    yield from sorted(found.items())
