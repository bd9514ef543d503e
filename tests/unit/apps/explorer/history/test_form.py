from datetime import date

import pytest
from django.http import QueryDict

from apps.explorer.history.form import parse_history_filter
from apps.pages.request.parameters import QueryError
from tests.support import cases


class TestHistoryFilter:
    def test_reads_every_part(self) -> None:
        query = QueryDict("op=WRITE&op=MERGE&op=WRITE&user=etl&from=2026-11-01&q=id")

        wanted = parse_history_filter(query)

        assert wanted.operations == ("WRITE", "MERGE")
        assert wanted.user_name == "etl"
        assert wanted.first_day == date(2026, 11, 1)
        assert wanted.last_day is None
        assert wanted.text == "id"
        assert not wanted.is_empty

    def test_nothing_asked_is_every_commit(self) -> None:
        assert parse_history_filter(QueryDict("op=&user=&from=&q=")).is_empty

    @cases(
        "query",
        {
            "a word for a day": "from=yesterday",
            "a thirteenth month": "to=2026-13-01",
            "before the first version": "before=-1",
            "beyond 64 bits": "before=99999999999999999999",
            "a NUL byte": "q=a%00b",
            "a text without end": "op=" + "x" * 5000,
            "too many": "&".join(f"op={n}" for n in range(50)),
        },
    )
    def test_what_cannot_be_read_is_a_400_that_names_it(self, query: str) -> None:
        with pytest.raises(QueryError) as caught:
            parse_history_filter(QueryDict(query))

        assert caught.value.status == 400
        assert repr(query.partition("=")[0]) in caught.value.message
