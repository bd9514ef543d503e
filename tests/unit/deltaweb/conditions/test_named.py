"""The columns that a rule of a table names."""

from deltaweb.conditions.named import names_column, names_source_column
from tests.support import cases

NAMED = {
    "a column": ("x > 0", ("x",)),
    "in another case": ("X > 0", ("x",)),
    "in backticks": ("`x` > 0", ("X",)),
    "with a backtick": ("`a``b` > 0", ("a`b",)),
    "with a dot": ("`a.b` > 0", ("a.b",)),
    "with a comma": ("length(`a,b`) > 0", ("a,b",)),
    "with a space": ("st.`a b` > 0", ("st", "a b")),
    "with other letters": ("größe > 0 AND `日本` > 0", ("日本",)),
    "a field": ("st.x > 0", ("st", "x")),
    "a field around spaces": ("st . x > 0", ("st", "x")),
    "a deep field": ("a.b.c.d.e.f > 0", ("a", "b", "c", "d", "e", "f")),
    "the struct around it": ("st IS NOT NULL", ("st", "x")),
    "a field of it": ("st.x > 0", ("st",)),
    "a list": ("arr[0].x > 0", ("arr", "x")),
    "in a lambda": ("exists(arr, e -> e.x > 0)", ("arr", "x")),
    "in a cast": ("CAST(x AS date) > DATE '2026-01-01'", ("x",)),
    "in SQL that does not parse": ("x > > 0", ("x",)),
    "quoted in SQL that does not parse": ("`a``b` > > 0", ("a`b",)),
}
NOT_NAMED = {
    "a field of another struct": ("st.x > 0", ("s2", "x")),
    "another field": ("st.x > 0", ("st", "y")),
    "a column of a field's name": ("st.x > 0", ("x",)),
    "a field of a column's name": ("x > 0", ("st", "x")),
    "a text": ("y = 'x'", ("x",)),
    "a type": ("CAST(y AS date) IS NULL", ("date",)),
    "a function": ("upper(y) = 'A'", ("upper",)),
    "a comment": ("y > 0 -- x", ("x",)),
    "a part of a name": ("x_y > 0 AND `x y` > 0", ("x",)),
    "a name with a dot": ("`st.x` > 0", ("st", "x")),
    "a path instead of a name with a dot": ("st.x > 0", ("st.x",)),
    "another name in SQL that does not parse": ("y > > 0", ("x",)),
}


@cases("sql, path", NAMED)
def test_a_column_is_named(sql: str, path: tuple[str, ...]) -> None:
    assert names_column(sql, path)


@cases("sql, path", NOT_NAMED)
def test_a_column_is_not_named(sql: str, path: tuple[str, ...]) -> None:
    assert not names_column(sql, path)


@cases(
    "sql, is_named",
    {
        "with the qualifier": ("t.k = s.x", True),
        "without it": ("k = x", True),
        "in backticks": ("t.k = S.`X`", True),
        "of the other side": ("t.x = s.k", False),
        "a field of another column": ("s.st.x = t.k", False),
        "a text": ("t.k = 's.x'", False),
    },
)
def test_a_column_of_a_source(sql: str, is_named: bool) -> None:  # noqa: FBT001 (a case)
    assert names_source_column(sql, "s", "x") is is_named
