"""The index of a table: what pages and sharing read instead of the log.

Read in this order:

    build           one table's log to an index folder: `full`, or by `update` from the
                    index before
    history         what each commit is in it, and how the commits are put together
    files           the newest files, all columns typed; `distribution` counts them
    summary         what the overview draws
    folder          columnar files, written whole and memory-mapped; `manifest` detects
                    a folder that a disk has corrupted
    query           the files of an index as the sharing server answers with them
    file_check      which files of a table's versions are still there

The log stays the truth: a missing or stale index changes speed, never an answer.
"""
