"""The single sign-on by the header of a proxy, or by an OpenID Connect provider.

A person is an issuer and a subject, never a name or an e-mail address. An account is
made only if a rule, or an administrator, admits the person.
"""
