"""Whether there is a Spark to use: the plain package comes without PySpark."""

from importlib.util import find_spec

from deltaweb.errors import DeltawebError


class SparkMissingError(DeltawebError, ImportError, code="spark-missing"):
    """Something is left to Spark, and PySpark is not installed.

    Attributes:
        why: A sentence and a space: what this process cannot do; or nothing.
    """

    why: str = ""
    message = "{why}This needs Spark, which is not installed."
    hint = "Install it where deltaweb runs: pip install 'deltaweb[spark]'."


def is_installed() -> bool:
    """Whether PySpark can be imported; it is not."""
    return find_spec("pyspark") is not None


def check_installed(why: str = "") -> None:
    """Refuse what is left to Spark where it is not installed.

    Args:
        why: What this process cannot do, in a sentence.
    """
    if not is_installed():
        raise SparkMissingError(why=why and f"{why} ")
