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
    "line",
    [
        "password = get_password()",
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
