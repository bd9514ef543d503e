"""The checkpoint writer, which works row group by row group in bounded memory.

Source: delta_protocol.md, "Checkpoints", "Checkpoint Format", "Checkpoint Schema" and
"Last Checkpoint File".
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.delta.writing.checkpoint import builder as builder
else:
    __getattr__ = modules_on_demand(__name__)
