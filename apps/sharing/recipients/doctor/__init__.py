"""The connection doctor: where between a client and its rows something fails.

findings  what one step of an examination found
address   the public address as everybody meets it: name, certificate, proxy, clock
offer     what this server has for the recipient: tokens, grants, formats, files
doctor    all of it, as a job; and a client's own error, which is kept nowhere
"""
