"""Which files only replaced others, told by the commits between two versions."""

from collections.abc import Mapping
from typing import Any

from deltaweb.delta.changes.rewrites import Rewrites, action_key, find_rewrites
from tests.support import cases

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
    @cases(
        "commits, removed, added, expected",
        {
            "a compaction": ([rewrite("ab", "c")], "ab", "c", found("ab", "c")),
            "a compaction of a compacted file": (
                [rewrite("ab", "c"), rewrite("cd", "e")],
                "abd",
                "e",
                found("abd", "e"),
            ),
            "new data went in": (
                [[add("n")], rewrite("an", "c")],
                "a",
                "c",
                found("", ""),
            ),
            "data was deleted afterwards": (
                [rewrite("ab", "cd"), [remove("c")]],
                "ab",
                "d",
                found("", ""),
            ),
            "one of two rewrites was changed": (
                [rewrite("a", "c"), rewrite("b", "d"), [remove("d"), add("e")]],
                "ab",
                "ce",
                found("a", "c"),
            ),
            "statistics that were written anew": (
                [[add("a", data_change=False)]],
                "",
                "",
                found("", ""),
            ),
            "an update": ([[remove("a"), add("b")]], "a", "b", found("", "")),
            "an empty commit": ([[]], "", "", found("", "")),
        },
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
