"""An index that goes on from another is the one that the whole log gives.

Random logs are indexed step by step: by going on from the index before, and afresh.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from deltaweb.index.build.base_index import CannotUpdateError
from deltaweb.index.build.finish import BuildRequest
from deltaweb.index.build.full import index_table
from deltaweb.index.build.update import update_index
from deltaweb.index.files import file_rows
from deltaweb.index.folder import parts
from deltaweb.table import DeltaTable
from tests.support.conditions.drawn_examples import examples
from tests.support.index.index_folders import contents
from tests.support.logs.delta_logs import (
    Action,
    LogBuilder,
    add,
    deletion_vector,
    metadata,
    protocol,
    remove,
)
from tests.support.logs.local_logs import stats_of, typed_schema

NOW_MS = 1_800_000_000_000
DAY_MS = 86_400_000
PATHS = [
    *["a", "b", "c", "p=1/d", "p=%20/e", "file:/abs/f", "/abs/f", "ü", "e\u0301", 'q"'],
    *["back\\slash", "tab\tin", "a,b|c"],
]
VALUES = [None, "", "1", "7", "x=y", "__HIVE_DEFAULT_PARTITION__"]
STATS = [
    None,
    "",
    "not json",
    '{"numRecords":3}',
    '{"numRecords":-1}',
    '{"numRecords":"ten"}',
    stats_of(5, {"id": 1, "new": "a"}, {"id": 9, "new": "z"}),
    '{"numRecords": 9007199254740993, "minValues":{"id":-4}}',
]
SCHEMAS = [
    typed_schema(id="long", p="string"),
    typed_schema(id="long", p="string", new="string"),
    typed_schema(id="string", p="string"),
    typed_schema(id="long", p="integer"),
    "broken",
]
USUAL, RARE = st.integers(0, 3), st.integers(0, 25)


@st.composite
def file_action(draw: st.DrawFn, path: str) -> Action:
    extra: dict[str, Any] = {}
    if draw(RARE) == 7:
        extra["deletionVector"] = deletion_vector("dv")
    if draw(USUAL) == 0:
        moment = draw(st.sampled_from([0, 1, NOW_MS - DAY_MS]))
        return remove(path, deletionTimestamp=moment, **extra)
    if (stats := draw(st.sampled_from(STATS))) is not None:
        extra["stats"] = stats
    return add(
        path,
        size=draw(st.sampled_from([0, 1, 500, 2**41, 2**53 + 1])),
        modificationTime=draw(st.integers(0, 3)),
        dataChange=draw(st.booleans()),  # false alone: statistics made anew
        partitionValues={"p": draw(st.sampled_from(VALUES))},
        **extra,
    )


@st.composite
def definition(draw: st.DrawFn) -> list[Action]:
    """A change of metadata or protocol, most often one that leaves the files alone."""
    actions: list[Action] = []
    if draw(USUAL) == 0:
        actions.append(
            metadata(
                "t2" if draw(RARE) == 7 else "t",
                schemaString=draw(st.sampled_from(SCHEMAS)),
                partitionColumns=["p"],
                configuration=draw(
                    st.sampled_from(
                        [
                            {},
                            {"delta.targetFileSize": "32mb"},
                            {"delta.dataSkippingNumIndexedCols": "1"},
                            {"delta.columnMapping.mode": "name"},
                        ]
                    )
                ),
            )
        )
    if draw(RARE) < 4:
        actions.append(protocol(draw(st.sampled_from([1, 1, 2, 99])), 2))
    return actions


@st.composite
def commit_info(draw: st.DrawFn) -> list[Action]:
    if draw(st.booleans()):
        return []
    operation = draw(
        st.sampled_from(["WRITE", "MERGE", "OPTIMIZE", "VACUUM END", "RESTORE"])
    )
    info: dict[str, Any] = {"operation": operation, "operationMetrics": {"x": "1"}}
    if draw(RARE) < 2:
        parameters = {"specifiedRetentionMillis": "0"}
        operation = draw(st.sampled_from(["VACUUM START", "VACUUM"]))
        info = {"operation": operation, "operationParameters": parameters}
        info["timestamp"] = NOW_MS
    return [{"commitInfo": info}]


@dataclass(frozen=True)
class Step:
    """A commit, and what else befalls the log and its index."""

    actions: list[Action]
    time_ms: int
    is_checkpointed: bool
    is_indexed: bool
    is_broken: bool = field(default=False)


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    result = []
    for version in range(draw(st.integers(2, 7))):
        keys = draw(st.lists(st.sampled_from(PATHS), unique=True, max_size=6))
        files = [draw(file_action(path)) for path in keys]
        first = [
            protocol(),
            metadata("t", schemaString=SCHEMAS[0], partitionColumns=["p"]),
        ]
        head = draw(definition()) if version else first
        result.append(
            Step(
                actions=[*draw(commit_info()), *head, *files],
                time_ms=NOW_MS - draw(st.integers(0, 40)) * DAY_MS,
                is_checkpointed=draw(USUAL) == 0,
                is_indexed=version == 0 or draw(USUAL) > 0,
                is_broken=bool(version) and draw(RARE) == 7,
            )
        )
    return result


class _State:
    """What a checkpoint of the newest version holds."""

    def __init__(self) -> None:
        self.files: dict[Any, Action] = {}
        self.rare: dict[str, Action] = {}

    def take(self, actions: list[Action]) -> None:
        for action in actions:
            ((kind, fields),) = action.items()
            if kind in {"add", "remove"}:
                path = fields["path"].removeprefix("file:")
                self.files[path, str(fields.get("deletionVector"))] = action
            elif kind != "commitInfo":
                self.rare[kind] = action

    def actions(self) -> list[Action]:
        return [*self.rare.values(), *self.files.values()]


@pytest.fixture(scope="module", autouse=True)
def _small_parts() -> Iterator[None]:
    """Let an index of few rows have parts that are kept, and others that are not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART_ROWS", 3)
        patch.setattr(parts, "KEPT_ROWS", 2)
        patch.setattr(file_rows, "ROWS_A_BATCH", 2)
        yield


