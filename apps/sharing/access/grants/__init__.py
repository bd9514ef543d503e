"""What of shared tables recipients see: rows by conditions, columns by lists.

Read in this order:

    checks        the rule of a shared table as it is stored
    rules         the rule that holds for one recipient, bound to one version
    prepared      what rules leave of files, rewritten: kept, found, erased
    offered       a version as one recipient is offered it
    changed       the changes of versions as a rule leaves them
    proof         what is handed out, read and held against the rule
    rule_preview  what a rule would leave, before anybody has it
    preparing     rewriting what is not ready, as a job
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.sharing.access.grants import preparing as preparing
else:
    __getattr__ = modules_on_demand(__name__)
