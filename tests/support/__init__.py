"""What tests share."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import chain, combinations, product
from typing import Any

import pytest

_Cell = tuple[Any, ...]


class _Late:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (of any module)
        if name.startswith("_"):  # pytest, which asks it all that a test file has
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


def late(name: str) -> Any:  # noqa: ANN401 (as above)
    """A module that takes long to load, for one file: it loads when a test uses it.

    Every process that runs tests imports the files of all.
    """
    return _Late(name)


def cases(
    names: str, table: Mapping[str, Any], *, often: Collection[str] | None = None
) -> pytest.MarkDecorator:
    """A test is asked each case of a table, which has a name and the values of `names`.

    Several names are given by commas; a case then has a tuple of as many values.

    Args:
        often: Names of the cases of every run, None for all; see `matrix`.
    """
    chosen = table if often is None else often
    assert set(chosen) <= set(table), "a case of every run is not of the table"
    rows = [
        pytest.param(*_cell(names, values), id=name, marks=_marks(name in chosen))
        for name, values in table.items()
    ]
    return pytest.mark.parametrize(names, rows)


def matrix(
    names: str,
    cells: Iterable[Any],
    *,
    often: Collection[Any] | None = None,
    by: Callable[..., Iterable[object]] | None = None,
) -> pytest.MarkDecorator:
    """A test is asked a sound part of a matrix in every run.

    All other cells are marked `exhaustive`: `make test-all` asks them, too.

    Args:
        cells: A tuple of the values of `names`, or the value of the only name.
        often: The cells of every run. By default the fewest, in the order of `cells`,
            that have each value of each name once.
        by: What a cell shows, given its values; the cells of every run then have each
            of that once, not each value.
    """
    all_cells = [_cell(names, cell) for cell in cells]
    chosen = (
        [*_covering(all_cells, by)]
        if often is None
        else [_cell(names, c) for c in often]
    )
    assert all(cell in all_cells for cell in chosen), "a cell is not of the matrix"
    rows = [pytest.param(*cell, marks=_marks(cell in chosen)) for cell in all_cells]
    return pytest.mark.parametrize(names, rows)


def by_turns(
    tables: Mapping[str, Mapping[str, Any] | Sequence[Any]], *, often: int = 1
) -> pytest.MarkDecorator:
    """A test is asked cases of several tables with one another.

    Every run has each case of each table at least so often, and by turns with those of
    the others; all other combinations are marked `exhaustive`.

    Args:
        tables: By names, as of `cases`: cases by their names, or values that are short.
    """
    axes = [
        [
            (name, _cell(names, value))
            for name, value in (
                table.items()
                if isinstance(table, Mapping)
                else ((str(value), value) for value in table)
            )
        ]
        for names, table in tables.items()
    ]
    chosen = {
        tuple(
            axis[(turn + lap * number) % len(axis)][0]
            for number, axis in enumerate(axes)
        )
        for lap in range(often)
        for turn in range(max(map(len, axes)))
    }
    rows = [
        pytest.param(
            *chain.from_iterable(values for _, values in combination),
            id="-".join(name for name, _ in combination),
            marks=_marks(tuple(name for name, _ in combination) in chosen),
        )
        for combination in product(*axes)
    ]
    return pytest.mark.parametrize(", ".join(tables), rows)


def pairwise(
    axes: Mapping[str, Sequence[Any]],
    *,
    excluded: Callable[[dict[str, Any]], bool] = lambda _: False,
) -> list[dict[str, Any]]:
    """Return few cells that have each pair of values of two axes at least once.

    Args:
        axes: The values of each name.
        excluded: Whether two values, by their names, never come together. Each axis
            needs a value that comes together with all others.
    """
    places = [(name, n) for name, axis in axes.items() for n in range(len(axis))]
    pairs = [
        (one, other) for one, other in product(places, places) if one[0] < other[0]
    ]
    allowed = {
        frozenset(pair)
        for pair in pairs
        if not excluded({name: axes[name][number] for name, number in pair})
    }
    missing, cells = set(allowed), []
    times_used: Counter[tuple[str, int]] = Counter()

    def gain(place: tuple[str, int], others: Iterable[tuple[str, int]]) -> _Cell:
        """Return how many missing pairs a value has, then how seldom it was used."""
        new = sum(frozenset((place, other)) in missing for other in others)
        return new, -times_used[place]

    for pair in pairs:  # in an order that is always the same
        if frozenset(pair) not in missing:
            continue
        chosen = dict(pair)
        for name in [name for name in axes if name not in chosen]:
            others = [*chosen.items()]
            fitting = [
                place
                for place in ((name, number) for number in range(len(axes[name])))
                if all(frozenset((place, other)) in allowed for other in others)
            ]
            best = max(fitting, key=lambda place: gain(place, others))
            chosen[name] = best[1]
        missing -= set(map(frozenset, combinations(chosen.items(), 2)))
        times_used.update(chosen.items())
        cells.append({name: axes[name][chosen[name]] for name in axes})
    return cells


def each_value(cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the fewest cells that have each value of each name at least once."""
    chosen = _covering([tuple(cell.values()) for cell in cells], None)
    return [dict(zip(cells[0], values, strict=True)) for values in chosen]


def _cell(names: str, values: Any) -> _Cell:  # noqa: ANN401 (of any test)
    return tuple(values) if "," in names else (values,)


def _marks(is_of_every_run: bool) -> tuple[pytest.MarkDecorator, ...]:  # noqa: FBT001
    return () if is_of_every_run else (pytest.mark.exhaustive,)


def _covering(
    cells: list[_Cell], by: Callable[..., Iterable[object]] | None
) -> Iterator[_Cell]:
    """Take whatever cell has most values that none before it has."""

    def places(cell: _Cell) -> set[object]:
        return {*enumerate(map(repr, cell))} if by is None else {*by(*cell)}

    missing = {place for cell in cells for place in places(cell)}
    while missing:
        best = max(cells, key=lambda cell: len(missing & places(cell)))
        missing -= places(best)
        yield best
