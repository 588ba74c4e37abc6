"""Tells which repository a git URL means, over ssh or https, with or without a user name."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

_SCHEMES = ("https", "http", "ssh", "git", "git+ssh", "ssh+git", "git+https")
_SHORT = re.compile(r"(?:[^@/\s:]+@)?([A-Za-z0-9.-]{2,}|\[[0-9A-Fa-f:.]+\]):(?!//|:)(.+)")  # [USER@]HOST:PATH
# The text before a host; a password may contain characters that are invalid in a URL.
_USER = re.compile(r"(?<=://)(?:[^/\s]*:\S*|[^/\s]*)@")
# Other names of the same host, for networks that only allow https.
_SAME_HOST = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}


def without_user(text: str) -> str:
    """Return a text without the user names and passwords in its URLs."""
    return _USER.sub("", text)


def user_of(address: str) -> str:
    """Return the user name and password in a SCHEME:// URL as written; empty if it has none."""
    found = _USER.search(address)
    return found[0].removesuffix("@") if found else ""


def repository_identity(address: str) -> str:
    """Return a repository's host and path, equal for all of its URLs; empty for a folder or an invalid URL.

    User names, case and ports are ignored, since ports differ between ssh and https.
    """
    text = address.strip()
    if "://" in text:
        try:
            parts = urlsplit(text)
            host, path = parts.hostname or "", unquote(parts.path)
        except ValueError:
            return ""
        if parts.scheme.lower() not in _SCHEMES:
            return ""
    elif match := _SHORT.fullmatch(text):
        host, path = match[1].strip("[]"), match[2]
    else:
        return ""
    host = host.lower().rstrip(".")
    host = _SAME_HOST.get(host, host)
    names = [name for name in path.split("/") if name not in ("", "~")]
    if host == "dev.azure.com":
        names = [name for name in names if name not in ("v3", "_git")]
    where = "/".join(names).removesuffix(".git")
    return f"{host}/{where}".lower() if host and where else ""
