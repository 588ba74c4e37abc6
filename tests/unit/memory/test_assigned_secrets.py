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
    ],
)
def test_a_value_whose_name_says_secret_goes(form: str) -> None:
    assert _VALUE not in redact(form.format(_VALUE)).text


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("mycli --password {}", "Kq9mZ2xw"),
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
        "password: 'min 8 characters'",
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
