import pytest
from django import forms

from apps.pages.lists.fields import SortField, WordField, hints_of
from apps.pages.lists.sorting import Column
from tests.support import cases


class ListForm(forms.Form):
    state = WordField({"FAILED": "failed", "new": "not indexed yet"})
    sort = SortField([Column(key="size", label="Size"), Column("", "30 days")])


class TestWordField:
    @cases(
        "text, value",
        {
            "a value": ("FAILED", "FAILED"),
            "its word": ("failed", "FAILED"),
            "words": ("not indexed yet", "new"),
            "words with hyphens": ("not-indexed-yet", "new"),
            "a value in another case": ("New", "new"),
            "nothing": ("", ""),
        },
    )
    def test_reads_values_and_their_words(self, text: str, value: str) -> None:
        form = ListForm({"state": text})

        assert form.is_valid()
        assert form.cleaned_data["state"] == value

    def test_names_the_words_that_there_are(self) -> None:
        form = ListForm({"state": "broken"})

        assert not form.is_valid()
        assert hints_of(form) == "Use one of failed, not indexed yet."


class TestSortField:
    @pytest.mark.parametrize("sort", ["size", "-size", ""])
    def test_takes_a_key_both_ways(self, sort: str) -> None:
        assert ListForm({"sort": sort}).is_valid()

    @pytest.mark.parametrize("sort", ["colour", "--size", "-", "size "])
    def test_names_the_orders_that_there_are(self, sort: str) -> None:
        form = ListForm({"sort": sort})

        assert not form.is_valid()
        assert "one of size;" in hints_of(form)
