"""The table of conflicts: what won, what we do, and whether we may follow.

Files hold the column x: `low` 1 to 9, `high` 100 to 109; we read x > 50, which `high`
and `added high` may match.
"""

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from deltaweb.delta.log.commits.arrow_reader import CommitData
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.scan.predicate import Comparison
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.commit_text import CommitText
from deltaweb.delta.writing.concurrent_commits import WinningCommit, parse_winner
from deltaweb.delta.writing.conflicts import find_conflict
from deltaweb.delta.writing.transaction import (
    EVERYTHING_READ,
    NO_FILES,
    NOTHING_READ,
    TableRead,
    Transaction,
)
from tests.support import cases
from tests.support.tables.written_tables import METADATA, PROTOCOL, added

BASE = Definition(4, PROTOCOL, METADATA)
LOW, HIGH = ("low", "a", 1, 9), ("high", "b", 100, 109)
NEW_LOW, NEW_HIGH = ("new low", "a", 1, 9), ("new high", "b", 100, 109)
OVER_50 = Comparison(("x",), ">", pa.scalar(50, pa.int64()))
READ_HIGH = TableRead(predicate=OVER_50, files=added(HIGH))
WIDER = replace(
    METADATA, schema_string=(METADATA.schema_string or "").replace("x", "y")
)
TAGGED = replace(METADATA, configuration={"team": "blue"})
KEPT_LONGER = replace(
    METADATA, configuration={"delta.logRetentionDuration": "interval 60 days"}
)
LONGER = replace(
    METADATA,
    schema_string=(METADATA.schema_string or "").replace(
        '"fields": [',
        '"fields": [{"name":"new","type":"string","nullable":true,"metadata":{}},',
    ),
)
CONSTRAINED = replace(METADATA, configuration={"delta.constraints.some": "x > 0"})
HIGHER = replace(PROTOCOL, min_writer_version=4)
LISTED = Protocol(
    min_reader_version=1,
    min_writer_version=7,
    writer_features=["appendOnly", "invariants", "checkConstraints"],
)
APPEND_ONLY = replace(METADATA, configuration={"delta.appendOnly": "true"})


def lists(*features: str) -> Protocol:
    return replace(LISTED, writer_features=[*(LISTED.writer_features or ()), *features])


def ours(**fields: object) -> Transaction:
    return Transaction(base=BASE, operation="OURS", **fields)  # type: ignore[arg-type]  # the fields of a transaction


OURS = {
    "blind append": ours(added=added(("ours", "a", 1, 2))),
    "append that read": ours(added=added(("ours", "a", 1, 2)), read=READ_HIGH),
    "append that read all": ours(
        added=added(("ours", "a", 1, 2)), read=EVERYTHING_READ
    ),
    "delete": ours(removed=added(HIGH), read=READ_HIGH),
    "update": ours(
        removed=added(HIGH), added=added(("ours", "b", 100, 109)), read=READ_HIGH
    ),
    "delete that read more": ours(
        removed=added(HIGH), read=TableRead(predicate=OVER_50, files=added(HIGH, LOW))
    ),
    "overwrite": ours(
        removed=added(HIGH, LOW), added=added(("ours", "a", 1, 2)), read=EVERYTHING_READ
    ),
    "optimize": ours(
        removed=added(HIGH),
        added=added(("ours", "b", 100, 109)),
        read=TableRead(files=added(HIGH)),
        data_change=False,
    ),
    "restore": ours(
        removed=added(HIGH),
        added=added(("then", "a", 1, 9)),
        read=EVERYTHING_READ,
        is_last_word=True,
    ),
    "set properties": ours(metadata=TAGGED),
    "add constraint": ours(metadata=TAGGED, read=EVERYTHING_READ),
    "upgrade": ours(protocol=replace(PROTOCOL, min_writer_version=3)),
}


def winner(  # noqa: PLR0913  # what a commit may do
    *,
    add: pa.Table = NO_FILES,
    remove: pa.Table = NO_FILES,
    is_blind: bool = False,
    data_change: bool = True,
    metadata: Metadata | None = None,
    protocol: Protocol | None = None,
) -> WinningCommit:
    """What another writer committed, by way of the text of its commit."""
    text = CommitText(
        Transaction(
            base=BASE,
            operation="THEIRS",
            added=add,
            removed=remove,
            read=NOTHING_READ if is_blind else EVERYTHING_READ,
            data_change=data_change,
            metadata=metadata,
            protocol=protocol,
        ),
        root="/t",
        txn_id="1",
        now_ms=0,
    )
    return parse_winner(CommitData("5.json", text.of_version(5)), 5, ["p"])


