"""Who fetches the objects of a table, and how they are called.

vended_keys    short-lived keys of S3, made for one table and one caller
signature      who has signed a request: AWS Signature Version 4, checked
object_keys    names of objects: opaque, ASCII, and none that was not given out
"""
