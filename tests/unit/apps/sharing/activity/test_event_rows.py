from typing import Any

from apps.audit.models import AuditEvent
from apps.sharing.activity.event_rows import event_row
from tests.support import cases
from tests.support.pages.factories import NOW


class TestEventRow:
    @cases(
        "fields, who, what",
        {
            "a call": (
                {"recipient": "acme", "share": "s", "schema": "a", "table": "t"},
                "acme",
                "a.t of s",
            ),
            "no token": ({"recipient": "", "token_prefix": "dwt_1"}, "dwt_1", ""),
            "nobody": ({"recipient": ""}, "unknown", ""),
            "a grant": (
                {"actor": "ada", "share": "s", "recipient": "acme"},
                "ada",
                "s for acme",
            ),
            "token": ({"actor": "ada", "recipient": "acme"}, "ada", "acme"),
            "a user": (
                {"actor": "ada", "recipient": "", "detail": {"user": "bob"}},
                "ada",
                "bob",
            ),
            "odd": ({"actor": "ada", "recipient": "", "detail": ["odd"]}, "ada", ""),
        },
    )
    def test_names_who_and_what(self, fields: dict[str, Any], who: str, what: str):
        row = event_row(AuditEvent(at=NOW, action="x", **fields))

        assert (row.who, row.what) == (who, what)

    @cases(
        "detail, change",
        {
            "texts": ({"old": "a", "new": "b"}, ("a", "b")),
            "nothing": ({"old": "", "new": []}, ("nothing", "nothing")),
            "others": ({"old": 1, "new": ["x", "y"]}, ("1", "x, y")),
            "long": ({"old": "a", "new": "x" * 99}, ("a", f"{'x' * 39}…")),
            "no change": ({"old": "a"}, ("", "")),
            "odd": (["odd"], ("", "")),
        },
    )
    def test_a_changed_field_shows_both_values(self, detail, change):
        row = event_row(AuditEvent(at=NOW, action="x", detail=detail))

        assert (row.old, row.new) == change

    def test_details_read_as_text_whatever_they_hold(self) -> None:
        event = AuditEvent(
            at=NOW,
            action="share.update_table",
            detail={
                "before": {"with_history": True, "start_version": None},
                "hints_skipped": [],
                "names": ["a", None],
                "num_skipped_hints": 2,
                "skipped": [
                    {"text": "a = b", "reason": "two columns"},
                    {"text": "1", "reason": "no comparison"},
                ],
            },
        )

        details = dict(event_row(event).details)

        assert details["Before"] == "with history: yes; start version: none"
        assert details["Names"] == "a, none"
        assert details["Number of skipped hints"] == "2"
        assert details["Skipped"] == "a = b: two columns\n1: no comparison"
        assert "Hints skipped" not in details
