"""The index of a table: what pages and sharing read instead of the log.

Read in this order:

    build           one table's log to an index folder, in process
    engine          what replays the log for it: this process, or Spark
    index_update    the same from the index before, by the commits that came since
    history_reader  the history of a log, in one pass over its commits
    history         what one commit is in it, and how they are put together
    file_rows       the newest files, all columns typed
    summary         what the overview draws; `distribution` counts the newest files
    file_index      the folder: columnar files, written whole and memory-mapped
    index_seal      how a folder is known that a disk has spoilt
    base_index      the index that a table has when it is indexed again
    shared          the files of an index as the sharing server answers with them

The log stays the truth: a missing or stale index changes speed, never an answer.
"""
