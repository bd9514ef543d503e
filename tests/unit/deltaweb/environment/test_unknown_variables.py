"""A variable that no setting reads is named, with the one that may be meant."""

from deltaweb.environment.variables import UnknownVariable, unknown_variables


def test_names_the_nearest_variable() -> None:
    names = ["DELTAWEB_ALOWED_HOSTS", "DELTAWEB_QQQ", "PATH", "DELTAWEB_HOME"]

    assert unknown_variables(names) == [
        UnknownVariable("DELTAWEB_ALOWED_HOSTS", "DELTAWEB_ALLOWED_HOSTS"),
        UnknownVariable("DELTAWEB_QQQ", ""),
    ]


def test_knows_files_of_secrets_and_what_is_read_in_production_alone() -> None:
    names = ["DELTAWEB_SECRET_KEY_FILE", "DELTAWEB_SSL_REDIRECT"]

    assert unknown_variables(names) == []
