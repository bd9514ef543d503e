"""Parts that are there already are never mixed with new ones of other files."""

import pytest

from deltaweb.delta.errors import CheckpointPartsError
from deltaweb.delta.log.paths import checkpoint_part_names
from deltaweb.delta.writing.checkpoint.builder import (
    CheckpointRequest,
    prepare_checkpoint,
)
from deltaweb.delta.writing.checkpoint.present_parts import make_way
from tests.support.logs.appendix_log import NOW
from tests.support.logs.delta_logs import LogBuilder, add, metadata, protocol, remove

FILES = [add(f"f{number}") for number in range(8)]
NAMES = checkpoint_part_names(1, 2)


@pytest.fixture
def log() -> LogBuilder:
    """Version 1 has eight files."""
    return LogBuilder().start().commit(1, *FILES, remove("gone"))


@pytest.fixture
def dealt_out(log: LogBuilder) -> LogBuilder:
    """It has a checkpoint in two parts, every other action in either."""
    return log.checkpoint(1, protocol(), metadata(), *FILES, parts=2)


def test_of_another_writer_stay_where_they_are_a_checkpoint(dealt_out: LogBuilder):
    before = dict(dealt_out.store.log_files)

    with pytest.raises(CheckpointPartsError) as caught:
        dealt_out.table.create_checkpoint(parts=2, now=NOW)

    assert "2 parts" in caught.value.message
    assert dealt_out.store.log_files == before


@pytest.mark.parametrize("parts", [None, 1, 3])
def test_of_another_number_are_in_nobodys_way(dealt_out: LogBuilder, parts: int | None):
    written = dealt_out.table.create_checkpoint(parts=parts, now=NOW)

    assert written.num_files == 8
    assert set(NAMES) < set(dealt_out.store.log_files)


@pytest.mark.parametrize("missing", NAMES)
@pytest.mark.parametrize("is_torn", [True, False])
def test_of_another_writer_go_where_one_is_missing_or_torn(
    dealt_out: LogBuilder, missing: str, *, is_torn: bool
) -> None:
    if is_torn:
        dealt_out.store.put(missing, b"PAR1")
    else:
        dealt_out.delete(missing)
    request = CheckpointRequest(now=NOW, version=1, parts=2)

    with prepare_checkpoint(dealt_out.store, request) as (prepared, parts):
        make_way(dealt_out.store, 1, prepared.names)
        for file in parts.files:
            assert _paths(dealt_out) == _paths_of(FILES)
            file.commit()

    for version in (0, 1):
        dealt_out.delete(f"{version:020}.json")
    assert _paths(dealt_out) == _paths_of(FILES)


def test_of_our_own_are_replaced(log: LogBuilder) -> None:
    log.table.create_checkpoint(parts=2, now=NOW)
    request = CheckpointRequest(now=NOW, version=1, parts=2)

    with prepare_checkpoint(log.store, request) as (prepared, parts):
        make_way(log.store, 1, prepared.names)
        assert set(NAMES) < set(log.store.log_files)
        for file in parts.files:
            file.commit()
            assert _paths(log) == _paths_of(FILES)


def _paths(log: LogBuilder) -> list[str]:
    return sorted(log.table.snapshot(1).files["path"].to_pylist())


def _paths_of(files: list[dict[str, dict[str, str]]]) -> list[str]:
    return sorted(action["add"]["path"] for action in files)
