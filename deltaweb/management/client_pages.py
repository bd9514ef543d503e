"""The page of the manual about clients: what is known of each, and what was measured.

The facts are those of `clients.toml`. `docs/clients.json` has the results of the test
that reads each recorded table with each client (`tests.functional.sharing_clients`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from deltaweb.delta.features.known.clients import (
    ICEBERG,
    LOG,
    SHARE,
    KnownClient,
    clients_of,
)

INTRODUCTION: Final = """\
# Clients

*Read by* on the pages of shares, tables and recipients says which clients read a table.
The verdict comes from the facts on this page. Each has a source: documentation, or a
test of this repository (*measured here*).

A client *reads as stored*, or *reads plain* if recipients get plain files, or *cannot*.
The reason names the feature or the type of column. *Not known* means that no source
says whether the client reads the feature.
"""
WAYS: Final = {
    SHARE: "Clients of the sharing protocol",
    ICEBERG: "Clients of the Iceberg catalog",
    LOG: "Clients that read the log and the files themselves",
}


def clients_page(results: Mapping[str, Any]) -> str:
    """Return the page as Markdown.

    Args:
        results: What was measured, as `docs/clients.json` has it.
    """
    return "\n".join([INTRODUCTION, *_measured(results), *_known()])


def _measured(results: Mapping[str, Any]) -> Iterator[str]:
    yield "## What was measured\n"
    yield (
        f"On {results['measured_on']}, each client read {results['num_tables']} tables "
        "of many writers and features from one server. Its rows were compared with "
        "those of the table. A table that is *refused* has a feature or a type for "
        "which its page says so.\n"
    )
    rows = (
        (
            one["client"],
            one["version"],
            one["read"],
            _count(one, foreseen=True),
            _count(one, foreseen=False),
        )
        for one in results["clients"]
    )
    yield from _table(("client", "release", "equal", "refused", "other faults"), rows)
    yield "\nThe other faults are those of the clients, with any server:\n"
    for one in results["clients"]:
        for fault in one["faults"]:
            if not fault["foreseen"]:
                names = ", ".join(fault["tables"])
                yield f"- {one['client']}: {fault['why']} ({names})"
    yield "\nNot measured:\n"
    yield from (f"- {name}: {why}" for name, why in results["not_measured"].items())


def _count(client: Mapping[str, Any], *, foreseen: bool) -> int:
    return sum(
        len(fault["tables"])
        for fault in client["faults"]
        if fault["foreseen"] is foreseen
    )


def _known() -> Iterator[str]:
    for way, title in WAYS.items():
        clients = clients_of(way)
        features = sorted({name for one in clients for name in one.supports})
        yield f"\n## {title}\n"
        yield from _table(
            ("feature", *(one.name for one in clients)),
            (
                (f"`{name}`", *(one.support(name).text for one in clients))
                for name in features
            ),
        )
        yield ""
        for one in clients:
            limits = f" {_limits(one)}." if _limits(one) else ""
            yield f"- **{one.name}** ({one.about}):{limits} {_source(one)}"


def _limits(client: KnownClient) -> str:
    found = [
        *(f"no columns of type {name}" for name in sorted(client.unread_types)),
        *(f"no partitions of type {name}" for name in sorted(client.unread_partitions)),
        *(["only the parquet format"] if client.formats == ("parquet",) else []),
        *(["only files with field ids"] if client.needs_ids == "all" else []),
        *(["maps only with field ids"] if client.needs_ids == "maps" else []),
    ]
    return "; ".join(found)


def _source(client: KnownClient) -> str:
    on = client.on.isoformat()
    if client.source.startswith("https:"):
        return f"Documentation, `{client.source}`, {on}."
    return f"{client.source.capitalize()}, {client.product} {client.tried}, {on}."


def _table(head: Sequence[str], rows: Iterator[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'-|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(str(cell) for cell in row)} |"
