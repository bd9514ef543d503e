"""Random logs for tests of checkpoints: all that an action of a file may have."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from tests.support.logs.delta_logs import Action, metadata, protocol

DAY_MS = 86_400_000
NOW = datetime(1970, 1, 31, tzinfo=UTC)
OLDEST_KEPT_MS = 23 * DAY_MS  # a week before
PATHS = ["a", "b", "p=1/c", "p=%20/d", "file:/abs/e", "/abs/f", "ü", 'q"', "metaData"]
WRITER_FEATURES = ["rowTracking", "domainMetadata", "clustering"]


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Action]:
    return st.fixed_dictionaries({}, optional=fields)


NUMBERS = st.integers(0, 2**53)
TEXTS = st.sampled_from(["", "x", "ü\n", '"', "delta"])
VALUES = st.fixed_dictionaries({}, optional={"p": st.none() | TEXTS})
TAGS = st.dictionaries(TEXTS, st.none() | TEXTS, max_size=2)
ADD_FIELDS = optional(
    stats=st.sampled_from(['{"numRecords":3}', "", "{torn", "null"]),
    tags=TAGS,
    baseRowId=NUMBERS,
    defaultRowCommitVersion=NUMBERS,
    clusteringProvider=TEXTS,
)
REMOVE_FIELDS = optional(
    deletionTimestamp=st.integers(0, 40 * DAY_MS),
    extendedFileMetadata=st.booleans(),
    partitionValues=VALUES,
    size=NUMBERS,
    baseRowId=NUMBERS,
)


@st.composite
def file_actions(draw: st.DrawFn) -> list[Action]:
    actions = []
    for path in draw(st.lists(st.sampled_from(PATHS), unique=True, max_size=6)):
        if draw(st.integers(0, 2)):
            fields = {
                "path": path,
                "partitionValues": draw(VALUES),
                "size": draw(NUMBERS),
                "modificationTime": draw(NUMBERS),
                "dataChange": draw(st.booleans()),
                **draw(ADD_FIELDS),
            }
            actions.append({"add": fields})
        else:
            fields = {"path": path, "dataChange": draw(st.booleans())}
            actions.append({"remove": {**fields, **draw(REMOVE_FIELDS)}})
    return actions


@st.composite
def commits(draw: st.DrawFn, /, **of_metadata: object) -> list[list[Action]]:
    """Actions of commits, oldest first.

    Args:
        draw: Of hypothesis.
        of_metadata: Further fields of every metaData.
    """
    features = protocol(1, 7, writerFeatures=WRITER_FEATURES)
    history = [[features, metadata("t0", partitionColumns=["p"], **of_metadata)]]
    for number in range(1, draw(st.integers(2, 8))):
        commit = draw(file_actions())
        if draw(st.booleans()):
            app = draw(st.sampled_from(["app1", "app2"]))
            fields = {"appId": app, "version": draw(st.integers(-5, 5))}
            commit.append({"txn": {**fields, **draw(optional(lastUpdated=NUMBERS))}})
        if draw(st.booleans()):
            domain = {
                "domain": draw(st.sampled_from(["d1", "delta.rowTracking"])),
                "configuration": draw(TEXTS),
                "removed": draw(st.booleans()),
            }
            commit.append({"domainMetadata": domain})
        if not draw(st.integers(0, 3)):
            newer = {"partitionColumns": ["p"], "name": "n", **of_metadata}
            commit.append(metadata(f"t{number}", **newer))
        commit.append({"commitInfo": {"operation": "WRITE", "x": [1, {}]}})
        history.append(commit)
    return history
