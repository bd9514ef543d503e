"""Data files in process: Arrow rows in, Parquet files with statistics out.

Read the modules in this order:

    row_source      whatever rows come as, as one stream of record batches
    row_schema      rows held to a table's schema, and how a schema may grow
    row_completion  what a table adds to rows: defaults, numbers, generated values
    files/          rows dealt out to partitions; one file being written, and its
                    statistics
    data_files      the files of one write: split, sized, counted, taken back
    changes/        what a change of rows leaves: marks on files, and change data
    rewrite/        rows deleted and updated
    merge/          rows of a source merged into a table
    making/         tables made, of nothing or of files that are there
"""
