"""A footer as one JSON document, or as tables that a page shows by parts.

description  what scripts get: all of it
node_types   what each node of the schema is in Delta, or why it is nothing there
file_columns what a file has as columns, by its schema or by the rows of one
differences  how the columns of a file differ from those of its table
chunks       a row a column chunk, added up by column while they are read
columns      a row a node of the schema, with what its chunks add up to
texts        key-value metadata, and the schema as other systems write it
facts        what one look at the file tells, and a row a row group
"""
