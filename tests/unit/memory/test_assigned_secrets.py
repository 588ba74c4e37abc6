import base64

import pytest

from cairn.memory.redaction import redact

_VALUE = "zq7xk2vw" + "9pm4trfa8d"


@pytest.mark.parametrize(
    "form",
    [
        "API_TOKEN={}",
        "export API_TOKEN='{}'",
        '"apiToken": "{}"',
        "api-token: {}",
        "--api-token {}",
        "--api-token={}",
        "?api_token={}&x=1",
        'token: str = "{}"',
        'let token: &str = "{}";',
        "X-Api-Token: {}",
        '{{"name": "API_TOKEN", "value": "{}"}}',
        "- name: API_TOKEN\n  value: {}",
        "api_token => '{}'",
        'setToken("{}")',
        "the api token is {}.",
        "token `{}`",
        'os.environ["API_TOKEN"] = "{}"',
        "<apiToken>{}</apiToken>",
        '{{\\"api_token\\":\\"{}\\"}}',
        "SharedAccessKey={};X=1",
        "client_secret = {}",
        'get(url, auth=("ada", "{}"))',
        "field('#password').type('{}')",
        "Password for the search user: {}",
        "api_token:\n  {}\nhost: a",
        "The api token:\n{}",
        "export API_TOKEN=\\\n{}",
        "**API token:** {}",
        "**API token**: {}",
        "| name | value |\n| API_TOKEN | {} |",
    ],
)
def test_a_value_whose_name_says_secret_goes(form: str) -> None:
    assert _VALUE not in redact(form.format(_VALUE)).text


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("mycli --password {}", "Kq9mZ2xw"),
        ('mycli --password "{}"', "geheim und sicher"),
        ('mycli --passphrase="{}"', "S3cr3t Pass phrase!"),
        ('the passphrase is "{}"', "correct horse battery staple"),
        ("the passphrase is: {}", "correct horse battery staple"),
        ("password: {}", "correct horse battery staple"),
        ("DB_PASSWORD={}\nHOST=db", "correct horse battery staple"),
        ("Passphrase: {}", "Summer Sun Rises"),
        ("mot de passe : {}", "hunter2"),
        ("     1\u2192DB_PASSWORD={}\n     2\u2192HOST=db", "kestrel"),
        ("config/.env:3:DB_PASSWORD={}", "kestrel"),
        ("+DB_PASSWORD={}\n", "kestrel"),
        ('"Env": ["DB_PASSWORD={}", "A=b"]', "kestrel"),
        ("<password>{}</password>", "kestrel"),
        ("the wifi password is {}.", "correct-horse-battery-staple"),
        ("password = '''{}'''", "hunter2"),
        ("requirepass {}", "hunter2"),
        ("use {} as the admin password", "hunter2"),
        ("user/pass: admin/{}", "kestrel"),
        ("app:{}@tcp(db:3306)/shop", "kestrel"),
        ("kind: Secret\ndata:\n  password: {}\n", "aHVudGVyMg=="),
        ("mycli --password {} --verbose", "Tr0ub4dor9"),
        ("mycli --secret {}", "Kq9mZ2xw"),
        ("mycli --token {}", "Winter2026abc"),
        ("mycli --token={}", "Winter2026abc"),
        ("mycli --api-key {}", "Kq9mZ2xw"),
        ("mycli --password {}", "Winter2026!"),
        ("The password is {}", "Winter2026!"),
        ("username=bob, password {}", "Kq9mZ2xw"),
        ("openssl passwd -1 {}", "MyS3cretPw9"),
        ("openssl passwd -6 -salt ab12 {}", "MyS3cretPw9"),
        ("password='{}'", "quoted secret 42"),
        ('password: "{}"', "Tr0ub4dor & 3"),
        ("db:\n  password:\n    {}\n  user: ada", "Xk29fjQpLm7"),
        ("password: {}", "correct-horse-battery-staple"),
        ("passphrase: {}", "window-yellow-horse-staple"),
        ("export DB_PASSWORD=\\\n  {}", "correct-horse-battery-staple"),
        ("**Password:** {}", "Xk29fjQpLm7"),
        ("| DB_PASSWORD | {} |", "Xk29fjQpLm7"),
        ("Das Passwort ist {}", "Winter2026!"),
        ("scp dump.sql root:{}@10.0.0.5:/srv", "Xk29fjQpLm7"),
        (".pgpass: db.example.org:5432:shop:shop:{}", "BcrQbvZjpTifmrI1"),
    ],
)
def test_what_people_choose_goes(form: str, value: str) -> None:
    redacted = redact(form.format(value)).text

    assert redacted.startswith(form[: form.index("{}")] + "[redacted: ")
    assert redacted.endswith("]" + form[form.index("{}") + 2 :])


