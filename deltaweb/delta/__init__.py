"""The Delta transaction log as plain Python values.

Read the modules in this order:

    errors         every fault, its stable code, its sentence and its hint
    actions        what one line of the log says
    log_path       the names of the files of a log
    log_store      how bytes arrive (declared here, fulfilled by `deltaweb.storage`)
    log_segment    which files hold the log of one version; `log_overview` lists all
    partition_keys the keys of partitionValues, and their physical names
    commit_file    commits parsed: vectorised, with a slow and exact fallback
    commit_batch   commits parsed once for all that a history asks of them, by
                   `commit_lines` quickly, or by `commit_columns` exactly
    checkpoint     checkpoints, read by column name
    replay         how actions are reconciled into the files of a table
    snapshot       the table at one version
    history        what each commit says of itself, and when it was made
    table_features what a protocol asks of readers and writers, and what we answer
    checkpoint_writer  checkpoints of any size, in bounded memory
    log_cleanup    the history that a log need not keep, deleted when asked for

Nothing here opens a file by itself: bytes arrive through `log_store.LogStore`. Terms
are those of the Delta protocol's specification, whose headings the docstrings cite.
"""
