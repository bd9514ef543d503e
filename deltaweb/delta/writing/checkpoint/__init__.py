"""Checkpoints of any size, made row group by row group in bounded memory.

Read the modules in this order:

    request            what is wanted of a checkpoint, and what came of it
    builder            one checkpoint, from the log's files to `_last_checkpoint`
    plan               what it will hold, and in which files, before it is written
    announce           whole files become visible, and then are named
    checkpoint_schema  the columns, by the table's properties and by what the log has
    rare_actions       the actions that a checkpoint has one of, or few, by what the
                       commits say beside their files
    commit_source      the file actions of the commits, read in two passes
    last_actions       which of them are the last ones of their files
    older_checkpoint   the file actions of the checkpoint below the commits
    file_rows          file actions brought to the columns of a checkpoint
    stats_columns      statistics and partition values with types
    parts              which part a file belongs to, and how the parts are written
    present_parts      parts of other writers that are in the way
    last_checkpoint    the hint, which never moves backwards

Source: delta_protocol.md, "Checkpoints", "Checkpoint Format", "Checkpoint Schema" and
"Last Checkpoint File".
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.delta.writing.checkpoint import builder as builder
else:
    __getattr__ = modules_on_demand(__name__)
