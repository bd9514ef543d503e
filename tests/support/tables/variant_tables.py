"""A table of events whose variants are plain, or in part columns of their own."""

import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.log.paths import commit_name
from tests.support.logs.delta_logs import add, commit_bytes, metadata, protocol
from tests.support.logs.local_logs import stats_of, typed_schema
from tests.unit.deltaweb.delta.values.test_variants import (
    members,
    names,
    primitive,
    text,
)

NAMES = names("user", "id", "zip code", "on", "note")
USER, ID, ZIP, ON, NOTE = range(5)
FEATURES = ["variantType"]
USERS: list[int | str] = [42, 7, "unknown", 100]
"""The id of the user of each event; the fifth event has no variant at all."""
TEXTS = [
    '{"note":null,"on":"1970-01-02","user":{"id":42,"zip code":"10115"}}',
    '{"note":null,"on":"1970-01-02","user":{"id":7,"zip code":"10115"}}',
    '{"note":null,"on":"1970-01-02","user":{"id":"unknown","zip code":"10115"}}',
    '{"note":null,"on":"1970-01-02","user":{"id":100,"zip code":"10115"}}',
    None,
]
USER_ID, ZIP_CODE = "v:$.user.id::bigint", "v:$.user['zip code']::string"


def variants(*, shredded: bool) -> pa.Array:
    """Return the variants of the events as files hold them."""
    rows = [_shredded(user) if shredded else _plain(user) for user in USERS]
    return pa.array([*rows, None], _SHREDDED if shredded else _PLAIN)


def write_events(folder: Path, *, shredded: bool) -> Path:
    """Write a table of two files, of the first two events and of the others."""
    (folder / "_delta_log").mkdir(parents=True)
    rows = pa.table({"id": [1, 2, 3, 4, 5], "v": variants(shredded=shredded)})
    adds = []
    for name, part in (("1.parquet", rows[:2]), ("2.parquet", rows[2:])):
        pq.write_table(part, folder / name)
        ids = part["id"].to_pylist()
        stats = stats_of(len(ids), {"id": ids[0]}, {"id": ids[-1]})
        adds.append(add(name, size=(folder / name).stat().st_size, stats=stats))
    (folder / "_delta_log" / commit_name(0)).write_bytes(
        commit_bytes(
            protocol(3, 7, readerFeatures=FEATURES, writerFeatures=FEATURES),
            metadata(schemaString=typed_schema(id="long", v="variant")),
            *adds,
        )
    )
    return folder


_PLAIN = pa.struct({"metadata": pa.binary(), "value": pa.binary()})
_ID = pa.struct({"value": pa.binary(), "typed_value": pa.int64()})
_USER = pa.struct({"value": pa.binary(), "typed_value": pa.struct({"id": _ID})})
_SHREDDED = pa.struct(
    {
        "metadata": pa.binary(),
        "value": pa.binary(),
        "typed_value": pa.struct({"user": _USER}),
    }
)
_ON = primitive(11, struct.pack("<i", 1))
_NULL = primitive(0)
_ZIP = text("10115")


def _id(user: int | str) -> bytes:
    if isinstance(user, str):
        return text(user)
    return primitive(6, struct.pack("<q", user))


def _plain(user: int | str) -> dict[str, Any]:
    inner = members(**{"id": (ID, _id(user)), "zip code": (ZIP, _ZIP)})
    value = members(note=(NOTE, _NULL), on=(ON, _ON), user=(USER, inner))
    return {"metadata": NAMES, "value": value}


def _shredded(user: int | str) -> dict[str, Any]:
    own = {"value": text(user)} if isinstance(user, str) else {"typed_value": user}
    rest = members(**{"zip code": (ZIP, _ZIP)})
    return {
        "metadata": NAMES,
        "value": members(note=(NOTE, _NULL), on=(ON, _ON)),
        "typed_value": {"user": {"value": rest, "typed_value": {"id": own}}},
    }
