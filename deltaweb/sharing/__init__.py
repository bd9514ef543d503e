"""The sharing protocol: what it says, as values and pure functions.

parameters      what stands in a URL; capabilities: in a header; table_query: in a body
page_token      where the next page of a list begins
wire            the lines of an answer
compatibility   which clients read which table
errors          the refusals, and the wording of each
"""
