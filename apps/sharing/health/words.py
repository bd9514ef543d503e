"""The rules of sharing, as pages name them."""

from typing import Final

from apps.tables.extension.health_rules import HealthRule

NO_ROWS: Final = "recipient-sees-no-rows"
TOKEN_EXPIRES: Final = "token-expires"  # noqa: S105 (the name of a rule)
BROKEN_SHARE: Final = "broken-share"
WORDS: Final = (
    HealthRule(
        name=BROKEN_SHARE,
        title="A broken share",
        about="Recipients are refused, and their error does not say why.",
        advice="Repair the table, or remove it from the share.",
    ),
    HealthRule(
        name=NO_ROWS,
        title="A recipient sees no row",
        about="The recipient reads an empty table and gets no error.",
        advice="Set the property that the condition uses, or change the condition.",
    ),
    HealthRule(
        name=TOKEN_EXPIRES,
        title="A token expires soon",
        about="A recipient without a valid token is refused.",
        advice="Rotate the token, and send the activation link to the recipient.",
    ),
)
