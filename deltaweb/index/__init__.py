"""The index of a table: what pages and sharing read instead of the log.

Read in this order:

    build        one table's log to an index folder, in process
    running_totals, readability   what holds after each commit
    distribution histogram and partitions of the newest files
    file_index   the folder: columnar files, written whole and memory-mapped
    sentences    a commit in plain words

The log stays the truth: a missing or stale index changes speed, never an answer.
"""
