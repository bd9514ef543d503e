"""The writes to a log: transactions, checkpoints and log clean-up."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.delta.writing import after_commit as after_commit
    from deltaweb.delta.writing import checkpoint as checkpoint
    from deltaweb.delta.writing import log_cleanup as log_cleanup
    from deltaweb.delta.writing import operations as operations
    from deltaweb.delta.writing import requirements as requirements
else:
    __getattr__ = modules_on_demand(__name__)
