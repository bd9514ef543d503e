"""The pages and services of recipients: list, page, settings and grants."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.sharing.recipients import last_reads as last_reads
    from apps.sharing.recipients import rehearsals as rehearsals
    from apps.sharing.recipients import telling as telling
    from apps.sharing.recipients import token_states as token_states
else:
    __getattr__ = modules_on_demand(__name__)
