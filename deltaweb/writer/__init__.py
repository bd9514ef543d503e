"""Data files in process: Arrow rows in, Parquet files with statistics out.

Read the modules in this order:

    rows/           whatever rows come as, held to a table's schema, with what the
                    table adds to them: defaults, numbers, generated values
    files/          rows dealt out to partitions; one file being written, and its
                    statistics
    data_files      the files of one write: split, sized, counted, taken back
    changes/        what a change of rows leaves: marks on files, and change data
    rewrite/        rows deleted and updated
    merge/          rows of a source merged into a table
    making/         tables made, of nothing or of files that are there
"""
