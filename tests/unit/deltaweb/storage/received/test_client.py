"""What a provider is asked, and which of its answers are believed."""

import json

import pytest

from deltaweb.storage.received.errors import (
    NotSharedError,
    ProviderAnswerError,
    ProviderRefusedError,
)
from deltaweb.storage.received.profile import SharedName
from tests.support.stores.sharing_provider import Handler, Provider, provider_running

TABLE = SharedName("s", "c", "t")
AT = "/shares/s/schemas/c/tables/t"


def test_tables_of_all_shares_are_listed_page_by_page(provider: Provider) -> None:
    provider.lists("a.x.one", "b.y.two")
    pages = iter(
        [
            {"items": [{"name": "a"}], "nextPageToken": "t &?"},
            {"items": [{"name": "b"}], "nextPageToken": ""},
        ]
    )
    provider.answers["/shares"] = lambda asked: asked.say(
        200, json.dumps(next(pages)).encode()
    )

    found = provider.client().tables()

    assert list(map(str, found.tables)) == ["a.x.one", "b.y.two"]
    assert not found.is_truncated
    assert provider.asked[0] == "GET /shares?maxResults=500"
    assert "pageToken=t+%26%3F" in " ".join(provider.asked)


@pytest.mark.parametrize(
    "name", ["", "..", "a/b", "a\nb", "a\x00", "x" * 256, 7, None, {"a": 1}, ["a"]]
)
def test_names_that_can_be_none_are_passed_over(provider: Provider, name: object):
    provider.lists("s.c.t")
    items = [{"name": name, "schema": "c"}, {"name": "t", "schema": "c"}, 7]
    provider.puts("/shares/s/all-tables", {"items": items})

    assert provider.client().tables().tables == [TABLE]


def test_names_are_quoted_where_they_are_asked_for(provider: Provider) -> None:
    with pytest.raises(NotSharedError):
        provider.client().version(SharedName("a?b", "c#d", "e%f"))

    assert provider.asked == [
        "GET /shares/a%3Fb/schemas/c%23d/tables/e%25f/version",
    ]


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_token_is_said_and_not_shown(provider: Provider, status: int):
    provider.puts("/shares", {"message": "secret-token"}, status)

    with pytest.raises(ProviderRefusedError) as caught:
        provider.client().tables()

    assert str(status) in str(caught.value)
    assert "secret-token" not in str(caught.value)


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_is_not_given_the_token_is_named(provider, status: int) -> None:
    with provider_running() as other:
        other.puts("/shares", {}, status)
        provider.puts("/shares", {}, 308, Location=f"{other.endpoint}/shares")

        with pytest.raises(ProviderAnswerError, match="redirects to another host"):
            provider.client().tables()


@pytest.mark.parametrize(
    "body", ["text", 7, {"items": 7}, {"items": {"a": 1}}, None], ids=repr
)
def test_a_list_that_is_none_is_an_error_of_the_provider(provider, body: object):
    provider.puts("/shares", body)

    with pytest.raises(ProviderAnswerError):
        provider.client().tables()


def test_a_page_token_with_half_a_character_is_an_error(provider: Provider) -> None:
    provider.puts("/shares", {"items": [], "nextPageToken": "a\ud800"})

    with pytest.raises(ProviderAnswerError, match="token of a page is not text"):
        provider.client().tables()


@pytest.mark.parametrize(
    "said", ["", "-1", "x", "1.5", "9" * 40, "²", "9223372036854775808"]
)
def test_a_version_that_is_no_number_is_an_error(provider: Provider, said: str):
    provider.puts(
        f"{AT}/version", {}, Delta_Table_Version=said.encode().decode("latin")
    )

    with pytest.raises(ProviderAnswerError):
        provider.client().version(TABLE)


def test_a_provider_that_knows_one_format_is_asked_in_it(provider: Provider) -> None:
    def query(asked: Handler) -> None:
        is_plain = (
            asked.headers["delta-sharing-capabilities"] == "responseformat=parquet"
        )
        asked.say(200 if is_plain else 400, b'{"protocol":{"minReaderVersion":1}}')

    provider.answers[f"{AT}/query"] = query

    assert not provider.client().files(TABLE, lambda answer: answer.is_delta)


def test_an_answer_that_ends_with_an_error_is_refused(provider: Provider) -> None:
    last = {"endStreamAction": {"errorMessage": "the files cannot be read"}}
    provider.puts(f"{AT}/query", [{"protocol": {"minReaderVersion": 1}}, last])

    with pytest.raises(ProviderAnswerError, match="ended the answer with an error"):
        provider.client().files(TABLE, lambda answer: [*answer.lines])


def test_an_answer_that_ends_without_an_error_is_whole(provider: Provider) -> None:
    lines = [{"protocol": {"minReaderVersion": 1}}, {"endStreamAction": {}}]
    provider.puts(f"{AT}/query", lines)

    assert provider.client().files(TABLE, lambda one: [*one.lines]) == lines
