"""What an update makes of a field that was sent, was not sent, or is null."""

import pytest
from django import forms
from django.http import QueryDict

from apps.pages.request.changes import (
    UNCHANGED,
    ChangeForm,
    CheckBoxesField,
    sent_fields,
    value_of,
)


@pytest.mark.parametrize(
    ("sent", "value"),
    [("new", "new"), ("", ""), (None, "none"), (UNCHANGED, "old")],
)
def test_a_value_is_new_removed_or_as_it_was(sent, value):
    assert value_of(sent, "old", removed="none") == value


def test_fields_that_were_not_sent_are_left_out():
    assert sent_fields(a=1, b=UNCHANGED, c=None) == {"a": 1, "c": None}


class Settings(ChangeForm):
    text = forms.CharField(required=False)
    number = forms.IntegerField(required=False)
    box = forms.BooleanField(required=False)
    boxes = CheckBoxesField(choices=[("a", "a"), ("b", "b")], required=False)


class TestAForm:
    @pytest.mark.parametrize(
        ("query", "changes"),
        [
            ("", {}),
            ("text=", {"text": ""}),
            ("number=", {"number": None}),
            ("box=false", {"box": False}),
            ("box=false&box=on", {"box": True}),
            ("boxes=", {"boxes": []}),
            ("boxes=&boxes=a&boxes=b", {"boxes": ["a", "b"]}),
        ],
    )
    def test_changes_the_fields_that_it_was_sent_with(self, query, changes):
        form = Settings(QueryDict(query))

        assert form.is_valid()
        assert sent_fields(**form.changes) == changes

    def test_knows_its_fields_behind_a_prefix(self):
        form = Settings(QueryDict("t0-text=x&number=3"), prefix="t0")

        assert form.is_valid()
        assert sent_fields(**form.changes) == {"text": "x"}

    def test_refuses_a_box_that_it_does_not_have(self):
        assert not Settings(QueryDict("boxes=&boxes=c")).is_valid()
