"""Checkpoints and hints that are broken or odd: the commits are read instead."""

import pytest

from deltaweb.delta.errors import DeltaError
from tests.support import cases
from tests.support.logs.delta_logs import (
    LogBuilder,
    add,
    checkpoint_bytes,
    metadata,
    protocol,
    remove,
)
from tests.support.logs.hostile_logs import DEEP, HUGE, START

CHECKPOINT = [protocol(), metadata(), add("good")]
ODD_CHECKPOINTS: dict[str, bytes] = {
    "empty": b"",
    "not Parquet": b"PAR1 but not really PAR1",
    "torn": checkpoint_bytes(CHECKPOINT)[:-20],
    "without its beginning": checkpoint_bytes(CHECKPOINT)[20:],
    "of zeros": b"\0" * 4096,
    "with a footer beyond its end": b"PAR1" + b"\xff\xff\xff\x7f" + b"PAR1",
    "JSON": START,
}


@pytest.mark.parametrize("data", ODD_CHECKPOINTS.values(), ids=ODD_CHECKPOINTS.keys())
class TestOddCheckpoint:
    def test_is_passed_over_for_the_commits(self, data: bytes) -> None:
        builder = LogBuilder().raw_commit(0, START).commit(1, add("more"))
        builder.store.put("00000000000000000001.checkpoint.parquet", data)
        builder.hint(b'{"version":1,"size":3}')

        paths = builder.table.snapshot().files["path"].to_pylist()

        assert sorted(paths) == ["good", "more"]

    def test_is_passed_over_for_an_older_checkpoint(self, data: bytes) -> None:
        builder = LogBuilder().checkpoint(3, *CHECKPOINT)
        builder.commit(4, add("more")).commit(5, remove("good"))
        builder.store.put("00000000000000000005.checkpoint.parquet", data)

        assert builder.table.snapshot().files["path"].to_pylist() == ["more"]

    def test_is_an_error_where_nothing_else_is_left(self, data: bytes) -> None:
        builder = LogBuilder()
        builder.store.put("00000000000000000005.checkpoint.parquet", data)

        with pytest.raises(DeltaError) as caught:
            builder.table.snapshot()

        assert caught.value.code == "log-corrupt"

    def test_of_many_parts_is_passed_over_for_one_bad_part(self, data: bytes) -> None:
        builder = LogBuilder().raw_commit(0, START).commit(1, add("more"))
        builder.checkpoint(1, *CHECKPOINT, add("wrong"), parts=3)
        builder.store.put(
            "00000000000000000001.checkpoint.0000000002.0000000003.parquet", data
        )

        paths = builder.table.snapshot().files["path"].to_pylist()

        assert sorted(paths) == ["good", "more"]


@cases(
    "hint",
    {
        "empty": b"",
        "torn": b'{"version":',
        "not UTF-8": b"\xff\xfe",
        "null": b"null",
        "text": b'{"version":"1"}',
        "negative": b'{"version":-1}',
        "a truth": b'{"version":true}',
        "a fraction": b'{"version":1.5}',
        "huge": b'{"version":' + HUGE + b"}",
        "beyond a long": b'{"version":99999999999999999999}',
        "deep": DEEP,
        "ahead of the log": b'{"version":7}',
        "of parts that are not there": b'{"version":1,"parts":3}',
        "of two megabytes": b"x" * (2 << 20),
    },
)
def test_a_bad_hint_changes_nothing(hint: bytes) -> None:
    builder = LogBuilder().raw_commit(0, START).commit(1, add("more")).hint(hint)

    assert builder.table.snapshot().version == 1
    assert builder.table.latest_version() == 1
