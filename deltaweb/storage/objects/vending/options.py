"""Options of storage connections for temporary credentials, which no driver has."""

from typing import Final

ROLE_OPTION: Final = "vend_role_arn"
STS_OPTION: Final = "vend_sts_endpoint_url"
R2_TOKEN_OPTION: Final = "vend_r2_api_token"  # noqa: S105 (a name, no secret)
R2_ACCOUNT_OPTION: Final = "vend_r2_account_id"
OPTIONS: Final = frozenset(
    {ROLE_OPTION, STS_OPTION, R2_TOKEN_OPTION, R2_ACCOUNT_OPTION}
)
