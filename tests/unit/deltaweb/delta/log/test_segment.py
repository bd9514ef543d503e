import json

import pytest

from deltaweb.delta.errors import (
    LocationNotFoundError,
    LogCorruptError,
    LogGapError,
    TableNotFoundError,
    VersionNotFoundError,
)
from deltaweb.delta.log.paths import checkpoint_name, checkpoint_part_names, commit_name
from deltaweb.delta.log.segment import (
    Checkpoint,
    LogSegment,
    VersionRun,
    load_log_segment,
    parse_listing,
    read_hint_version,
    readable_runs,
)
from tests.support import cases
from tests.support.logs.delta_logs import uuid_checkpoint_name
from tests.support.stores.memory import MemoryTableStore


class ListedStore(MemoryTableStore):
    """A store that notes where its listings began."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.listed_from: list[str] = []
        for name in names:
            self.put(name, b"")

    def list_names_from(self, name: str) -> list[str]:
        self.listed_from.append(name)
        return super().list_names_from(name)


def commits(*versions: int) -> list[str]:
    return [commit_name(version) for version in versions]


def segment(version: int | None, *names: str) -> LogSegment:
    return load_log_segment(ListedStore(*names), version)


class TestChoice:
    def test_is_all_commits_without_a_checkpoint(self) -> None:
        found = segment(None, *commits(0, 1, 2))

        assert found == LogSegment(2, None, range(3))
        assert found.commit_names == commits(0, 1, 2)

    def test_begins_after_the_newest_checkpoint(self) -> None:
        names = [checkpoint_name(1), checkpoint_name(3), *commits(0, 1, 2, 3, 4)]

        found = segment(None, *names)

        assert found.checkpoint is not None
        assert found.checkpoint.version == 3
        assert found.commit_versions == range(4, 5)

    def test_takes_the_newest_checkpoint_at_or_before_the_version(self) -> None:
        names = [checkpoint_name(1), checkpoint_name(3), *commits(0, 1, 2, 3, 4)]

        for version, expected in ((0, None), (1, 1), (2, 1), (3, 3), (4, 3)):
            found = segment(version, *names).checkpoint
            assert (found.version if found else None) == expected

    def test_passes_over_an_incomplete_checkpoint(self) -> None:
        parts = checkpoint_part_names(2, 3)

        found = segment(None, parts[0], parts[2], *commits(0, 1, 2, 3))

        assert found.checkpoint is None

    def test_does_not_mix_parts_of_two_sets(self) -> None:
        mixed = [checkpoint_part_names(2, 2)[0], checkpoint_part_names(2, 3)[1]]

        assert segment(None, *mixed, *commits(0, 1, 2)).checkpoint is None

    def test_takes_a_complete_multi_part_checkpoint(self) -> None:
        parts = checkpoint_part_names(2, 3)

        found = segment(None, *parts, *commits(2, 3)).checkpoint

        assert found is not None
        assert found.names == parts

    def test_needs_no_commit_of_the_checkpoint_itself(self) -> None:
        assert segment(None, checkpoint_name(7)).version == 7

    def test_bridges_a_jump_of_the_log_by_a_checkpoint(self) -> None:
        names = [*commits(0, 1, 9999), checkpoint_name(9999)]

        assert segment(None, *names).version == 9999
        assert segment(1, *names).version == 1

    @pytest.mark.parametrize("kind", ["json", "parquet"])
    def test_takes_one_that_is_named_by_a_uuid(self, kind: str) -> None:
        name = uuid_checkpoint_name(5, kind)

        for extra in ([], commits(5, 6)):
            found = segment(None, name, *extra)
            assert found.checkpoint is not None
            assert found.checkpoint.names == (name,)

    def test_prefers_of_one_version_what_nobody_writes_over(self) -> None:
        name = uuid_checkpoint_name(5)
        others = [checkpoint_name(5), *checkpoint_part_names(5, 2)]
        names = [name, *others, *commits(5, 6)]
        store = ListedStore(*names)

        chosen: list[Checkpoint] = []
        for _ in range(3):
            found = load_log_segment(store, unreadable=chosen).checkpoint
            assert found is not None
            chosen.append(found)

        assert [checkpoint.names for checkpoint in chosen] == [
            (name,),
            (checkpoint_name(5),),
            checkpoint_part_names(5, 2),
        ]


class TestFault:
    def test_a_gap_names_the_missing_commit(self) -> None:
        with pytest.raises(LogGapError) as caught:
            segment(None, *commits(0, 1, 3, 4))

        assert caught.value.missing_version == 2
        assert "commit 2 is missing" in caught.value.message

    def test_a_gap_behind_the_version_is_no_fault(self) -> None:
        assert segment(1, *commits(0, 1, 3)).version == 1

    def test_a_log_that_starts_late_without_a_checkpoint_is_a_gap(self) -> None:
        with pytest.raises(LogGapError) as caught:
            segment(None, *commits(5, 6))

        assert caught.value.missing_version == 0

    def test_a_version_outside_tells_the_readable_range(self) -> None:
        names = [checkpoint_name(5), *commits(3, 4, 5, 6)]

        for version in (0, 4, 7, -1, 2**70):
            with pytest.raises(VersionNotFoundError) as caught:
                segment(version, *names)
            assert (caught.value.earliest, caught.value.latest) == (5, 6)

    def test_the_range_is_whole_where_a_hint_shortened_the_listing(self) -> None:
        store = ListedStore(checkpoint_name(5), *commits(0, 1, 2, 3, 4, 5))
        store.put("_last_checkpoint", b'{"version": 5}')

        with pytest.raises(VersionNotFoundError) as caught:
            load_log_segment(store, 9)

        assert (caught.value.earliest, caught.value.latest) == (0, 5)

    def test_an_empty_log_is_no_table(self) -> None:
        with pytest.raises(TableNotFoundError):
            segment(None, "notes.txt")

    def test_a_root_without_anything_does_not_exist(self) -> None:
        with pytest.raises(LocationNotFoundError):
            segment(None)


class TestHint:
    def test_begins_the_listing_where_it_serves(self) -> None:
        store = ListedStore(checkpoint_name(5), *commits(4, 5, 6))
        store.put("_last_checkpoint", json.dumps({"version": 5}).encode())

        for version in (None, 5, 6):
            assert load_log_segment(store, version).checkpoint is not None

        assert set(store.listed_from) == {"00000000000000000005"}

    @pytest.mark.parametrize(
        "hint", [4, 6, 99], ids=["no checkpoint", "incomplete", "ahead"]
    )
    def test_that_names_no_checkpoint_falls_back_to_the_whole_log(self, hint: int):
        parts = checkpoint_part_names(6, 2)
        store = ListedStore(checkpoint_name(5), parts[0], *commits(5, 6))
        store.put("_last_checkpoint", json.dumps({"version": hint}).encode())

        found = load_log_segment(store, None)

        assert found.version == 6
        assert found.checkpoint is not None
        assert found.checkpoint.version == 5

    def test_that_is_stale_does_not_hide_newer_checkpoints(self) -> None:
        store = ListedStore(checkpoint_name(2), checkpoint_name(5), *commits(2, 3, 5))
        store.put("_last_checkpoint", json.dumps({"version": 2}).encode())

        assert load_log_segment(store, None).version == 5

    def test_after_the_version_asked_for_is_not_used(self) -> None:
        store = ListedStore(checkpoint_name(5), *commits(0, 1, 5))
        store.put("_last_checkpoint", json.dumps({"version": 5}).encode())

        assert load_log_segment(store, 1).checkpoint is None

    @pytest.mark.parametrize(
        "text",
        [
            *(b"", b"{", b"[5]", b"5", b'{"version": "5"}', b'{"version": true}'),
            *(b'{"version": 5, "version": 5}', b'{"version": 5, "checksum": "0"}'),
        ],
    )
    def test_that_is_no_hint_reads_as_none(self, text: bytes) -> None:
        store = MemoryTableStore()
        store.put("_last_checkpoint", text)

        assert read_hint_version(store) is None

    def test_may_carry_more_than_we_know(self) -> None:
        store = MemoryTableStore()
        store.put("_last_checkpoint", b'{"version": 5, "parts": null, "x": {}}')

        assert read_hint_version(store) == 5


@cases(
    "names, expected",
    {
        "from the beginning": (commits(0, 1, 2), [(0, 2)]),
        "nothing to start from": (commits(1, 2), []),
        "a checkpoint alone": ([checkpoint_name(3)], [(3, 3)]),
        "a gap": ([*commits(0, 1, 3, 4), checkpoint_name(4)], [(0, 1), (4, 4)]),
        "a bridged gap": ([*commits(0, 1, 3), checkpoint_name(2)], [(0, 3)]),
        "cleaned up": ([*commits(4, 5, 6), checkpoint_name(5)], [(5, 6)]),
        "one run": ([*commits(0, 1, 2, 3), checkpoint_name(1)], [(0, 3)]),
    },
)
def test_readable_runs(names: list[str], expected: list[tuple[int, int]]) -> None:
    listing = parse_listing(sorted(names), is_whole=True)

    runs = readable_runs(listing)

    assert runs == [VersionRun(first, last) for first, last in expected]


class TestFiles:
    def test_have_the_bytes_of_the_checkpoint_and_the_commits_after_it(self) -> None:
        store = MemoryTableStore()
        for position, name in enumerate([*commits(0, 1, 2, 3), checkpoint_name(2)]):
            store.put(name, b"x" * 10**position)

        assert load_log_segment(store, 1).size_bytes(store) == 11
        assert load_log_segment(store).size_bytes(store) == 11_000

    def test_of_commits_are_shown_with_their_sizes_oldest_first(self) -> None:
        store = MemoryTableStore()
        for position, name in enumerate([*commits(0, 1, 2, 3), checkpoint_name(1)]):
            store.put(name, b"x" * position)

        found = load_log_segment(store).replayed_statuses(store)

        assert [(status.name, status.size) for status in found] == [
            (commit_name(2), 2),
            (commit_name(3), 3),
        ]

    def test_that_go_away_between_two_listings_are_named(self) -> None:
        store = ListedStore(*commits(0, 1, 2, 3))
        found = load_log_segment(store)
        for version in (1, 2):
            store.delete(commit_name(version))

        with pytest.raises(LogCorruptError, match=r"1\.json.*disappeared"):
            found.replayed_statuses(store)

    def test_of_a_checkpoint_alone_are_no_commits(self) -> None:
        store = ListedStore(checkpoint_name(3))

        assert load_log_segment(store).replayed_statuses(store) == []
