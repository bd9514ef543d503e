"""The index of a table: what pages and sharing read instead of the log.

Read in this order:

    build           one table's log to an index folder, in process
    index_update    the same from the index before, by the commits that came since
    history_reader  the history of a log, in one pass over its commits
    commit_reading  these in shares; a second process helps where they are many
    commit_part     a batch of them: rows, changes, file actions; `sentences` tells each
    commit_rows     the parts of a history, put together
    lifetimes       how long each file belonged to the table; `version_totals` from it
    readability     which versions can still be read
    summary         what the overview draws; `distribution` counts the newest files
    file_index      the folder: columnar files, written whole and memory-mapped

The log stays the truth: a missing or stale index changes speed, never an answer.
"""
