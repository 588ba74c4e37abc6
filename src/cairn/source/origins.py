"""Which repository an address of git means, however it is written: over ssh or https, with or without a name."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

_SCHEMES = ("https", "http", "ssh", "git", "git+ssh", "ssh+git", "git+https")
_SHORT = re.compile(r"(?:[^@/\s:]+@)?([A-Za-z0-9.-]{2,}|\[[0-9A-Fa-f:.]+\]):(?!//|:)(.+)")  # [USER@]HOST:PATH
# What stands before a host; a password may hold what does not belong into an address.
_USER = re.compile(r"(?<=://)(?:[^/\s]*:\S*|[^/\s]*)@")
# Other names of the same host, for networks that let only https through.
_SAME_HOST = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}


def without_user(text: str) -> str:
    """Return a text without the names and passwords in the addresses that it holds."""
    return _USER.sub("", text)


def user_of(address: str) -> str:
    """Return the name and password in an address of the form SCHEME://, as written there; empty if it has none."""
    found = _USER.search(address)
    return found[0].removesuffix("@") if found else ""


def repository_identity(address: str) -> str:
    """Return a repository's host and path, equal for all addresses of it; empty for a folder, or for no address.

    User names, ports and the letters' case do not count: the ports of ssh and https differ for one repository.
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
