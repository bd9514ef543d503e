"""What the pages show, as frozen values ready to render.

    version     a table at the version that the address asks for
    dashboard   the first page
    overview    a table's first page
    columns     the tree of a schema
    history     the list of commits, and their counts per day
    commit      one commit, with its actions as storage holds them
    files       files and partitions of a version
    rows        the rows of a version, as a job has read them

Pages read the database and the memory-mapped file index; one named commit file is all
that they ask of storage.
"""
