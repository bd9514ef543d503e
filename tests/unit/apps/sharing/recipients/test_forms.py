from apps.sharing.recipients.forms import AllowListForm, NewRecipientForm
from tests.support import cases


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
def test_networks_are_read_one_a_line_or_by_commas(typed: str, networks: list[str]):
    form = AllowListForm({"networks": typed})

    assert form.is_valid()
    assert form.network_texts == networks


def test_only_shares_that_exist_can_be_granted() -> None:
    sent = {"name": "acme", "lifetime": "7d", "shares": ["sales", "secret"]}

    form = NewRecipientForm(sent, share_names=["sales"])

    assert list(form.errors) == ["shares"]
