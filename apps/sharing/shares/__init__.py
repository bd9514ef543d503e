"""The pages and services of shares, and the Sharing tab of a table."""
