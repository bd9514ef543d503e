"""Checkpoints and hints that are broken or odd: the commits are read instead."""

import pytest

from deltaweb.delta.errors import DeltaError
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


@pytest.mark.parametrize(
    "hint",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"version":', id="torn"),
        pytest.param(b"\xff\xfe", id="not UTF-8"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"version":"1"}', id="text"),
        pytest.param(b'{"version":-1}', id="negative"),
        pytest.param(b'{"version":true}', id="a truth"),
        pytest.param(b'{"version":1.5}', id="a fraction"),
        pytest.param(b'{"version":' + HUGE + b"}", id="huge"),
        pytest.param(b'{"version":99999999999999999999}', id="beyond a long"),
        pytest.param(DEEP, id="deep"),
        pytest.param(b'{"version":7}', id="ahead of the log"),
        pytest.param(b'{"version":1,"parts":3}', id="of parts that are not there"),
        pytest.param(b"x" * (2 << 20), id="of two megabytes"),
    ],
)
def test_a_bad_hint_changes_nothing(hint: bytes) -> None:
    builder = LogBuilder().raw_commit(0, START).commit(1, add("more")).hint(hint)

    assert builder.table.snapshot().version == 1
    assert builder.table.latest_version() == 1
