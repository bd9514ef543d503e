"""What the endpoints of the protocol answer with.

listings   shares, schemas and tables of a recipient, a page at a time
tables     version, metadata and files of one shared table
files      one file, opened for its signed URL

Source: delta_sharing_protocol.md, "REST APIs".
"""
