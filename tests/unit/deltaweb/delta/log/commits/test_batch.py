"""Commits parsed in batches: many or one, and around what does not read."""

from typing import Any

import pytest

from deltaweb.delta.log.commits.batch import CommitBatch, read_commit_batches
from tests.support import cases
from tests.support.logs.delta_logs import (
    Action,
    LogBuilder,
    add,
    deletion_vector,
    metadata,
    protocol,
    remove,
    txn,
)

GOOD = 9
ODD: dict[str, Action] = {
    "a size that is text": add("x", size="12"),
    "a metaData that is none": {"metaData": {"id": 5}},
    "a protocol without versions": {"protocol": {}},
    "a deletion vector that is text": add("x", deletionVector="u"),
}


@pytest.fixture(params=[1, 1 << 30], ids=["a batch a commit", "one batch"])
def batch_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    size: int = request.param
    monkeypatch.setattr("deltaweb.delta.log.commits.batch.BATCH_BYTES", size)
    return size


def read(builder: LogBuilder, count: int) -> list[CommitBatch]:
    return list(read_commit_batches(builder.store, range(count)))


@pytest.mark.usefixtures("batch_bytes")
class TestBatches:
    def test_hold_every_commit_once_and_in_order(self) -> None:
        builder = LogBuilder().start()
        for version in range(1, GOOD):
            info = {"commitInfo": {"operation": f"O{version}"}}
            builder.commit(version, info, *[add(f"{version}-{n}") for n in range(3)])

        batches = read(builder, GOOD)

        versions = [version for batch in batches for version in batch.versions]
        assert versions == [*range(GOOD)]
        counts = [count for batch in batches for count in batch.adds.count.tolist()]
        assert counts == [0] + [3] * (GOOD - 1)
        infos = [b.info(at) for b in batches for at in range(len(b.versions))]
        assert infos == [None, *({"operation": f"O{n}"} for n in range(1, GOOD))]
        said = [one for batch in batches for one in batch.provenance.operations]
        assert said == [None, *(f"O{n}" for n in range(1, GOOD))]

    @pytest.mark.parametrize("odd", ODD)
    def test_part_from_the_others_a_commit_that_is_odd(self, odd: str) -> None:
        builder = LogBuilder().start()
        for version in range(1, GOOD):
            builder.commit(version, add(str(version)))
        builder.commit(4, add("4"), ODD[odd])

        batches = read(builder, GOOD)

        (spoilt,) = [batch for batch in batches if not batch.has_identities]
        assert [*spoilt.versions] == [4]
        reads = odd == "a deletion vector that is text"
        assert (spoilt.fault is None) == reads
        assert spoilt.adds.count.tolist() == [2 if reads else 0]
        others = [
            count
            for batch in batches
            if batch is not spoilt
            for count in batch.adds.count.tolist()
        ]
        assert others == [0] + [1] * (GOOD - 2)

    def test_of_no_commit_are_none(self) -> None:
        assert read(LogBuilder(), 0) == []


class TestNumbers:
    @cases("stats", {"text": '{"numRecords":5}', "an object": {"numRecords": 5}})
    def test_are_known_where_every_action_tells(self, stats: object) -> None:
        rows = {"stats": stats}
        builder = (
            LogBuilder()
            .start(add("a", **rows), add("b", size=2, **rows))
            .commit(1, remove("a"), remove("b", size=2), add("c"))
            .commit(2, remove("c", dataChange=False, size=1, **rows), txn("app", 1))
        )

        (batch,) = read(builder, 3)

        assert batch.adds.size.tolist() == [3, 1, 0]
        assert batch.adds.is_counted.tolist() == [True, False, True]
        assert batch.adds.rows.tolist() == [10, 0, 0]
        assert batch.removes.is_sized.tolist() == [True, False, True]
        assert batch.removes.changes.tolist() == [0, 2, 0]
        assert [*batch.transactions] == [2]
        assert batch.actions.num_lines.tolist() == [4, 3, 2]

    def test_take_the_last_of_what_a_commit_says_twice(self) -> None:
        builder = LogBuilder().commit(
            0, protocol(), metadata("old"), metadata("new"), protocol(2, 5)
        )

        (batch,) = read(builder, 1)

        assert batch.metadata[0].id == "new"
        assert batch.protocols[0].min_writer_version == 5

    @pytest.mark.parametrize("last", [{"operation": "new"}, {"operation": 5}])
    def test_take_the_last_commit_info(self, last: dict[str, Any]) -> None:
        infos: list[Any] = [{"operation": "old", "userName": "Ann"}, last]
        builder = LogBuilder().start(*({"commitInfo": info} for info in infos))

        (batch,) = read(builder, 1)

        assert batch.info(0) == last
        assert batch.provenance.operations == [str(last["operation"])]
        assert batch.provenance.users == [None]

    def test_know_deletion_vectors(self) -> None:
        builder = LogBuilder().start(add("a", deletionVector=deletion_vector("v")))

        (batch,) = read(builder, 1)

        assert batch.has_identities
