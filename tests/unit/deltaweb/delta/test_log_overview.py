import pytest

from deltaweb.delta.errors import TableNotFoundError
from deltaweb.delta.log_overview import load_log_overview
from deltaweb.delta.log_segment import VersionRun
from tests.delta_logs import LogBuilder, add, commit_bytes, metadata, protocol


def test_one_listing_tells_commits_times_and_runs() -> None:
    builder = LogBuilder().start().commit(1, add("a")).commit(7, add("b"))
    builder.checkpoint(5, protocol(), metadata()).commit(6, add("c"))
    builder.time(0, 100).time(1, 50)

    overview = load_log_overview(builder.store)

    assert overview.listing.commits == [0, 1, 6, 7]
    assert [found.version for found in overview.listing.checkpoints] == [5]
    assert overview.times.times_ms[:2] == [100, 101]
    assert overview.runs == [VersionRun(0, 1), VersionRun(5, 7)]


def test_a_log_without_commits_is_no_table() -> None:
    builder = LogBuilder()
    builder.store.put("_last_checkpoint", commit_bytes({}))

    with pytest.raises(TableNotFoundError):
        load_log_overview(builder.store)
