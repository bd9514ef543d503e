import pytest
from django.http import QueryDict

from apps.sharing.recipients.forms import NewRecipientForm
from tests.support import cases
from tests.support.pages.factories import new_share

SENT = "name=acme&lifetime=7d"


@cases(
    "typed, networks",
    {
        "nothing": ("", []),
        "one": ("10.0.0.0/8", ["10.0.0.0/8"]),
        "lines, commas and blanks": (
            "10.0.0.0/8\r\n 192.0.2.7,2001:db8::/32\n\n",
            ["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"],
        ),
    },
)
@pytest.mark.django_db
def test_networks_are_read_one_a_line_or_by_commas(typed: str, networks: list[str]):
    form = NewRecipientForm({"name": "acme", "lifetime": "7d", "networks": typed})

    assert form.is_valid()
    assert form.cleaned_data["networks"] == networks


@pytest.mark.django_db
def test_only_shares_that_exist_can_be_granted() -> None:
    new_share("sales")

    form = NewRecipientForm(QueryDict(f"{SENT}&shares=sales&shares=secret"))
    known = NewRecipientForm(QueryDict(f"{SENT}&shares=sales"))

    assert list(form.errors) == ["shares"]
    assert known.is_valid()
