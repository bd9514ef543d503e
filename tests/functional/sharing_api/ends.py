"""What answers say at their ends, and how a client goes on from there."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.sharing.models import SharedTable
from tests.functional.sharing_api.calls import (
    Answer,
    Caller,
    Lake,
    body_of,
    files,
    lines,
)

END: dict[str, Any] = {"delta-sharing-capabilities": "includeEndStreamAction=true"}
IN_DELTA: dict[str, Any] = {
    "delta-sharing-capabilities": "responseformat=delta;readerfeatures=deletionvectors"
}


def later(monkeypatch: pytest.MonkeyPatch, span: timedelta) -> None:
    """Let requests come after a while."""
    now = timezone.now() + span
    monkeypatch.setattr("apps.sharing.api.base.timezone.now", lambda: now)


def end_of(answer: Answer) -> dict[str, Any]:
    """What the last line says."""
    assert answer.status_code == 200, answer.content
    *rest, last = lines(answer)
    assert not any("endStreamAction" in line for line in rest)
    assert list(last) == ["endStreamAction"]
    said: dict[str, Any] = last["endStreamAction"]
    return said


def ids_of(answer: Answer) -> list[str]:
    """The ids of the files of an answer."""
    return [file["id"] for file in files(answer)]


def head_of(answer: Answer) -> list[bytes]:
    """The lines of protocol and metadata."""
    return body_of(answer).splitlines()[:2]


def read_pages(
    caller: Caller, lake: Lake, body: dict[str, Any], **headers: str
) -> list[Answer]:
    """Ask for page after page."""
    answers: list[Answer] = []
    token = None
    while token is not None or not answers:
        asked = body if token is None else {**body, "pageToken": token}
        answers.append(caller.query(lake.path, asked, **headers))
        token = end_of(answers[-1]).get("nextPageToken")
    return answers


def share_with(lake: Lake, **fields: object) -> None:
    """Change the terms of the shared table."""
    SharedTable.objects.filter(id=lake.shared.id).update(**fields)
