"""A footer as one JSON document, or as tables that a page shows by parts.

description  what scripts get: all of it
chunks       a row a column chunk, added up by column while they are read
nodes        a row a node of the schema, with what it is in Delta, and its chunks
facts        what one look at the file tells; a row a row group, a row a text
differences  how the columns of a file differ from those of its table
survey       what many files hold, added up

What a node or a chunk has is worked out once, for the document; rows of the tables are
named as the JSON of a page names them.
"""
