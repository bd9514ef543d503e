"""The files of an index as the sharing server answers with them.

Read in this order:

    shared_table     the versions that a server answers from, kept between queries
    shared_version   one of them, and which of its files answer a query
    indexed_block    the files of an index as blocks of a snapshot, memory-mapped
    indexed_part     a part of them, and what a query asks of it; `file_part` of any
    file_selection   the files that answer, ready to be listed batch by batch
    partition_match  partition values against a condition
    relative_paths   where the paths of a log lead below a table's root
"""
