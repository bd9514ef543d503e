from apps.explorer.history.parameters import (
    MAX_ENTRIES,
    Parameter,
    commit_parameters,
    format_predicate,
)
from tests.support import cases


class TestPredicate:
    @cases(
        "value, text",
        {
            "none": (None, ""),
            "plain": ("a = 1", "a = 1"),
            "a list of one": ('["(a = 1)"]', "a = 1"),
            "a list of two": ('["a = 1","b = 2"]', "a = 1\nAND b = 2"),
            "parentheses apart": ("(a = 1) AND (b = 2)", "a = 1\nAND b = 2"),
            "around all": ("((a = 1) AND b = 2)", "a = 1\nAND b = 2"),
            "an OR in it": ("(a = 1 OR b = 2) AND c", "(a = 1 OR b = 2)\nAND c"),
            "an OR in a list": ('["(a OR b)", "c"]', "(a OR b)\nAND c"),
            "an OR around an AND": ("a AND b OR c", "a AND b OR c"),
            "BETWEEN": ("a BETWEEN 1 AND 2 AND b", "a BETWEEN 1 AND 2\nAND b"),
            "AND in a text": ("a = 'x AND (y'", "a = 'x AND (y'"),
            "the planner's numbers": ('["(id#5058 = 7)"]', "id = 7"),
            "two tables with a column of one name": (
                '["(id#5058 = id#5062L)"]',
                "target.id = source.id",
            ),
            "a number sign in a text": ("a = '#12'", "a = '#12'"),
            "an empty list": ("[]", ""),
            "no JSON after all": ('["', '["'),
            "parentheses that never close": ("((((a", "((((a"),
        },
    )
    def test_is_written_as_people_do(self, value: object, text: str) -> None:
        assert format_predicate(value) == text


class TestMerge:
    def test_its_clauses_are_words(self) -> None:
        found = by_name(
            matchedPredicates='[{"actionType":"update","predicate":"(a#1 = 2)"},'
            '{"actionType":"delete"}]',
            notMatchedPredicates='[{"actionType":"insert"}]',
            notMatchedBySourcePredicates="[]",
        )

        matched = found["matchedPredicates"]
        assert matched.label == "When matched"
        assert [(part.label, part.text) for part in matched.parts] == [
            ("update where", "a = 2"),
            ("delete", ""),
        ]
        assert [p.label for p in found["notMatchedPredicates"].parts] == ["insert"]
        assert found["notMatchedBySourcePredicates"].parts == ()


@cases(
    "name, value, label, text",
    {
        "list": ("partitionBy", '["a","b"]', "Partitioned by", "a, b"),
        "m": ("mode", "ErrorIfExists", "Mode", "fail if there is a table"),
        "a no": ("isManaged", "false", "Managed by the catalog", "no"),
        "a yes": ("statsOnLoad", True, "Stats on load", "yes"),
        "a size": ("targetSize", "104857600", "Target size", "100 MiB"),
        "a duration": (
            "defaultRetentionMillis",
            "604800000",
            "Retention of the table",
            "7 days",
        ),
        "nothing": ("description", None, "Description", ""),
        "unknown": ("updateId", "adf7-809f", "Update id", "adf7-809f"),
    },
)
def test_has_a_name_and_a_value_in_words(name, value, label, text):
    found = by_name(**{name: value})[name]

    assert (found.label, found.text) == (label, text)


def test_unknown_json_is_a_nested_list() -> None:
    found = by_name(metadata='{"configuration":{"delta.x":"1"},"columns":["a","b"]}')

    configuration, columns = found["metadata"].parts
    assert [(part.label, part.text) for part in configuration.parts] == [
        ("delta.x", "1")
    ]
    assert (columns.label, columns.text) == ("columns", "a, b")


def test_what_is_very_large_or_deep_is_bounded() -> None:
    deep: object = "end"
    for _ in range(100):
        deep = {"in": deep}

    found = by_name(many={str(n): n for n in range(MAX_ENTRIES + 5)}, deep=deep)

    assert len(found["many"].parts) == MAX_ENTRIES + 1
    assert found["many"].parts[-1].text == "and 5 more"
    assert depth_of(found["deep"]) < 10


def test_what_says_nothing_comes_last() -> None:
    found = commit_parameters({"clusterBy": "[]", "auto": "false"})

    assert [one.name for one in found] == ["auto", "clusterBy"]


def by_name(**parameters: object) -> dict[str, Parameter]:
    return {one.name: one for one in commit_parameters(parameters)}


def depth_of(parameter: Parameter) -> int:
    return 1 + max(map(depth_of, parameter.parts), default=0)
