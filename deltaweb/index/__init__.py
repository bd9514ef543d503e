"""The index of a table: what pages and sharing read instead of the log.

Read in this order:

    build           one table's log to an index folder, in process
    index_update    the same from the index before, by the commits that came since
    commit_rows     the history, a row a commit; `sentences` puts each in plain words
    lifetimes       how long each file belonged to the table; `version_totals` from it
    readability     which versions can still be read
    summary         what the overview draws; `distribution` counts the newest files
    file_index      the folder: columnar files, written whole and memory-mapped

The log stays the truth: a missing or stale index changes speed, never an answer.
"""
