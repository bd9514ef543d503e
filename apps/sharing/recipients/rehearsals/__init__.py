"""The rehearsals, in which installed clients read all tables of a recipient."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.sharing.recipients.rehearsals import nightly as nightly
else:
    __getattr__ = modules_on_demand(__name__)
