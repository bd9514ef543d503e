"""Options of storage connections for temporary credentials, which no driver has."""

from typing import Final

ROLE_OPTION: Final = "vend_role_arn"
STS_OPTION: Final = "vend_sts_endpoint_url"
OPTIONS: Final = frozenset({ROLE_OPTION, STS_OPTION})