@pytest.mark.parametrize(
    "line",
    [
        "password = get_password()",
        "--password PASSWORD",
        "--password prompt",
        "--token $TOKEN",
        "--token sha256",
        "use --secret or --token2",
        "the password field is required",
        "password reset flow",
        "openssl passwd -1",
        "password:\n  min_length: 8",
        "password:\n  required",
        "The token:\nlexer.next_token2",
        "password =\n    get_password2()",
        "password: not-in-this-file",
        "password: ask-olga-or-bob-first",
        "| password | string | of 12 characters |",
        "cat secret | sha1sum | cut -c1",
        "Das Passwort ist mindestens 12stellig",
        "ssh -L 8080:db2:5432 root@10.0.0.5",
        "mailto:ada42@example.org",
        "password: 'min 8 characters'",
        "Password: ask the operator on call",
        "password: Bcrypt hashing happens nightly",
        "passphrase: leave empty for none",
        "check that the username/password are valid.\n/srv/app/bin/rails2:4",
        "use it as the password",
        "<password>string</password>",
        'the password is "too short"',
        'the password "does not match"',
        '--password "Enter your password"',
        "The password is rotated quarterly by ops.",
        "password: 'The 2 passwords differ'",
        "password: 'Must be hashed with sha256'",
        "token: str",
        "if password is None:",
        "password: ${DB_PASSWORD}",
        "API_KEY=your-api-key",
        "api_key: <key>",
        "token=xxxxxxxxxxxx",
        "PASSWORD=changeme",
        "password = user.password",
        "self.token = token",
        "password=password,",
        "token = request.headers['X-Token']",
        "secret: Secret",
        "max_tokens: 4096",
        "token_type: bearer",
        "The password must have 12 characters.",
        "Set the token with --token.",
        "password: 'must not be empty'",
        "PASSWORD_FILE=/run/secrets/db",
        "secret_name = 'prod-db-3f2a9c81'",
        "password_hash = hash(password)",
        "private_key_path: ~/.ssh/id_rsa2",
        "public_key = '3f2a9c81d04e5b6a7c8d'",
        "token=${{ secrets.TOKEN }}",
        "commit 3f2a9c81d04e5b6a7c8d9e0f1a2b3c4d5e6f7a8b",
        "m_0198c0de-7a2b-7c3d-8e4f-5a6b7c8d9e0f",
        "c_3f2a9c81d04e",
        "color: #a1b2c3",
        "tests/test_a.py::test_token[a1-b2]",
        "function t(e,n){return e.token=n}",
        '"integrity": "sha512-3f2a9c81d04e5b6a7c8d9e0f1a2b3c4d5e6f7a8b=="',
        "Authorization: Bearer <token>",
        "https://user:password@example.com",
        "mysql -u root -p",
        "key = key",
    ],
)
def test_code_placeholders_and_sentences_stay(line: str) -> None:
    assert redact(line).text == line


def test_any_words_may_be_a_password_in_quotes() -> None:
    assert redact('password = "correct horse battery staple"').text == 'password = "[redacted: password]"'
    assert redact("passphrase: 'swordfish'").text == "passphrase: '[redacted: password]'"


def test_a_key_in_base64_goes() -> None:
    encoded = base64.b64encode(("gh" + "p_" + _VALUE * 2).encode()).decode()
    assert redact(f"as base64: {encoded}").text == "as base64: [redacted: encoded-key]"
    assert redact("as base64: Z2hwXwYUBQ0MDAwMDAwMDAwMDAwMDAwMDA").kinds == {}


@pytest.mark.parametrize("key", ["gh" + "p_" + (_VALUE * 2), "AK" + "IA" + "Q2W3E4R5T6Z7U2I3"])
@pytest.mark.parametrize("place", [10, 15])
def test_a_key_on_two_lines_goes(key: str, place: int) -> None:
    assert _halves(key, place) not in redact(f"it is {_halves(key, place)} here").text
    assert key[place:] not in redact(f"it is {_halves(key, place)} here").text


def _halves(key: str, place: int) -> str:
    return f"{key[:place]}\n{key[place:]}"


def test_a_shorter_word_on_the_line_behind_a_key_stays() -> None:
    text = "it is AK" + "IAQ2W3E4\nAND then"
    assert redact(text).text == text
