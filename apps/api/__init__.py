"""The REST API: what pages and commands do, for programs.

Read the modules in this order:

    calls         what is done around every call: counted, done once, answered
    endpoint      what is said of an endpoint: role, parameters, body, answers
    shapes        the serializers, made of the one dataclass of each resource
    pages         endpoints that are the JSON form of a page
    openapi       the description of them all, by drf-spectacular
    urls          where they are

What is read comes from the pages of the apps below, what is done from their services:
nothing is worked out here.
"""