WINNERS = {
    "append low": winner(add=added(NEW_LOW), is_blind=True),
    "append high": winner(add=added(NEW_HIGH), is_blind=True),
    "append high that read": winner(add=added(NEW_HIGH)),
    "delete low": winner(remove=added(LOW)),
    "delete high": winner(remove=added(HIGH)),
    "update low": winner(remove=added(LOW), add=added(NEW_LOW)),
    "update low to high": winner(remove=added(LOW), add=added(NEW_HIGH)),
    "optimize low": winner(remove=added(LOW), add=added(NEW_LOW), data_change=False),
    "optimize high": winner(remove=added(HIGH), add=added(NEW_HIGH), data_change=False),
    "tag": winner(metadata=TAGGED),
    "keep the log longer": winner(metadata=KEPT_LONGER),
    "take appends alone": winner(metadata=APPEND_ONLY),
    "describe": winner(metadata=replace(METADATA, description="words")),
    "add a column": winner(metadata=LONGER),
    "add a constraint": winner(metadata=CONSTRAINED),
    "change columns": winner(metadata=WIDER),
    "upgrade": winner(protocol=HIGHER),
    "upgrade, and say the rest again": winner(protocol=HIGHER, metadata=METADATA),
    "list features": winner(protocol=LISTED),
    "add a constraint and upgrade": winner(protocol=HIGHER, metadata=CONSTRAINED),
    "know own times": winner(protocol=lists("inCommitTimestamp")),
    "track rows": winner(protocol=lists("rowTracking", "domainMetadata")),
    "may cluster": winner(protocol=lists("clustering", "domainMetadata")),
    "ask what is not known": winner(protocol=lists("later")),
    "go down": winner(protocol=replace(PROTOCOL, min_writer_version=1)),
}
FOLLOWS = ""
ARRANGES_OR_BLIND = ("blind append", "optimize")
REMOVED, ADDED = "file-removed", "file-added"
# For each winner: what becomes of ours, and under Serializable where that differs.
TABLE: dict[str, dict[str, str]] = {
    "append low": {
        "restore": ADDED,
        "append that read all": "/file-added",
        "overwrite": "/file-added",
        "add constraint": ADDED,
    },
    "append high": {
        "restore": ADDED,
        "append that read": "/file-added",
        "append that read all": "/file-added",
        "delete": "/file-added",
        "update": "/file-added",
        "delete that read more": "/file-added",
        "overwrite": "/file-added",
        "add constraint": ADDED,
    },
    "append high that read": {
        "restore": ADDED,
        "append that read": ADDED,
        "append that read all": ADDED,
        "delete": ADDED,
        "update": ADDED,
        "delete that read more": ADDED,
        "overwrite": ADDED,
        "add constraint": ADDED,
    },
    "delete low": {
        "restore": REMOVED,
        "append that read all": REMOVED,
        "delete that read more": REMOVED,
        "overwrite": REMOVED,
        "add constraint": REMOVED,
    },
    "delete high": {
        "restore": REMOVED,
        "append that read": REMOVED,
        "append that read all": REMOVED,
        "delete": REMOVED,
        "update": REMOVED,
        "delete that read more": REMOVED,
        "overwrite": REMOVED,
        "optimize": REMOVED,
        "add constraint": REMOVED,
    },
    "update low": {
        "restore": REMOVED,
        "append that read all": REMOVED,
        "delete that read more": REMOVED,
        "overwrite": REMOVED,
        "add constraint": REMOVED,
    },
    "update low to high": {
        "restore": REMOVED,
        "append that read": ADDED,
        "append that read all": REMOVED,
        "delete": ADDED,
        "update": ADDED,
        "delete that read more": REMOVED,
        "overwrite": REMOVED,
        "add constraint": REMOVED,
    },
    "optimize low": {
        "append that read all": REMOVED,
        "overwrite": REMOVED,
        "add constraint": REMOVED,
    },
    "optimize high": {
        "restore": REMOVED,
        "append that read": REMOVED,
        "append that read all": REMOVED,
        "delete": REMOVED,
        "update": REMOVED,
        "delete that read more": REMOVED,
        "overwrite": REMOVED,
        "optimize": REMOVED,
        "add constraint": REMOVED,
    },
    "tag": {name: "metadata" for name in OURS if name not in ARRANGES_OR_BLIND},
    "keep the log longer": {
        name: "metadata" for name in OURS if name not in ARRANGES_OR_BLIND
    },
    "describe": {name: "metadata" for name in OURS if name not in ARRANGES_OR_BLIND},
    "add a column": {name: "metadata" for name in OURS if name != "optimize"},
    "add a constraint": {name: "metadata" for name in OURS if name != "optimize"},
    "take appends alone": {
        name: "metadata" for name in OURS if name not in ARRANGES_OR_BLIND
    },
    "change columns": dict.fromkeys(OURS, "metadata"),
    "upgrade": {"upgrade": "protocol"},
    "upgrade, and say the rest again": {"upgrade": "protocol"},
    "list features": {"upgrade": "protocol"},
    "know own times": {"upgrade": "protocol"},
    "add a constraint and upgrade": {
        **{name: "metadata" for name in OURS if name != "optimize"},
        "upgrade": "protocol",
    },
    "track rows": dict.fromkeys(OURS, "protocol"),
    "may cluster": dict.fromkeys(OURS, "protocol"),
    "ask what is not known": dict.fromkeys(OURS, "protocol"),
    "go down": dict.fromkeys(OURS, "protocol"),
}


