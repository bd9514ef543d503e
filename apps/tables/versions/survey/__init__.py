"""What the files of a version really hold, from the sums of their footers.

sums    a name and the files that have it, a column that is otherwise in some
costs   what that costs readers, in bytes and sentences
inside  all of it, as the page and the command show it
"""
