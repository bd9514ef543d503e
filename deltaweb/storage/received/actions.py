"""The lines of a provider's answer as actions of a log, and where its files are.

A file gets a path of ours, made of the id that the provider gives it, which is the same
in every answer; its URL, which ends, is kept beside the log.

Source: delta_sharing_protocol_2026.md, "API Response Actions".
"""

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

import pyarrow as pa

from deltaweb.delta.deletion_vectors.descriptor import ABSOLUTE
from deltaweb.storage.received.client import TableAnswer
from deltaweb.storage.received.columns import (
    Action,
    FileAction,
    ReceivedFiles,
    RowsToColumns,
    SignedURLs,
)
from deltaweb.storage.received.errors import ProviderAnswerError
from deltaweb.storage.received.numbers import stats_with_numbers, whole, with_numbers

CHANGE_FOLDER: Final = "_change_data"
_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
_VERSIONS: Final = ("minReaderVersion", "minWriterVersion")
_FILE_NUMBERS: Final = (
    *("size", "modificationTime", "deletionTimestamp"),
    *("baseRowId", "defaultRowCommitVersion"),
)
_VECTOR_NUMBERS: Final = ("offset", "sizeInBytes", "cardinality")
_KINDS: Final = {"file": "add", "add": "add", "remove": "remove", "cdf": "cdc"}
_PLAIN_PROTOCOL: Final = {"minReaderVersion": 1, "minWriterVersion": 2}
"""Of tables in parquet format: whoever serves it, applies what else there is."""
_PLAIN_METADATA: Final = (
    *("id", "name", "description", "format", "schemaString", "partitionColumns"),
    "configuration",
)


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
    files: ReceivedFiles
    urls: SignedURLs


def parse_actions(answer: TableAnswer, *, provider: str, root: str) -> TableActions:
    """Return what an answer tells.

    Args:
        root: Root of the table, below which the paths of deletion vectors are.
    """
    protocol: Action = _PLAIN_PROTOCOL
    metadata: dict[int | None, Action] = {}
    files, urls = ReceivedFiles.builder(), SignedURLs.builder()
    try:
        for line in answer.lines:
            for key, value in line.items():
                if key == "protocol" and answer.is_delta:
                    protocol = with_numbers(value["deltaProtocol"], _VERSIONS)
                elif key == "metaData":
                    version = whole(value.get("version")) if metadata else None
                    metadata[version] = _metadata(value)
                elif key in _KINDS:
                    file = _file(key, value, urls, root)
                    files.append(file.kind, file.version, file.timestamp_ms, file.line)
        if not metadata:
            raise KeyError("metaData")  # noqa: TRY301, EM101  # as any line that lacks it
        found = ReceivedFiles(files.table()), SignedURLs(urls.table())
    except (KeyError, TypeError, ValueError, AttributeError, pa.ArrowInvalid):
        reason = "a line of its answer is not part of the protocol"
        raise ProviderAnswerError(provider=provider, reason=reason) from None
    return TableActions(answer.version, answer.is_delta, protocol, metadata, *found)


def _metadata(value: Action) -> Action:
    if "deltaMetadata" in value:
        return with_numbers(value["deltaMetadata"], ("createdTime",))
    plain = {
        name: value[name] for name in _PLAIN_METADATA if value.get(name) is not None
    }
    return {"partitionColumns": [], "configuration": {}, **plain}


def _file(key: str, value: Action, urls: RowsToColumns, root: str) -> FileAction:
    expires_ms = whole(value.get("expirationTimestamp"))
    if "deltaSingleAction" in value:
        ((kind, action),) = value["deltaSingleAction"].items()
    else:
        kind, action = _KINDS[key], _plain_action(_KINDS[key], value)
    if kind not in {"add", "remove", "cdc"}:
        raise ValueError(kind)
    action = _with_numbers(action)
    url = _text(action["path"])
    action["path"] = _path(value.get("id"), url, kind)
    urls.append(action["path"], url, expires_ms, whole(action.get("size")))
    vector = action.get("deletionVector")
    if vector is not None and vector["storageType"] == ABSOLUTE:
        vector_url = _text(vector["pathOrInlineDv"])
        name = f"{_id(value.get('deletionVectorFileId'), vector_url)}.bin"
        urls.append(name, vector_url, expires_ms, None)
        action["deletionVector"] = {**vector, "pathOrInlineDv": f"{root}/{name}"}
    version, time_ms = whole(value.get("version")), whole(value.get("timestamp"))
    return FileAction.of(kind, action, version=version, timestamp_ms=time_ms)


def _plain_action(kind: str, value: Action) -> Action:
    """Return the action of a line in parquet format."""
    action = {
        "path": value["url"],
        "partitionValues": value["partitionValues"],
        "size": value["size"],
        "dataChange": kind != "cdc",
    }
    time_ms = whole(value.get("timestamp")) or 0
    if kind == "add":
        action |= {"modificationTime": time_ms}
        action |= {"stats": value["stats"]} if value.get("stats") else {}
    elif kind == "remove":
        action |= {"deletionTimestamp": time_ms, "extendedFileMetadata": True}
    return action


def _with_numbers(action: Action) -> Action:
    """Return an action on a file whose numbers are numbers, and partition values texts.

    Source: Delta protocol, "Add File", "Partition Value Serialization".
    """
    action = with_numbers(action, _FILE_NUMBERS)
    vector = action.get("deletionVector")
    if vector is not None:
        action["deletionVector"] = with_numbers(vector, _VECTOR_NUMBERS)
    values = action.get("partitionValues")
    if values and not all(
        one is None or isinstance(one, str) for one in values.values()
    ):
        action["partitionValues"] = {
            name: one if one is None or isinstance(one, str) else json.dumps(one)
            for name, one in values.items()
        }
    if isinstance(action.get("stats"), str):
        action["stats"] = stats_with_numbers(action["stats"])
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
