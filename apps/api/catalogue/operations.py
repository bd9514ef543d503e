"""Operations: looked at, or done, by a job."""

from collections.abc import Iterator
from dataclasses import field, make_dataclass
from typing import Any, Protocol
from uuid import UUID

from django.http import HttpRequest
from django.urls import URLPattern, path

from apps.accounts.permissions import signed_in
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.errors import BodyInvalidError
from apps.api.jobs import started
from apps.jobs import kinds
from apps.jobs.listing.resource import Started
from apps.jobs.models import Job
from apps.pages.actions import stamp_of
from apps.pages.changes.parameters import must_be_stated
from apps.tables.errors import OperationOutdatedError
from apps.tables.head.finding import get_own_table
from apps.tables.head.job_json import check_may
from apps.tables.models import Table
from apps.tables.operations.operation import AnyOperation, operations
from apps.tables.operations.requests import (
    NO_TABLE,
    request_operation,
    request_preview,
)


class Wanted(Protocol):
    """The body of a call: what is asked, and whether it is only looked at.

    Attributes:
        parameters: The parameters of the operation.
        preview: Whether to make only a preview, which changes nothing.
        seen: The id of the job of the preview that was seen.
    """

    parameters: Any
    preview: bool
    seen: UUID | None


def operation_paths(below: str) -> Iterator[URLPattern]:
    """Yield the address of each operation of a table, below a path."""
    kinds.all_kinds()
    for operation in operations:
        # What brings files or makes tables is asked by `new_tables` and `merges`.
        if not operation.is_of_who_asked:
            view = operation_view(operation).as_view()
            yield path(f"{below}/{operation.name}", view, name=operation.name)


def operation_view(operation: AnyOperation) -> type[RestView]:
    """Return the endpoint of an operation; its body has the parameters of that."""
    body = body_of(operation.name, operation.parameters)

    def post(
        _self: object,
        request: HttpRequest,
        *,
        namespace: str,
        name: str,
        body: Wanted,
    ) -> Answer:
        table = get_own_table(signed_in(request), namespace, name)
        check_may(table, table.version)
        return asked_answer(request, operation, table, body, asked_of(body))

    post.__doc__ = f"""{operation.words}.

        A preview says what would happen and changes nothing. With `seen`, the id of
        its job, the previewed change is made with the parameters of the preview, unless
        its result would differ now. Without `seen`, the change is made unless there is
        a newer version than at the request. It needs the right to edit the table.
        """
    name = f"Operation{_pascal(operation.name)}"
    does = endpoint(Role.VIEWER, body=body, answers={202: Started})(post)
    return type(name, (RestView,), {"post": does})


def asked_answer(
    request: HttpRequest,
    operation: AnyOperation,
    table: Table | None,
    body: Wanted,
    asked: Any,  # noqa: ANN401 (of the operation)
) -> Answer:
    """Ask for a look at an operation, or for it, and answer with the job.

    Args:
        request: Who asks.
        operation: The operation.
        table: The table; None for one that is to be made.
        body: What is asked.
        asked: The parameters of the operation; those of the look count where there
            is one.
    """
    user, stamp = signed_in(request), stamp_of(request)
    if body.preview and body.seen is None:
        look = request_preview(operation, table, asked, now=stamp.at, requested_by=user)
        return started(look)
    seen = None
    if body.seen is not None:
        looks = Job.objects.filter(
            kind=operation.kind, subject_id=table.id if table else None
        )
        if operation.is_of_who_asked:
            looks = looks.filter(requested_by=user)
        seen = looks.filter(id=body.seen).first()
        if seen is None:
            name = table.full_name if table else operation.words
            raise OperationOutdatedError(name=name)
        asked = operation.asked(seen)
    job = request_operation(
        operation,
        table,
        asked,
        seen=seen,
        unseen_at=table.version if table else NO_TABLE,
        stamp=stamp,
        requested_by=user,
    )
    return started(job)


def asked_of(body: Wanted) -> Any:  # noqa: ANN401 (of the operation)
    """Return the parameters of a call; None where those of the look count."""
    if body.parameters is None and body.seen is None:
        raise BodyInvalidError(reason="parameters: they are needed without `seen`")
    return body.parameters


def body_of(name: str, kind: type) -> type:
    """Return the body of a call for an operation.

    Args:
        name: The name of the operation.
        kind: Its parameters.
    """
    given: Any = (kind, field(default_factory=kind))
    if must_be_stated(kind):
        given = (kind | None, field(default=None))
    body = make_dataclass(
        f"{_pascal(name)}Request",
        [
            ("parameters", *given),
            ("preview", bool, field(default=True)),
            ("seen", UUID | None, field(default=None)),
        ],
        frozen=True,
        kw_only=True,
    )
    body.__doc__ = Wanted.__doc__
    return body


def _pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
