import pytest

from cairn.memory.redaction import redact

_BEGIN, _END = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"
_ROWS = (
    "\n".join(f"{chr(65 + row)}bCdEfGhIjKlMnOpQrStUvWxYz0123456789+/aBcDeFgHiJkLm" for row in range(5)) + "\nQqRrSs=="
)


@pytest.mark.parametrize(
    "key",
    [
        f"{_BEGIN}\n{_ROWS}\n{_END}",
        f"{_BEGIN}\n{_ROWS}",
        f"{_ROWS}\n{_END}",
        f"{_BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A0B\n\n{_ROWS}\n{_END}",
        f"{_BEGIN}\n{_ROWS}\n{_END}".replace("\n", "\\n"),
        f"{_BEGIN}\n{_ROWS}\n{_END}".replace("\n", "\r\n"),
        "\n".join(f'    "{line}\\n" +' for line in f"{_BEGIN}\n{_ROWS}\n{_END}".split("\n")),
        "\n".join(f"+{line}" for line in f"{_BEGIN}\n{_ROWS}\n{_END}".split("\n")),
        f"{_BEGIN}\n{_ROWS}\n{_END}".replace("RSA ", "OPENSSH "),
        f"{_BEGIN}\nVersion: 1\n\n{_ROWS}\n=aB3d\n{_END}".replace("RSA ", "PGP ").replace("KEY--", "KEY BLOCK--"),
        f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 6\n{_ROWS}\nPrivate-MAC: 0123456789abcdef",
    ],
)
def test_a_private_key_goes_in_every_form(key: str) -> None:
    result = redact(f"before\n{key}\nafter")

    assert "bCdEfGhIjKl" not in result.text
    assert "QqRrSs" not in result.text
    assert result.text.startswith("before")
    assert result.text.endswith("after")
    assert result.kinds["private-key"] == 1


@pytest.mark.parametrize("between", ["\n", "\\n", "\r\n"])
@pytest.mark.parametrize("label", ["{:6}\t", "{:6}→", "{:2}: ", "{} | ", "{}:", "{}-", "keys/id_rsa:{}:", "id_rsa-{}-"])
@pytest.mark.parametrize(
    "key",
    [
        f"{_BEGIN}\n{_ROWS}\n{_END}",
        f"{_BEGIN}\n{_ROWS}",
        f"{_ROWS}\n{_END}",
        f"{_BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A0B\n\n{_ROWS}\n{_END}",
    ],
)
def test_a_private_key_goes_where_its_lines_are_numbered(key: str, label: str, between: str) -> None:
    lines = between.join(label.format(number) + line for number, line in enumerate(key.split("\n"), 1))

    result = redact(f"before\n{lines}\nafter")

    assert "bCdEfGhIjKl" not in result.text
    assert "QqRrSs" not in result.text
    assert result.text.startswith("before")
    assert result.text.endswith("after")


@pytest.mark.parametrize(
    "text",
    [
        f'if text.startswith("{_BEGIN}"):',
        f'BEGIN = "{_BEGIN}"\nEND = "{_END}"\n',
        "-----BEGIN CERTIFICATE-----\n" + _ROWS + "\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\n" + _ROWS + "\n-----END PUBLIC KEY-----",
    ],
)
def test_what_is_public_or_only_speaks_of_keys_stays(text: str) -> None:
    assert redact(text).text == text


def test_after_a_key_that_was_cut_off_the_text_goes_on() -> None:
    result = redact(f"{_BEGIN}\n{_ROWS}\nThen the build went on and failed.")

    assert result.text.endswith("Then the build went on and failed.")
