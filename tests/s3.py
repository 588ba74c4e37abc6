"""An S3 store for tests: SeaweedFS from its wheel, on this machine alone, without telemetry."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from team_installation import free_ports

_SECONDS = 60.0
BUCKET = "cairn"
KEYS = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_REGION": "us-east-1"}


class S3:
    """A running store.

    Attributes:
        variables: of the environment of whoever wants to reach it.
    """

    def __init__(self, folder: Path) -> None:
        s3, master, volume, filer, *grpc = free_ports(8)
        # Ports of gRPC are 10,000 above their own unless they are named.
        self._command = [
            str(Path(sys.executable).parent / "weed"), "server", f"-dir={folder}", "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1", "-s3", f"-s3.port={s3}", f"-master.port={master}", f"-volume.port={volume}",
            f"-filer.port={filer}", f"-s3.port.grpc={grpc[0]}", f"-master.port.grpc={grpc[1]}",
            f"-volume.port.grpc={grpc[2]}", f"-filer.port.grpc={grpc[3]}", "-master.telemetry=false",
            "-master.volumeSizeLimitMB=64", "-volume.max=8",
        ]  # fmt: skip
        self._log = folder / "log"
        self._address = f"http://127.0.0.1:{s3}"
        self.variables = {"AWS_ENDPOINT": self._address, **KEYS}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until there is a bucket."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        deadline = time.monotonic() + _SECONDS
        while True:
            assert self._process.poll() is None, self._log.read_text()[-2_000:]
            assert time.monotonic() < deadline, self._log.read_text()[-2_000:]
            with suppress(httpx.TransportError):
                if httpx.put(f"{self._address}/{BUCKET}").status_code in (200, 409):
                    return
            time.sleep(0.1)

    def stop(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextmanager
def s3_store(folder: Path) -> Iterator[S3]:
    """Run a store for as long as the block lasts."""
    store = S3(folder)
    store.start()
    try:
        yield store
    finally:
        store.stop()
