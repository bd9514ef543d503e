"""What many commits say of themselves, with objects as the JSON that they are.

A history holds the parameters and metrics of 100,000 commits and looks into few of
them, so they are cut from the lines and nothing is built of them. `msgspec` takes
strict JSON alone; of lines with anything else the standard library makes sense.

Source: delta_protocol.md, "Commit Provenance Information".
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from deltaweb.delta.action_json import load_json
from deltaweb.delta.actions import parse_provenance

NO_OBJECT: Final = b"{}"
_NOTHING: Final = msgspec.Raw(NO_OBJECT)
_REFUSALS: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class RawProvenance(NamedTuple):
    """What of a commitInfo is well formed; the objects are JSON.

    `deltaweb.delta.actions.Provenance` has them as Python's.
    """

    operation: str | None
    parameters: bytes
    metrics: bytes
    engine_info: str | None
    user: str | None


SAYS_NOTHING: Final = RawProvenance(None, NO_OBJECT, NO_OBJECT, None, None)


class _CommitInfo(msgspec.Struct, rename="camel", gc=False):
    operation: str | None = None
    operation_parameters: msgspec.Raw = _NOTHING
    operation_metrics: msgspec.Raw = _NOTHING
    engine_info: str | None = None
    user_name: str | None = None
    user_id: str | None = None


class _Line(msgspec.Struct, rename="camel", gc=False, forbid_unknown_fields=True):
    commit_info: _CommitInfo


_LINE: Final = msgspec.json.Decoder(_Line)
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])


def cut_provenance(lines: Sequence[bytes]) -> list[RawProvenance] | None:
    """Take what commits say from their lines, each with a commitInfo.

    None where a line is not strict JSON, holds more, or a name in it is no text.
    """
    try:
        str(b"".join(lines), "utf-8")  # what is cut is not looked at otherwise
        said = [_LINE.decode(line).commit_info for line in lines]
    except _REFUSALS:
        return None
    return [
        RawProvenance(
            one.operation,
            _object(one.operation_parameters),
            _object(one.operation_metrics),
            one.engine_info,
            one.user_name or one.user_id,
        )
        for one in said
    ]


def _object(raw: msgspec.Raw) -> bytes:
    text = bytes(raw)
    return text if text[:1] == b"{" else NO_OBJECT


def write_provenance(raw: Mapping[str, Any]) -> RawProvenance:
    """Return what a commitInfo says that holds any JSON."""
    said = parse_provenance(raw)
    return RawProvenance(
        said.operation,
        _written(said.parameters),
        _written(said.metrics),
        said.engine_info,
        said.user,
    )


def _written(values: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(values).encode()
    except RecursionError:
        return NO_OBJECT


def load_object(text: bytes) -> Mapping[str, Any]:
    """Return parameters or metrics; those that nest too deeply say nothing."""
    try:
        values: Mapping[str, Any] = load_json(text)
    except RecursionError:
        return {}
    return values


def load_objects(texts: Iterable[bytes]) -> list[Mapping[str, Any]]:
    """Return many parameters or metrics.

    An integer beyond a long may be one here, and is a float of `load_object`.
    """
    decode = _OBJECT.decode
    found: list[Mapping[str, Any]] = []
    for text in texts:
        try:
            found.append(decode(text))
        except _REFUSALS:
            found.append(load_object(text))
    return found
