"""What administrators and recipients change.

shares             shares and the tables in them
recipients         recipients and what is granted to them
granting           what a recipient may read, set as a whole
tokens             a token's life: issue, hand over, rotate, end, revoke
handover           a token and its link in one step
direct_handover    a token and its profile file in one step
activation         a recipient fetches its profile by a link, once
activation_views   somebody looks at such a link
draft_check        whether a share would be made

Each change is reported in its transaction (`apps.pages.actions`), without a secret.
"""
