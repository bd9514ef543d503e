"""Rows of a file as JSON, by type, read where nothing hostile takes a process down.

Read the modules in this order:

    variant       values of VARIANT, plain and shredded
    bson          BSON documents
    wkb           geometries as text
    shaping       physical values to values of their type
    empty_pages   chunks without data pages that have no values
    whole_groups  all rows of a row group, or an error
    reading       the first rows, in this process, from a footer that pyarrow may safely
                  see
    preview       the same in a child process with limits
"""
