"""What went wrong with a job, without where the server keeps its files."""

from deltaweb.web.jobs.visibility import SubjectLink
from deltaweb.web.pages.request import server_paths


def without_places(text: str, subject: SubjectLink | None) -> str:
    """Name files by their last part, and a subject's place by the subject's name.

    A person reads the name of a file; its folders tell a viewer of the server's disk,
    and a log path of twenty digits leaves no room for what is wrong.
    """
    if subject is None:
        return server_paths.without_places(text)
    return server_paths.without_places(text, subject.place, subject.label)
