"""What our worker overrides of gunicorn's is as it was when that was written.

A release that changes any of it fails here. Read then what it does now, and what
`deltaweb.serving` makes of it, before the version is pinned anew.
"""

import hashlib
import inspect

import pytest
from gunicorn.http.unreader import Unreader
from gunicorn.workers.gthread import TConn, ThreadWorker

from deltaweb.serving.connections import ArrivedBytes, Connection
from deltaweb.serving.worker import PatientWorker

OVERRIDDEN: dict[type, set[str]] = {
    PatientWorker: {
        "__init__", "_keepalive_after", "accept", "enqueue_req", "finish_request",
        "handle", "handle_error", "init_process", "load_wsgi", "murder_pending",
        "on_client_socket_readable", "wait_for_and_dispatch_events",
    },
    Connection: {"__init__"},
    ArrivedBytes: {"__init__", "chunk"},
}  # fmt: skip
READ_IN_WHOLE = {
    ThreadWorker: "2cde92a57d7bae10",
    TConn: "e3a2878ba952710a",
    Unreader: "84aaa8f91fcdbbae",
}


@pytest.mark.parametrize("ours", OVERRIDDEN)
def test_nothing_else_is_overridden(ours: type) -> None:
    bases = ours.__mro__
    theirs = next(base for base in bases if base.__module__.startswith("gunicorn"))
    above = [base for base in bases if base.__module__.startswith("deltaweb")]
    names = {name for base in above for name, it in vars(base).items() if callable(it)}

    assert {name for name in names if hasattr(theirs, name)} == OVERRIDDEN[ours]


@pytest.mark.parametrize("theirs", READ_IN_WHOLE)
def test_what_it_stands_on_is_as_it_was_read(theirs: type) -> None:
    source = inspect.getsource(theirs).encode()

    assert hashlib.sha256(source).hexdigest()[:16] == READ_IN_WHOLE[theirs]
