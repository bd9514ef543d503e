"""Checkpoints of any size, made row group by row group in bounded memory.

Read the modules in this order:

    builder            one checkpoint, from the log's files to `_last_checkpoint`
    checkpoint_schema  the columns, by the table's properties and by what the log has
    commit_source      the file actions of the commits, reconciled, in two passes
    older_checkpoint   the file actions of the checkpoint below the commits
    file_rows          file actions brought to the columns of a checkpoint
    stats_columns      statistics and partition values with types
    stats_text         typed statistics as the JSON text of the log
    parts              which part a file belongs to, and how the parts are written
    last_checkpoint    the hint, which never moves backwards

Source: delta_protocol.md, "Checkpoints", "Checkpoint Format", "Checkpoint Schema" and
"Last Checkpoint File".
"""
