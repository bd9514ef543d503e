"""The properties of recipients, from text."""

import pytest

from apps.sharing.errors import PropertyInvalidError
from apps.sharing.recipients.properties import (
    parse_properties,
    property_texts,
)


@pytest.mark.parametrize(
    "text", ['a="\\ud800"', "a=\ud800", 'a="\\u0000"', "a=\0", 'a="b', 'a="b"c', 'a="']
)
def test_values_that_cannot_be_kept_are_refused(text: str) -> None:
    with pytest.raises(PropertyInvalidError):
        parse_properties([text])


@pytest.mark.parametrize("text", ['a="7"', 'a="\\ud83d\\ude00"', 'a="true"', "a=é"])
def test_texts_are_read_back_as_they_were(text: str) -> None:
    properties = parse_properties([text])

    assert parse_properties(property_texts(properties)) == properties
