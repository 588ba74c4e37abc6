from __future__ import annotations

import time

import pytest

from cairn.memory.redaction import redact

# Texts in which `_` stands for the password.
SAID = """
the staging password is _
The password for staging is _.
our staging admin password is _, don't tell anyone
the root password on the test box is _
the password of the demo account is _
the password was set to _
I set the admin password to _
reset the db password to _ and restart
the staging password is now _
the staging password: _
DB pass is _
the pw for redis is _
log in as admin with password _
credentials for staging are admin/_
the password is _ (lowercase)
the password is wrong but the db password is _
the user is ci and the password is _
keep in mind that the staging password is _
password: _
works. password: _
db password - _
login is admin, password _
user admin pass _
creds: bob / _
use _ as the password for staging
_ is the staging password
pasword is _
""".strip().splitlines()
PASSWORDS = ["swordfish", "hunter2", "banana"]
TALK = """
the password is hashed with bcrypt
password reset is broken
the password is wrong
the password is stored in vault
the password is required, and the token is opaque
the password is never logged
the password is too short
the password is optional when SSO is on
the password is case-sensitive
the password is legacy
the staging password is different
the staging password is managed by Terraform
the password was rotated yesterday
password: required
password: string
Password: at least 8 characters
password: see the vault
forgot password: sends a mail
password: masked input
use bcrypt as the password hash
what is the staging password
set the password to null before serializing
set the password to something random in tests
reset the password to its default
change the password to continue
login with password fails on Safari
login with the password works
use password hashing everywhere
the bug with the password is reproducible
what matters for the password is length
the test for the password is flaky
the passphrase is derived with scrypt
the passcode is six digits
the wifi key is rotated weekly
the wlan code is in the kitchen
the door code is 4 digits
the error code is 4711
the token is whitespace
the token is signed with RS256
the secret is rotated weekly
the credentials are wrong
credentials: see 1Password
the second pass is slow
self.password = chosen or self.password
the pin is bumped
""".strip().splitlines()


ABROAD = """
la contraseña de staging es _
contraseña: _
a senha do banco é _
le mot de passe est _.
mot de passe : _
mdp: _
das Passwort lautet _
das Kennwort für staging ist _, bitte merken
la password di staging è _
het wachtwoord is _
hasło to _
пароль для стейджинга — _
パスワードは_
密码是 _
비밀번호: _
lösenord: _
salasana: _
heslo: _
"""
LIKE_ABROAD = """
la contraseña es obligatoria
contraseña: incorrecta
mot de passe : obligatoire
le mot de passe est chiffré
das Passwort ist falsch
das Passwort ist verschlüsselt
Passwort: wird gehasht
la password è sbagliata
hasło jest wymagane
het wachtwoord is verplicht
密码是必填的吗
"""


@pytest.mark.parametrize("password", ["girasol", "kätzchen", "sonne77"])
@pytest.mark.parametrize("text", ABROAD.strip().splitlines())
def test_a_word_that_a_sentence_in_another_language_calls_a_password_goes(text: str, password: str) -> None:
    assert redact(text.replace("_", password)).text == text.replace("_", "[redacted: password]")


@pytest.mark.parametrize("text", LIKE_ABROAD.strip().splitlines())
def test_what_passwords_are_like_in_another_language_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize("text", SAID)
def test_a_word_that_a_sentence_calls_a_password_goes(text: str, password: str) -> None:
    assert redact(text.replace("_", password)).text == text.replace("_", "[redacted: password]")


@pytest.mark.parametrize("text", TALK)
def test_what_else_is_said_of_passwords_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("the passphrase is purple monkey dishwasher", "the passphrase is [redacted: password]"),
        ("the wifi password is correct horse battery staple", "the wifi password is [redacted: password]"),
        ('the password of ci is "winter wonderland"', 'the password of ci is "[redacted: password]"'),
        ("the PIN for the door is 4821", "the PIN for the door is [redacted: passcode]"),
        ("the door code is 4821", "the door code is [redacted: passcode]"),
        ("the wifi key is swordfish", "the wifi key is [redacted: password]"),
        ("WLAN key: swordfish", "WLAN key: [redacted: password]"),
        ("the password is 123456", "the password is [redacted: password]"),
        ("the API token is kestrel42", "the API token is [redacted: token]"),
    ],
)
def test_phrases_numbers_and_tokens_go(text: str, without: str) -> None:
    assert redact(text).text == without
    assert redact(without).text == without


def test_a_long_text_of_passwords_takes_linear_time() -> None:
    def seconds(count: int) -> float:
        text = "the password is wrong for the password of password is "[:54] * count
        begun = time.process_time()
        redact(text)
        return time.process_time() - begun

    seconds(10)
    assert seconds(4_000) < 12 * max(seconds(1_000), 0.01)


PAIRS_THAT_ARE_SECRET = (
    ("log in with admin/hunter22", "hunter22"),
    ("Admin/admin123 opens every page", "admin123"),
    ("the seed user is admin/admin123", "admin123"),
    ("Login: root / toor99", "toor99"),
    ("sign in as demo@example.org / Passw0rd!", "Passw0rd!"),
    ("credentials are admin:hunter22", "hunter22"),
    ("grafana runs on :3000 (admin/prom2024)", "prom2024"),
    ("the default login is `admin` / `s3cret!`", "s3cret!"),
    ("log in as ada/Sommer2024!", "Sommer2024!"),
    ("demo/demo2024! to log in", "demo2024!"),
    ("Anmeldung mit admin/geheim12", "geheim12"),
)
NO_PAIRS = (
    "look at admin/users2 for the login page",
    "login with oauth/oauth2",
    "log in via src/auth/login.ts:120",
    "GET /api/user/user12 returns the account",
    "user/repo1 is the account's repository",
    "login test/unit2 fails",
    "docker run --user root:1000",
    "admin/index2024.html",
    "login as admin/editor",
    "log in to host:22",
    "user:read2 scope for the login",
    "login redirects to user/12345",
    "signed in on 2024-10-12/13",
    "logs into staging/us-east1",
    "service/user-1 logs in",
    "account service/v2beta1 is used",
)


@pytest.mark.parametrize(("text", "password"), PAIRS_THAT_ARE_SECRET)
def test_a_password_behind_the_name_of_its_user_is_taken_out(text: str, password: str) -> None:
    assert password not in redact(text).text
    assert redact(text).text.count("[redacted: password]") == 1


@pytest.mark.parametrize("text", NO_PAIRS)
def test_what_only_looks_like_a_name_and_a_password_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("unit", ["log in with admin/", "admin/", "a@b.c/", "login ", "log in as x/Ab1!"])
def test_pairs_are_looked_for_in_linear_time(unit: str) -> None:
    started = time.perf_counter()
    redact(unit * (1_000_000 // len(unit)))
    assert time.perf_counter() - started < 5
