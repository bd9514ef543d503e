"""A share while the wizard makes it: what is kept in the session."""

from contextlib import suppress
from uuid import uuid4

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from apps.pages.request.changes import NOT_CHECKED, UNCHANGED
from apps.sharing.drafts.draft import (
    MAX_RECIPIENTS,
    Draft,
    DraftRecipient,
    DraftTable,
    usual_part,
)
from apps.sharing.errors import ColumnsError, SharingStateError

words = st.text(max_size=20)
tables = st.builds(
    DraftTable,
    table_id=st.uuids().map(str),
    schema=words,
    name=words,
    part=st.fixed_dictionaries(
        {
            "with_history": st.sampled_from(["", "True", "on", NOT_CHECKED]),
            "start_version": words,
            "condition": words,
            "columns": words,
        }
    ),
)
readers = st.builds(
    DraftRecipient, name=words, contact=words, lifetime=words, until=words
)
drafts = st.builds(
    Draft,
    name=words,
    comment=words,
    tables=st.lists(tables, max_size=4).map(tuple),
    recipients=st.lists(words, max_size=4).map(tuple),
    new_recipients=st.lists(readers, max_size=4).map(tuple),
    begun=readers,
)


@given(drafts)
def test_a_session_gives_back_what_it_was_given(draft: Draft) -> None:
    assert Draft.from_session(draft.to_session()) == draft


@pytest.mark.parametrize(
    "stored",
    [None, "text", [], {}, {"name": "x"}, {"tables": [{"odd": 1}]}, {"tables": None}],
)
def test_what_is_no_draft_is_an_empty_one(stored: object) -> None:
    assert Draft.from_session(stored) == Draft()


@given(tables)
def test_whatever_was_typed_can_be_added_or_is_refused(table: DraftTable) -> None:
    with suppress(SharingStateError):
        terms = table.terms()

        assert UNCHANGED not in (terms.with_history, terms.start_version)


def test_columns_that_cannot_be_read_do_not_become_all_columns() -> None:
    part = {**usual_part(), "columns": "a," * 10_000}
    table = DraftTable(table_id="", schema="crm", name="orders", part=part)

    with pytest.raises(ColumnsError, match="10000"):
        table.terms()


def test_names_that_are_taken_whatever_their_capitals_get_a_number() -> None:
    draft = Draft()
    for name in ("orders", "Orders", "ORDERS"):
        draft = draft.with_table(uuid4(), schema="crm", name=name)
    draft = draft.with_table(uuid4(), schema="hr", name="orders")

    assert [table.name for table in draft.tables] == [
        "orders",
        "Orders_2",
        "ORDERS_3",
        "orders",
    ]


def test_what_another_tab_posts_changes_nothing() -> None:
    draft = Draft().with_table(uuid4(), schema="crm", name="orders")

    posted = QueryDict(f"t0-id={uuid4()}&t0-name=other")

    assert draft.with_tables_of(posted) == draft


def test_what_was_typed_is_kept_even_when_it_is_wrong() -> None:
    draft = Draft().with_table(uuid4(), schema="crm", name="orders")
    (table,) = draft.tables

    posted = QueryDict(
        f"t0-id={table.table_id}&t0-schema=a.b&t0-name=&t0-start_version=new"
    )
    (typed,) = draft.with_tables_of(posted).tables

    assert (typed.schema, typed.name) == ("a.b", "")
    assert typed.part["start_version"] == "new"
    assert typed.offered.history_start is None
    assert set(typed.form(0).errors) == {"name", "start_version"}


def test_recipients_have_an_end() -> None:
    names = [f"r{number}" for number in range(MAX_RECIPIENTS + 5)]

    draft = Draft().with_recipients(names, shown=names)

    assert len(draft.recipients) == MAX_RECIPIENTS
