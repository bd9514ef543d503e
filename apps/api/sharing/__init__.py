"""Shares, who reads them, their tokens, and the record: for administrators.

shares       shares, their tables, and who may read them
recipients   recipients, and the shares that they may read
tokens       tokens issued, rotated and ended; activation links
reminders    what recipients are to be told; what was asked and changed

What is asked is read, and changed, by the services of the pages and commands.
"""
