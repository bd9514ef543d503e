"""The rules of sharing, as pages name them."""

from typing import Final

from apps.tables.extension.health_rules import RuleWords

NO_ROWS: Final = "recipient-sees-no-rows"
TOKEN_EXPIRES: Final = "token-expires"  # noqa: S105 (the name of a rule)
BROKEN_SHARE: Final = "broken-share"
WORDS: Final = (
    RuleWords(
        name=BROKEN_SHARE,
        title="A broken share",
        about="Recipients are refused, and do not know why.",
    ),
    RuleWords(
        name=NO_ROWS,
        title="A recipient sees no row",
        about="A rule that shows nothing is seldom meant.",
    ),
    RuleWords(
        name=TOKEN_EXPIRES,
        title="A token expires soon",
        about="A recipient without a token is refused from then on.",
    ),
)
