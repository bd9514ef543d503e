"""The record of what a command wrote into a table, and its answer."""

from dataclasses import asdict

from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.web.pages.actions import command_stamp
from deltaweb.web.pages.command import Output
from deltaweb.web.tables.catalogue.registration import find_table
from deltaweb.web.tables.operations.operation import commit_text
from deltaweb.web.tables.work.log_writing import record_log_writing


def record(action: str, name: str | None, /, **detail: object) -> None:
    """Record what was done to a table; nothing where it is not registered."""
    if name is not None:
        record_log_writing(
            action, find_table(name), detail=detail, stamp=command_stamp()
        )


def committed(
    action: str, name: str | None, location: str, result: CommitResult, **detail: object
) -> Output:
    """Record a commit to a registered table, and answer with it."""
    record(action, name, version=result.version, **detail)
    facts = asdict(result)
    return Output({"name": name, "location": location, **facts}, commit_text(facts))
