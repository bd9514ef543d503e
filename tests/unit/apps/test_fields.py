"""What the apps say twice: lists that only shrink."""

import ast
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Final

from apps.pages.changes.change import changes

APPS: Final = Path(__file__).parents[3] / "apps"
MAX_SHARED: Final = 4
"""Field names that two dataclasses may have in common."""
MAX_ANY: Final = 607
"""How often annotations in the apps say `Any`. It only gets smaller."""
KNOWN: Final = Path(__file__).with_name("alike_dataclasses.txt")
"""Dataclasses that have more names in common. Lines are removed, and never added."""


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(APPS.rglob("*.py")):
        name = path.relative_to(APPS).with_suffix("").as_posix().replace("/", ".")
        yield name.removesuffix(".__init__"), ast.parse(path.read_text("utf-8"))


def dataclasses() -> dict[str, set[str]]:
    """Return the fields of each dataclass of the apps, by its full name."""
    return {
        f"{module}.{one.name}": {
            field.target.id
            for field in one.body
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        }
        for module, tree in trees()
        for one in ast.walk(tree)
        if isinstance(one, ast.ClassDef)
        and any("dataclass" in ast.unparse(mark) for mark in one.decorator_list)
    }


def of_one_change() -> set[tuple[str, ...]]:
    """Return the parameters and the result of each change, which may be alike."""
    pairs = [(one.parameters, one.result) for one in changes]
    return {
        tuple(
            sorted(
                f"{kind.__module__}.{kind.__qualname__}".removeprefix("apps.")
                for kind in pair
            )
        )
        for pair in pairs
    }


def test_no_two_dataclasses_say_the_same() -> None:
    found = {
        (first, second)
        for (first, its), (second, others) in combinations(
            sorted(dataclasses().items()), 2
        )
        if len(its & others) > MAX_SHARED
    }

    known = {tuple(line.split()) for line in KNOWN.read_text("utf-8").splitlines()}
    assert found - of_one_change() == known


def test_any_is_said_less_and_less_often() -> None:
    count = sum(
        isinstance(one, ast.Name) and one.id == "Any"
        for _, tree in trees()
        for one in ast.walk(tree)
    )

    assert count <= MAX_ANY