# A log that fails is told as it is: to make it smaller takes minutes.
@settings(
    max_examples=examples(15),
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(steps())
def test_every_step_is_what_the_whole_log_gives(history: list[Step]) -> None:
    builder, state = LogBuilder(), _State()
    base: Path | None = None
    with tempfile.TemporaryDirectory() as home:
        for version, step in enumerate(history):
            builder.commit(version, *step.actions)
            if step.is_broken:
                builder.raw_commit(version, b"{torn")
            else:
                state.take(step.actions)
            builder.time(version, step.time_ms)
            if step.is_checkpointed:
                builder.checkpoint(version, *state.actions())
            if not step.is_indexed:
                continue
            base = _check_step(builder.table, Path(home), version, base)


def _check_step(table: DeltaTable, home: Path, version: int, base: Path | None) -> Path:
    """Index the newest version both ways; return the folder of one of them."""
    folder, fresh = home / f"{version}", home / f"{version}-fresh"
    here = index_table(table, folder, now_ms=NOW_MS, base=base)
    there = index_table(table, fresh, now_ms=NOW_MS)

    assert (here.state, here.version) == (there.state, there.version)
    went_on, read_whole = contents(folder), contents(fresh)
    for part, expected in read_whole.items():
        assert went_on[part] == expected, (version, part)
    assert not here.is_rewritten
    if here.num_tombstones is not None:
        assert here.num_tombstones >= (there.num_tombstones or 0)
    if base is not None:
        event("gone on" if _goes_on(table, base, home / f"{version}-on") else "afresh")
    return folder


def _goes_on(table: DeltaTable, base: Path, folder: Path) -> bool:
    request = BuildRequest(
        table=table, folder=folder, base=base, report=lambda *_: None, now_ms=NOW_MS
    )
    try:
        update_index(request, base)
    except CannotUpdateError:
        return False
    return True
