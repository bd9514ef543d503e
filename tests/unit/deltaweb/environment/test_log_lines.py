"""JSON lines have the ids of a request and a job, and no secret."""

import json
import logging
import sys

from django.http import HttpRequest

from deltaweb.environment import logs


def written(message: str, *args: object, **fields: object) -> dict[str, object]:
    record = logging.LogRecord("a", logging.INFO, "", 1, message, args, None)
    for name, value in fields.items():
        setattr(record, name, value)
    for one in (logs.HideSignInLinks(), logs.KeepOneLine()):
        one.filter(record)
    line = logs.JSONLines().format(record)
    assert "\n" not in line
    found: dict[str, object] = json.loads(line)
    return found


def test_a_line_has_the_ids_of_its_request_and_job() -> None:
    request, job = logs.request_id.set("r-1"), logs.job_id.set("j-1")
    try:
        line = written("%s rows", 3, facts={"status": 200})
    finally:
        logs.request_id.reset(request)
        logs.job_id.reset(job)

    assert (line["message"], line["request"], line["job"]) == ("3 rows", "r-1", "j-1")
    assert line["status"] == 200
    assert str(line["time"]).endswith("+00:00")
    assert "request" not in written("later")


def test_a_line_that_is_written_after_a_request_has_its_id() -> None:
    request = HttpRequest()
    request.id = "r-2"  # type: ignore[attr-defined]  # ours alone

    assert written("Not Found", request=request)["request"] == "r-2"


def test_a_line_of_text_ends_with_the_ids() -> None:
    record = logging.LogRecord("a", logging.INFO, "", 1, "3 rows", (), None)
    with logs.named_in_lines(request="r-1", job="j-1"):
        line = logs.TextLines().format(record)

    assert line.endswith(" INFO a: 3 rows request=r-1 job=j-1")
    assert logs.TextLines().format(record).endswith(" INFO a: 3 rows")


def test_an_exception_has_its_traceback_without_links() -> None:
    try:
        raise ValueError("/sign-in/abcdef/")  # noqa: EM101, TRY301 (a text to look for)
    except ValueError:
        line = written("failed", exc_info=sys.exc_info())

    assert "ValueError" in str(line["exception"])
    assert "abcdef" not in str(line["exception"])


def test_a_fact_hides_each_link_that_signs_in_too() -> None:
    line = written("GET", facts={"path": "/activate/abcdef/", "status": 404})

    assert line["path"] == "/activate/.../"
    assert line["status"] == 404


def test_a_message_hides_each_link_that_signs_in() -> None:
    for path in ("sign-in", "activate", "confirm-address", "portal/sign-in"):
        assert "abcdef" not in str(written(f"GET /{path}/abcdef")["message"])
