"""What a change of a table's definition would do, as commands answer it."""

from collections.abc import Iterator, Mapping
from typing import Any

from deltaweb.delta.writing.operations.definition_plan import DefinitionPlan
from deltaweb.web.pages.command import Output
from deltaweb.web.tables.operations.definition.definition_change import (
    foresee_definition,
)


def planned_definition(name: str | None, location: str, plan: DefinitionPlan) -> Output:
    """Answer a dry run: the protocol first, then what else becomes another."""
    foreseen = foresee_definition(plan)
    data = {
        "name": name,
        "location": location,
        "version": foreseen.version,
        "operation": plan.transaction.operation,
        **foreseen.detail,
    }
    if foreseen.is_empty:
        return Output(data, "It is so already: nothing would be committed.")
    said = (
        f"Would commit version {plan.base.version + 1}, {plan.transaction.operation}."
    )
    return Output(data, said, _lines(foreseen.detail))


def _lines(detail: Mapping[str, Any]) -> Iterator[str]:
    protocol, checked = detail["protocol"], detail["checked"]
    if protocol:
        yield f"The protocol goes up, and never down again: {_upgrade(protocol)}."
        clients = ", ".join(protocol["shut_out"]) or "none of those that are known here"
        yield f"Clients that can no longer write: {clients}."
    for change in detail["changes"]:
        before, after = (change[side] or "nothing" for side in ("before", "after"))
        yield f"  {change['kind']} {change['name']}: {before} -> {after}"
    if not checked:
        return
    if not checked["num_violating"]:
        yield f"True of all {checked['num_rows']:,} rows."
        return
    yield f"{checked['num_violating']:,} of {checked['num_rows']:,} rows break it:"
    for row in checked["rows"]:
        yield "  " + ", ".join(
            f"{name}={'NULL' if value is None else value}" for name, value in row
        )


def _upgrade(protocol: Mapping[str, Any]) -> str:
    versions = [
        f"{who} {protocol[who][0]} -> {protocol[who][1]}"
        for who in ("reader", "writer")
        if protocol[who]
    ]
    features = ", ".join(protocol["features"])
    return "; ".join([*versions, *([f"it brings {features}"] if features else [])])
