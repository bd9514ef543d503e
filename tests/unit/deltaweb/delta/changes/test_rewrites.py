"""Which files only replaced others, told by the commits between two versions."""

from collections.abc import Mapping
from typing import Any

import pytest

from deltaweb.delta.changes.rewrites import Rewrites, action_key, find_rewrites

Action = Mapping[str, Any]


def add(path: str, *, data_change: bool = True) -> Action:
    return {"add": {"path": path, "dataChange": data_change}}


def remove(path: str, *, data_change: bool = True) -> Action:
    return {"remove": {"path": path, "dataChange": data_change}}


def rewrite(olds: str, news: str) -> list[Action]:
    return [
        *(remove(path, data_change=False) for path in olds),
        *(add(path, data_change=False) for path in news),
    ]


def found(replaced: str, replacing: str) -> Rewrites:
    return Rewrites(frozenset(replaced), frozenset(replacing))


Commits = list[list[Action]]


class TestFindRewrites:
    @pytest.mark.parametrize(
        ("commits", "removed", "added", "expected"),
        [
            pytest.param(
                [rewrite("ab", "c")], "ab", "c", found("ab", "c"), id="a compaction"
            ),
            pytest.param(
                [rewrite("ab", "c"), rewrite("cd", "e")],
                "abd",
                "e",
                found("abd", "e"),
                id="a compaction of a compacted file",
            ),
            pytest.param(
                [[add("n")], rewrite("an", "c")],
                "a",
                "c",
                found("", ""),
                id="new data went in",
            ),
            pytest.param(
                [rewrite("ab", "cd"), [remove("c")]],
                "ab",
                "d",
                found("", ""),
                id="data was deleted afterwards",
            ),
            pytest.param(
                [rewrite("a", "c"), rewrite("b", "d"), [remove("d"), add("e")]],
                "ab",
                "ce",
                found("a", "c"),
                id="one of two rewrites was changed",
            ),
            pytest.param(
                [[add("a", data_change=False)]],
                "",
                "",
                found("", ""),
                id="statistics that were written anew",
            ),
            pytest.param(
                [[remove("a"), add("b")]], "a", "b", found("", ""), id="an update"
            ),
            pytest.param([[]], "", "", found("", ""), id="an empty commit"),
        ],
    )
    def test_a_rewrite_holds_the_same_rows_on_both_sides(
        self, commits: Commits, removed: str, added: str, expected: Rewrites
    ) -> None:
        assert find_rewrites(commits, removed, added) == expected

    def test_other_actions_are_passed_over(self) -> None:
        commits: Commits = [
            [{"commitInfo": {}}, {"add": None}, {"txn": {"appId": "x"}}]
        ]

        assert find_rewrites(commits, [], []) == Rewrites()


class TestTheKeyOfAnAction:
    def test_a_deletion_vector_is_part_of_it(self) -> None:
        vector = {"storageType": "u", "pathOrInlineDv": "xy", "offset": 1}

        assert action_key({"path": "a"}) == "a"
        assert action_key({"path": "a", "deletionVector": vector}) == "a\0uxy@1"
