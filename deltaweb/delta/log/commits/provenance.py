"""What many commits say of themselves, with objects as the JSON that they are.

A history holds the parameters and metrics of 100,000 commits and looks into few of
them, so they are cut from the lines and nothing is built of them. `msgspec` takes
strict JSON alone; of lines with anything else the standard library makes sense.

Source: delta_protocol.md, "Commit Provenance Information".
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from deltaweb.delta.log.commits.arrow_reader import load_json
from deltaweb.delta.log.commits.info import own_time_ms
from deltaweb.delta.protocol.actions import parse_provenance
from deltaweb.environment.bounded_json import nests_too_deeply

NO_OBJECT: Final = b"{}"
REFUSALS: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What `msgspec` raises of JSON that is not strict, or nests too deeply."""
_NOTHING: Final = msgspec.Raw(NO_OBJECT)


_Time = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class RawProvenance(msgspec.Struct, gc=False):
    """What a commitInfo says; the objects are JSON, or any other value of JSON.

    `deltaweb.delta.protocol.actions.Provenance` has them as Python's.
    """

    operation: str | None = None
    parameters: msgspec.Raw = msgspec.field(
        default=_NOTHING, name="operationParameters"
    )
    metrics: msgspec.Raw = msgspec.field(default=_NOTHING, name="operationMetrics")
    engine_info: str | None = msgspec.field(default=None, name="engineInfo")
    user_name: str | None = msgspec.field(default=None, name="userName")
    user_id: str | None = msgspec.field(default=None, name="userId")
    own_ms: _Time | None = msgspec.field(default=None, name="inCommitTimestamp")


SAYS_NOTHING: Final = RawProvenance()


class Provenances(NamedTuple):
    """What some commits say, a value a commit; the objects are JSON."""

    operations: list[str | None]
    parameters: list[bytes]
    metrics: list[bytes]
    engine_infos: list[str | None]
    users: list[str | None]
    own_ms: list[int | None]

    @classmethod
    def of(cls, said: Sequence[RawProvenance]) -> "Provenances":
        """Take what is well formed."""
        return cls(
            [one.operation for one in said],
            _objects([one.parameters for one in said]),
            _objects([one.metrics for one in said]),
            [one.engine_info for one in said],
            [one.user_name or one.user_id for one in said],
            [one.own_ms for one in said],
        )


def _objects(values: Sequence[msgspec.Raw]) -> list[bytes]:
    return [
        text if text[:1] == b"{" else NO_OBJECT for text in map(bytes, values)
    ]  # fmt: skip


class _Line(msgspec.Struct, rename="camel", gc=False, forbid_unknown_fields=True):
    commit_info: RawProvenance


_LINE: Final = msgspec.json.Decoder(_Line)
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])


def cut_provenance(lines: Sequence[bytes]) -> list[RawProvenance] | None:
    """Take what commits say from their lines, each with a commitInfo.

    None where a line is not strict JSON, holds more, or a name in it is not text.
    """
    try:
        str(b"".join(lines), "utf-8")  # what is cut is not looked at otherwise
        return [_LINE.decode(line).commit_info for line in lines]
    except REFUSALS:
        return None


def write_provenance(raw: Mapping[str, Any]) -> RawProvenance:
    """Return what a commitInfo says that holds any JSON."""
    said = parse_provenance(raw)
    return RawProvenance(
        said.operation,
        _written(said.parameters),
        _written(said.metrics),
        said.engine_info,
        said.user,
        own_ms=own_time_ms(raw),
    )


def _written(values: Mapping[str, Any]) -> msgspec.Raw:
    try:
        return msgspec.Raw(json.dumps(values).encode())
    except RecursionError:
        return _NOTHING


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
            found.append({} if nests_too_deeply(text) else decode(text))
        except REFUSALS:
            found.append(load_object(text))
    return found
