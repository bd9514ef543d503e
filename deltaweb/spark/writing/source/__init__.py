"""The data source `deltaweb` of Spark, on its API for sources written in Python.

    options       what users set, read once
    data_source   the source itself, and how a session gets to know it
    batch_reader  rows of a version
    batch_writer  rows of a DataFrame
    stream_files  what a stream reads of a table, and how far a batch goes
    stream_reader rows of a table as it grows
    stream_writer batches of a stream, each exactly once

Filters of DataFrames are not taken: Spark 4.2 keeps one plan of reading for all uses
of what `load` returned, so the filters of one would leave rows out of another. What is
asked for with the load itself, columns and `filesWhere`, is of that load alone.

Spark makes these objects in processes of its own, and sends them on to tasks as they
are: they hold values, and open a table where they need it.
"""
