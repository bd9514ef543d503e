"""Changes of tables of every combination of features, beside a model of their rows.

Each pair of levels of the axes has a cell. Every run has a few of the cells.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import pytest

from deltaweb.delta.errors import DeltaError
from tests.spark.settings_cases import KOLKATA, NEW_YORK, settings
from tests.support import cases, each_value, pairwise
from tests.support.net.checks import (
    as_read_there,
    changes_of,
    in_change_order,
    rows_of,
    rows_of_reference,
    without_kept,
    wrong_statistics,
)
from tests.support.net.deeds import PROCESS, VERBS
from tests.support.net.model import in_order
from tests.support.net.refused import DOORS, FAULTS, fault_of
from tests.support.net.shapes import PARTITIONS, SHAPES
from tests.support.net.tables import CHECKS, GENERATED, MAPPINGS, Cell, NetTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AXES: dict[str, list[Any]] = {
    "deed": [(verb, one) for verb, (_, engines) in VERBS.items() for one in engines],
    "shape": [*SHAPES],
    "mapping": [*MAPPINGS],
    "partition": ["none", *PARTITIONS],
    "generated": ["none", *GENERATED],
    "check": ["none", *CHECKS],
    "zone": ["UTC", NEW_YORK, KOLKATA],
    "ansi": [True, False],
    "vectors": [False, True],
    "feed": [False, True],
    "widened": [False, True],
    "clustered": [False, True],
}


def excluded(pair: dict[str, Any]) -> bool:
    """Return whether a pair is refused, or has no meaning."""
    verb, engine = pair.get("deed", (None, None))
    partition, generated = pair.get("partition"), pair.get("generated")
    return any(
        (
            verb in {"overwrite partitions", "move"} and partition == "none",
            # The changes of a file that is written again are not written by tasks.
            verb == "replace where" and engine != PROCESS and bool(pair.get("feed")),
            bool(pair.get("clustered")) and partition not in {"none", None},
            verb in {"overwrite partitions", "move"} and bool(pair.get("clustered")),
            engine == PROCESS
            and pair.get("check") == "only Spark"
            and verb not in {"optimize", "restore"},
            generated == "of a struct"
            and pair.get("shape") not in {"struct", "NOT NULL", None},
            # A column that is generated of it would change.
            generated == "of a struct"
            and (
                pair.get("mapping") in {"renamed", "exchanged"}
                or bool(pair.get("widened"))
            ),
        )
    )


def named(cells: Iterable[dict[str, Any]]) -> dict[str, Cell]:
    return {str(cell): cell for cell in map(Cell.of, cells)}


ALL = pairwise(AXES, excluded=excluded)
CELLS, OFTEN = named(ALL), named(each_value(ALL[::-1]))


def test_each_pair_of_levels_has_a_cell():
    allowed = [
        pair
        for one, other in combinations(AXES, 2)
        for pair in (
            {one: first, other: second}
            for first, second in product(AXES[one], AXES[other])
        )
        if not excluded(pair)
    ]
    assert len(allowed) > 1500
    assert [
        pair for pair in allowed if not any(pair.items() <= c.items() for c in ALL)
    ] == []
    assert not any(
        excluded({one: cell[one], other: cell[other]})
        for cell in ALL
        for one, other in combinations(AXES, 2)
    )


@pytest.fixture
def session(spark: "SparkSession", cell: Cell) -> "Iterator[SparkSession]":
    with settings(spark, time_zone=cell.zone, ansi=cell.ansi):
        yield spark


@cases("cell", CELLS, often=OFTEN)
def test_a_change_does_to_a_table_what_it_does_to_its_model(session, tmp_path, cell):
    net = NetTable(tmp_path / "t", cell)
    assert rows_of(net.table) == in_order(net.model.rows)
    net.begin()
    deed, _ = VERBS[cell.verb]

    deed(net, session)

    assert rows_of(net.table) == in_order(net.model.rows)
    assert wrong_statistics(net.table) == []
    if cell.feed:
        found = changes_of(net.table, net.table.latest_version())
        if cell.verb == "restore":  # files go and come whole
            found = without_kept(found)
        assert in_change_order(found) == in_change_order(net.model.changes)


@pytest.mark.exhaustive
@cases("cell", OFTEN)
def test_the_reference_implementation_reads_the_rows(
    session, reference, tmp_path, cell
):
    net = NetTable(tmp_path / "t", cell)
    net.begin()

    VERBS[cell.verb][0](net, session)

    wanted = as_read_there(net.table, net.model.rows)
    assert rows_of_reference(reference, net.table) == wanted


REFUSED: dict[str, list[Any]] = {
    "fault": [*FAULTS],
    "door": [*DOORS],
    "shape": [*SHAPES],
    "mapping": [*MAPPINGS],
    "ansi": [False, True],
    "zone": [NEW_YORK, "UTC"],
    "check": ["of a number", "only Spark"],
    "vectors": [False, True],
}
OTHERS = {
    "deed": ("append", PROCESS),
    **dict.fromkeys(("partition", "generated"), "none"),
    **dict.fromkeys(("feed", "widened", "clustered"), False),
}


def has_no_fault(pair: dict[str, Any]) -> bool:
    """Return whether what is asked is no fault of such a table."""
    fault, shape = pair.get("fault"), pair.get("shape")
    return any(
        (
            fault in {"an unknown field", "a field that is there twice"}
            and shape == "flat",
            fault == "no value of a field" and shape not in {"NOT NULL", None},
            fault == "a row that breaks a rule" and pair.get("check") == "only Spark",
            fault == "an error of ANSI" and pair.get("ansi") is False,
        )
    )


REFUSALS = {
    f"{levels['fault']},{levels['door']},{cell}": (
        levels["fault"],
        levels["door"],
        cell,
    )
    for levels in pairwise(REFUSED, excluded=has_no_fault)
    for cell in [Cell.of({**OTHERS, **{n: v for n, v in levels.items() if n in AXES}})]
}


@cases("fault, door, cell", REFUSALS, often=[*REFUSALS][::6])
def test_what_is_refused_is_refused_by_an_error_of_ours(
    session, tmp_path, fault, door, cell
):
    net = NetTable(tmp_path / "t", cell)
    column, sql = fault_of(net, fault)
    words, *codes = FAULTS[fault]
    before = net.table.latest_version()

    with pytest.raises(DeltaError, match=words) as caught:
        DOORS[door](session, net, column, sql)

    assert caught.value.code in codes
    assert "\n" not in caught.value.message
    assert net.table.latest_version() == before
    assert rows_of(net.table) == in_order(net.model.rows)
