"""Totals and vacuumed versions equal those of a plain replay, one action at a time."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.log.file_actions import KEY_SEPARATOR
from deltaweb.index.history.lifetimes import (
    LARGEST,
    UNKNOWN,
    FileActions,
    Lifetimes,
    UntouchedFiles,
    Vacuum,
    concat_actions,
)
from tests.support import cases


@dataclass(frozen=True)
class Action:
    version: int
    path: str
    is_add: bool
    size: int = 1
    rows: int = 1
    deletion_ms: int = 0


ACTIONS = st.lists(
    st.builds(
        Action,
        version=st.integers(0, 6),
        path=st.sampled_from("abcd"),
        is_add=st.booleans(),
        size=st.integers(1, 9),
        rows=st.sampled_from([UNKNOWN, 1, 2, 5]),
        deletion_ms=st.integers(0, 20),
    ),
    max_size=20,
)


def lifetimes(actions: list[Action], last: int) -> Lifetimes:
    ordered = sorted(actions, key=lambda action: action.version)
    arrays = FileActions(
        versions=np.array([a.version for a in ordered], dtype=np.int64),
        keys=pa.array([a.path for a in ordered], pa.string()),
        is_add=np.array([a.is_add for a in ordered], dtype=np.bool_),
        sizes=np.array([a.size for a in ordered], dtype=np.int64),
        rows=np.array([a.rows for a in ordered], dtype=np.int64),
        deletion_ms=np.array([a.deletion_ms for a in ordered], dtype=np.int64),
    )
    return Lifetimes(concat_actions([arrays]), first=0, last=last)


def replayed(actions: list[Action], last: int) -> list[dict[str, Action]]:
    """The live files after each version, by the plainest of rules."""
    states: list[dict[str, Action]] = []
    live: dict[str, Action] = {}
    for version in range(last + 1):
        for action in actions:
            if action.version == version:
                if action.is_add:
                    live[action.path] = action
                else:
                    live.pop(action.path, None)
        states.append(dict(live))
    return states


class TestTotals:
    @given(actions=ACTIONS)
    def test_equal_those_of_a_plain_replay(self, actions: list[Action]) -> None:
        states = replayed(actions, 6)

        totals = lifetimes(actions, 6).totals()

        assert totals.num_files.tolist() == [len(state) for state in states]
        assert totals.size_bytes.tolist() == [
            sum(file.size for file in state.values()) for state in states
        ]
        assert totals.num_records.tolist() == [
            UNKNOWN
            if any(file.rows < 0 for file in state.values())
            else sum(file.rows for file in state.values())
            for state in states
        ]

    def test_tell_what_left_though_removes_do_not(self) -> None:
        actions = [
            Action(0, "a", is_add=True, size=7, rows=3),
            Action(1, "a", is_add=False, size=UNKNOWN, rows=UNKNOWN),
            Action(1, "never-there", is_add=False),
        ]

        totals = lifetimes(actions, 1).totals()

        assert totals.removed_bytes.tolist() == [0, 7]
        assert totals.removed_rows.tolist() == [0, 3]


class TestVacuumed:
    def test_hurts_the_versions_that_needed_the_deleted_files(self) -> None:
        actions = [
            Action(1, "old", is_add=True),
            Action(2, "kept", is_add=True),
            Action(3, "old", is_add=False, deletion_ms=100),
            Action(4, "kept", is_add=False, deletion_ms=900),
        ]

        versions, num_files = lifetimes(actions, 6).vacuumed(
            [Vacuum(version=5, cutoff_ms=500)]
        )

        assert versions.tolist() == [UNKNOWN, 5, 5, *[UNKNOWN] * 4]
        assert num_files.tolist() == [0, 1, 1, 0, 0, 0, 0]

    def test_spares_a_file_that_came_back_before_it(self) -> None:
        actions = [
            Action(0, "a", is_add=True),
            Action(1, "a", is_add=False, deletion_ms=1),
            Action(2, "a", is_add=True),
        ]

        versions, _ = lifetimes(actions, 4).vacuumed([Vacuum(version=3, cutoff_ms=500)])

        assert set(versions.tolist()) == {UNKNOWN}

    def test_hurts_every_life_of_a_file_that_came_back_and_left_again(self) -> None:
        actions = [
            Action(0, "a", is_add=True),
            Action(1, "a", is_add=False, deletion_ms=1),
            Action(2, "a", is_add=True),
            Action(3, "a", is_add=False, deletion_ms=2),
        ]

        versions, _ = lifetimes(actions, 4).vacuumed([Vacuum(version=4, cutoff_ms=500)])

        assert versions.tolist() == [4, UNKNOWN, 4, UNKNOWN, UNKNOWN]

    @cases(
        "left_ms, expected",
        {
            "is live": (None, [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN]),
            "left lately": (900, [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN]),
            "left long ago": (2, [3, 3, UNKNOWN, UNKNOWN]),
        },
    )
    def test_spares_a_file_of_which_only_rows_were_deleted(self, left_ms, expected):
        vector = f"a{KEY_SEPARATOR}u1"
        actions = [
            Action(0, "a", is_add=True),
            Action(1, "a", is_add=False, deletion_ms=1),
            Action(1, vector, is_add=True),
        ]
        if left_ms is not None:
            actions.append(Action(2, vector, is_add=False, deletion_ms=left_ms))

        versions, _ = lifetimes(actions, 3).vacuumed([Vacuum(version=3, cutoff_ms=500)])

        assert versions.tolist() == expected

    def test_hurts_the_versions_that_needed_an_older_deletion_vector(self) -> None:
        older, newer = (f"a{KEY_SEPARATOR}u{n}" for n in (1, 2))
        actions = [
            Action(0, "a", is_add=True),
            Action(1, "a", is_add=False, deletion_ms=1),
            Action(1, older, is_add=True),
            Action(2, older, is_add=False, deletion_ms=2),
            Action(2, newer, is_add=True),
        ]

        versions, _ = lifetimes(actions, 3).vacuumed([Vacuum(version=3, cutoff_ms=500)])

        assert versions.tolist() == [UNKNOWN, 3, UNKNOWN, UNKNOWN]

    @given(actions=ACTIONS, cutoff_ms=st.integers(0, 20), version=st.integers(0, 6))
    def test_equals_a_plain_search(self, actions, cutoff_ms, version):
        states = replayed(actions, 6)
        newest = {
            a.path: a for v in range(version + 1) for a in actions if a.version == v
        }
        gone = {
            path
            for path, action in newest.items()
            if not action.is_add and action.deletion_ms < cutoff_ms
        }
        counts = [len(gone & set(states[n])) if n <= version else 0 for n in range(7)]

        versions, num_files = lifetimes(actions, 6).vacuumed(
            [Vacuum(version, cutoff_ms)]
        )

        expected = [version if count else UNKNOWN for count in counts]
        assert versions.tolist() == expected
        assert num_files.tolist() == counts

    def test_counts_a_file_once_that_two_of_them_deleted(self) -> None:
        actions = [
            Action(0, "a", is_add=True),
            Action(0, "b", is_add=True),
            Action(1, "a", is_add=False, deletion_ms=1),
            Action(2, "b", is_add=False, deletion_ms=2),
        ]
        vacuums = [Vacuum(version=3, cutoff_ms=500), Vacuum(version=4, cutoff_ms=500)]

        versions, num_files = lifetimes(actions, 5).vacuumed(vacuums)

        assert versions.tolist() == [4, 4, *[UNKNOWN] * 4]
        assert num_files.tolist() == [2, 1, 0, 0, 0, 0]


class TestCountAmong:
    def test_counts_for_each_version_the_live_files_that_are_asked_for(self) -> None:
        actions = [
            Action(0, "a", is_add=True),
            Action(1, "b", is_add=True),
            Action(2, "a", is_add=False),
            Action(3, "a", is_add=True),
        ]
        followed = lifetimes(actions, 4)
        is_lost = np.array([path == "a" for path in followed.paths.to_pylist()])

        assert followed.count_among(is_lost).tolist() == [1, 1, 0, 1, 1]


def test_files_without_actions_count_in_every_version() -> None:
    actions = [
        Action(0, "a", is_add=True, size=5, rows=2),
        Action(1, "a", is_add=False),
    ]
    sizes, rows = np.array([7, 2**50]), np.array([3, UNKNOWN])

    known = UntouchedFiles().plus(sizes[:1], rows[:1])
    totals = lifetimes(actions, 1).totals(known)

    assert totals.num_files.tolist() == [2, 1]
    assert totals.size_bytes.tolist() == [12, 7]
    assert totals.num_records.tolist() == [5, 3]
    untold = lifetimes(actions, 1).totals(known.plus(sizes[1:], rows[1:]))
    assert untold.size_bytes.tolist() == [12 + LARGEST, 7 + LARGEST]
    assert untold.num_records.tolist() == [UNKNOWN, UNKNOWN]


def test_an_absolute_path_is_one_file_in_every_spelling() -> None:
    actions = [
        Action(0, "file:///lake/a", is_add=True),
        Action(1, "/lake/a", is_add=False),
        Action(2, "file:/lake/a", is_add=True, size=3),
    ]

    totals = lifetimes(actions, 2).totals()

    assert totals.num_files.tolist() == [1, 0, 1]
    assert totals.size_bytes.tolist() == [1, 0, 3]
