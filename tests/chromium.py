"""The Chromium of the system, for tests of pages; they are skipped where there is none."""

from __future__ import annotations

import os
import shutil

CHROMIUM = os.environ.get("CAIRN_TEST_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome") or ""
WITHOUT = "no Chromium: install Debian's package chromium, or set CAIRN_TEST_BROWSER"
# No request of the browser's own goes anywhere, and it runs as root, too.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