def serializable(transaction: Transaction) -> Transaction:
    metadata = replace(METADATA, configuration={"delta.isolationLevel": "Serializable"})
    return replace(transaction, base=replace(BASE, metadata=metadata))


@pytest.mark.parametrize("won", WINNERS)
def test_who_may_follow_whom(won: str) -> None:
    for we, ours in OURS.items():
        expected = TABLE[won].get(we, FOLLOWS)
        weak, _, strict = expected.partition("/")

        conflict = find_conflict(ours, WINNERS[won])

        assert (conflict.kind if conflict else FOLLOWS) == weak, we
        if "metadata" in expected and not ours.changes_definition:
            continue  # the property differs from what won as well
        conflict = find_conflict(serializable(ours), WINNERS[won])
        kind = conflict.kind if conflict else FOLLOWS
        assert kind in {weak or strict, "metadata"}, we


def test_a_conflict_names_the_file() -> None:
    conflict = find_conflict(OURS["delete"], WINNERS["append high that read"])

    assert conflict is not None
    assert conflict.subject == "new high"


def test_a_changed_property_is_named() -> None:
    conflict = find_conflict(OURS["delete"], WINNERS["take appends alone"])
    own_times = {"delta.enableInCommitTimestamps": "true"}
    won = winner(metadata=replace(METADATA, configuration=own_times))
    told = find_conflict(OURS["blind append"], won)

    assert conflict is not None
    assert conflict.subject == ""
    assert told is not None
    assert told.subject == "delta.enableInCommitTimestamps"


@cases(
    "configuration, features, lost",
    {
        "who changes rows tells them to a feed": (
            {"delta.enableChangeDataFeed": "true"},
            ["changeDataFeed"],
            {"delete", "update", "overwrite"},
        ),
        "no row goes any more": (
            {"delta.appendOnly": "true"},
            ["appendOnly"],
            {"delete", "update", "overwrite"},
        ),
        "every commit has its time": (
            {"delta.enableInCommitTimestamps": "true"},
            ["inCommitTimestamp"],
            {"delete", "update", "overwrite", "optimize", "blind append"},
        ),
        "rows may be marked": (
            {"delta.enableDeletionVectors": "true"},
            ["deletionVectors"],
            set(),
        ),
    },
)
def test_a_protocol_that_wakes_a_property_stops_those_who_did_not_heed_it(
    configuration: dict[str, str], features: list[str], lost: set[str]
) -> None:
    old = Protocol(min_reader_version=1, min_writer_version=1)
    metadata = replace(METADATA, configuration=configuration)
    base = Definition(4, old, metadata)
    readers = [name for name in features if name == "deletionVectors"]
    protocol = replace(
        lists(*features),
        min_reader_version=3 if readers else 1,
        reader_features=readers or None,
    )

    found = {
        name
        for name in ("delete", "update", "overwrite", "optimize", "blind append")
        if find_conflict(replace(OURS[name], base=base), winner(protocol=protocol))
    }

    assert found == lost


def test_another_step_of_one_application_is_a_conflict() -> None:
    txn = SetTransaction(app_id="stream", version=3)
    won = replace(WINNERS["append low"], transactions={"stream": txn})

    conflict = find_conflict(replace(OURS["blind append"], txn=txn), won)
    other = find_conflict(
        replace(OURS["blind append"], txn=replace(txn, app_id="other")), won
    )

    assert conflict is not None
    assert (conflict.kind, conflict.subject) == ("transaction", "stream")
    assert other is None


@pytest.mark.parametrize("is_told", [True, False])
def test_files_that_tell_nothing_may_match(*, is_told: bool) -> None:
    won = WINNERS["append high that read"]
    text = pa.array(["{", None][is_told : is_told + 1], pa.string())
    odd = won.added.set_column(3, "stats", text)

    conflict = find_conflict(OURS["delete"], replace(won, added=odd))

    assert conflict is not None
    assert conflict.kind == ADDED


def test_partition_values_that_do_not_parse_may_match() -> None:
    won = WINNERS["append low"]
    metadata = replace(METADATA, partition_columns=["x"])
    values = pa.array([[("x", "no number")]], won.added["partition_values"].type)
    odd = replace(
        won,
        is_blind_append=False,
        added=won.added.set_column(2, "partition_values", values),
    )

    conflict = find_conflict(
        replace(OURS["delete"], base=replace(BASE, metadata=metadata)), odd
    )

    assert conflict is not None
    assert pc.equal(odd.added["path"][0], conflict.subject).as_py()
