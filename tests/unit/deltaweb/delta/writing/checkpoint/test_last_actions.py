"""The last actions of files are the same, whether memory holds all keys or not."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.delta.writing.checkpoint import last_actions
from deltaweb.delta.writing.checkpoint.last_actions import (
    ADD,
    REMOVE,
    ActionKeys,
    LastActions,
)
from tests.support.conditions.drawn_examples import examples
from tests.support.logs.checkpoint_logs import NOW, commits
from tests.support.logs.delta_logs import LogBuilder

if TYPE_CHECKING:
    from pathlib import Path

FEW_BYTES = 64
PATHS = [*(f"part-{n}" for n in range(20)), "/abs", "file:/abs", "FILE:///abs"]
actions = st.lists(
    st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from([ADD, REMOVE]))),
    max_size=6,
)
files = st.lists(
    st.tuples(
        st.sampled_from(["add", "remove"]), st.lists(st.sampled_from(PATHS), max_size=9)
    ),
    max_size=4,
)


def last_of(batches, checkpoint):
    """Find the last actions; each has a line, and an empty line goes before it."""
    with ActionKeys() as keys:
        for batch in batches:
            paths = pa.array([path for path, _ in batch], pa.string())
            kinds = np.array([kind for _, kind in batch], np.int8)
            lines = 2 * np.arange(len(batch)) + 1
            keys.add(paths, lines, kinds, 2 * len(batch))
        return keys.find_last(checkpoint)


@given(batches=actions, older=files)
def test_are_those_that_memory_finds(batches, older):
    checkpoint = [(kind, pa.array(paths, pa.string())) for kind, paths in older]
    here = last_of(batches, checkpoint)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(last_actions, "KEY_BYTES", FEW_BYTES)
        there = last_of(batches, checkpoint)

    assert there.kinds.tolist() == here.kinds.tolist()
    assert covered(there, checkpoint) == covered(here, checkpoint)


def covered(found: LastActions, checkpoint: list[tuple[str, pa.Array]]):
    covers = found.covers or (lambda _, paths: pa.array([False] * len(paths)))
    return [covers(kind, paths).to_pylist() for kind, paths in checkpoint]


@pytest.fixture
def _few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_actions, "KEY_BYTES", FEW_BYTES)


@pytest.mark.usefixtures("_few_bytes")
class TestMoreKeysThanMemoryHolds:
    def test_are_in_files_that_go(self, tmp_path, monkeypatch):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        seen: list[Path] = []

        def checkpoint() -> Iterator[tuple[str, pa.Array]]:
            seen.extend(tmp_path.iterdir())
            yield from ()

        last_of([[(path, ADD) for path in PATHS]], checkpoint())

        assert len(seen) == 1
        assert list(tmp_path.iterdir()) == []

    @settings(max_examples=examples(25))
    @given(history=commits(), older=st.sampled_from([None, 1, 2]), data=st.data())
    def test_make_the_same_checkpoint(self, history, older, data):
        first = data.draw(st.integers(0, len(history) - 1))
        files = []
        for key_bytes in (FEW_BYTES, 1 << 20):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(last_actions, "KEY_BYTES", key_bytes)
                log = LogBuilder()
                for version, some in enumerate(history):
                    log.commit(version, *some)
                if older is not None:
                    log.table.create_checkpoint(first, parts=older, now=NOW)
                log.table.create_checkpoint(now=NOW)
            files.append(log.store.read(checkpoint_name(len(history) - 1)))

        assert files[0] == files[1]
