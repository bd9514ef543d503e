"""The page of clients in the manual: facts with sources, and what was measured."""

from typing import Any, Final

from deltaweb.delta.features.known.clients import ICEBERG, LOG, SHARE, clients_of
from deltaweb.management.client_pages import clients_page

FAULTS: Final = [
    {"why": "it widens no column", "foreseen": True, "tables": ["a", "b"]},
    {"why": "times beyond 2262 wrap", "foreseen": False, "tables": ["c"]},
]
RESULTS: Final[dict[str, Any]] = {
    "measured_on": "2026-11-29",
    "num_tables": 9,
    "clients": [{"client": "Daft", "version": "0.7", "read": 6, "faults": FAULTS}],
    "not_measured": {"R": "no registry has it"},
}


def lines() -> list[str]:
    return clients_page(RESULTS).splitlines()


def test_counts_what_was_refused_as_said_and_what_was_not() -> None:
    assert "| Daft | 0.7 | 6 | 2 | 1 |" in lines()


def test_names_the_tables_of_faults_that_no_page_foresees() -> None:
    assert "- Daft: times beyond 2262 wrap (c)" in lines()
    assert not any("it widens no column" in line for line in lines())


def test_says_what_was_not_measured() -> None:
    assert "- R: no registry has it" in lines()


def test_has_every_client_with_its_source_and_date() -> None:
    for way in (SHARE, ICEBERG, LOG):
        for client in clients_of(way):
            (row,) = (
                line
                for line in lines()
                if line.startswith(f"- **{client.name}** ({client.about}):")
            )
            assert client.source.lower() in row.lower()
            assert row.endswith(f", {client.on.isoformat()}.")


def test_every_row_has_the_columns_of_its_head() -> None:
    found = lines()
    heads = [number for number, line in enumerate(found) if line.startswith("|-")]
    assert heads
    for number in heads:
        width = found[number - 1].count("|")
        for row in found[number + 1 :]:
            if not row.startswith("|"):
                break
            assert row.count("|") == width, row
