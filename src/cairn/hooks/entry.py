"""`cairn hook`: hands an agent's event to the daemon and prints the answer, or spools the event for later.

It imports only modules written in C: any other takes longer to load than the daemon takes to answer. So what it needs
of `cairn.runtime`, `cairn.storage` and `cairn.hooks.envelope` is reimplemented here; tests keep them in step.
"""

import _signal  # type: ignore[import-not-found] # nothing describes it; `signal` imports much
import _socket
import os
import sys
import time

from cairn import __version__
from cairn.hooks.plain_files import OpenFolder, holder, keep, open_state, write_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

# Seconds to read the event, to wait for its answer, and to wait if the daemon may have to start first.
READ_SECONDS, ANSWER_SECONDS, START_SECONDS = 5.0, 0.4, 1.5
MAX_PAYLOAD_BYTES = 32_000_000
START_MARK, START_EVERY_SECONDS = "hooks.start", 10.0
MAGIC = b"cairn-hook 1"
# The variables that adapters use: which program runs the hook, and where. None of them is secret.
VARIABLES = (
    "CLAUDECODE", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "AI_AGENT",
    "CURSOR_VERSION", "CURSOR_PROJECT_DIR", "COPILOT_CLI", "COPILOT_PROJECT_DIR", "COPILOT_AGENT_SESSION_ID",
    "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR", "GEMINI_CWD", "DEVIN_PROJECT_DIR", "QWEN_PROJECT_DIR", "QWEN_SESSION_ID",
    "FACTORY_PROJECT_DIR", "OPENCODE", "CAIRN_FRESH",
)  # fmt: skip
# What agents want to read if there is nothing to say; the others want no output.
SILENCE = {"gemini-cli": b"{}", "cursor": b"{}"}

_LOCK, _START_LOCK, _RUNTIME, _TOKEN = "daemon.lock", "daemon-start.lock", "daemon.json", "daemon.token"
_MAX_ANSWER_BYTES = 1_000_000
_CHUNK_BYTES = 1 << 20
_POLL_SECONDS = 0.01
_MAX_NAME_CHARS, _MAX_LOGGED_CHARS = 100, 30


def run(arguments: list[str]) -> "NoReturn":
    """Run the hook program for one event: print the answer, if any, and exit with 0 whatever happens.

    Args:
        arguments: after `cairn hook`: the event, `--agent NAME`, and perhaps the payload, which is otherwise in stdin.
    """
    try:
        _open_standard_streams()
        hook = Hook(arguments, os.environ)
        _set_alarm(READ_SECONDS + START_SECONDS + 1.0, hook.give_up)  # here, because it ends the process
        hook.report()
    finally:
        os._exit(0)  # at once, since there is nothing to tidy up


class Hook:
    """One run of the hook program.

    Args:
        arguments: as for `run`.
        environment: the variables of the process.
    """

    def __init__(self, arguments: list[str], environment: "Mapping[str, str]") -> None:
        self._event, self._agent, self._argument = parse_arguments(arguments)
        self._environment = environment
        self._silence = b"{}" if "CURSOR_VERSION" in environment else SILENCE.get(self._agent, b"")
        self._folder: OpenFolder | None = None

    def report(self) -> None:
        """Hand over the event and print the answer; log what went wrong."""
        answer = self._silence
        try:
            begun = time.time_ns()
            try:
                self._folder = open_state(state_path(self._environment))
            finally:  # an agent may fail if nobody reads its event
                payload, n_bytes = read_payload(self._argument)
            if n_bytes > len(payload):
                self._note(f"the event goes without its {n_bytes:,} bytes, which are too many")
            id = f"{begun:x}-{os.getpid():x}-{os.urandom(6).hex()}"
            envelope = pack(id, self._agent, self._event, begun / 1e9, self._environment, payload, n_bytes)
            answer = self._hand_over(self._folder, f"{begun:020d}-{id}", envelope)
        except BaseException as error:  # noqa: BLE001 - the edge of the process
            self._note(f"the event is lost: {type(error).__name__}: {error}")
        _write_all(1, answer)

    def _hand_over(self, folder: OpenFolder, name: str, envelope: bytes) -> bytes:
        is_start = self._event == "session-start"
        deadline = time.monotonic() + (START_SECONDS if is_start else ANSWER_SECONDS)
        daemon = find_daemon(folder)
        if daemon is None and is_start:
            start_daemon(folder)
            daemon = wait_for_daemon(folder, deadline)
        reason = "no daemon is running"
        is_slow = False
        if daemon is not None:
            try:
                return ask(daemon, folder.read(_TOKEN).strip(), envelope, deadline)
            except (OSError, ValueError) as error:
                reason = f"the daemon does not answer: {error}"
                is_slow = isinstance(error, TimeoutError)
        keep(folder, name, envelope)
        self._note(f"the event waits: {reason}")
        if not is_slow:
            start_daemon(folder)
        return self._silence

    def give_up(self, number: int, frame: object) -> None:
        """End the process on a signal, with the silent answer."""
        self._note("the event is lost: it does not end, or the disk does not answer")
        _write_all(1, self._silence)
        os._exit(0)

    def _note(self, text: str) -> None:
        """Write a line to the log if possible."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = f"{now} {name_to_log(self._agent)} {name_to_log(self._event)}: {text}"
        line = "".join(letter if letter.isprintable() else " " for letter in line[:1_000])
        try:
            if self._folder is not None:
                write_log(self._folder, line.encode("utf-8", "replace") + b"\n")
        except OSError:
            return  # there is nobody to tell


# -- the event ---------------------------------------------------------------------------------------------------------


def parse_arguments(arguments: list[str]) -> tuple[str, str, str | None]:
    """Return the event, the agent, and the payload, None unless it is an argument."""
    event = agent = ""
    payload = None
    rest = iter(arguments)
    for argument in rest:
        if argument == "--agent":
            agent = next(rest, "")
        elif argument.startswith("--agent="):
            agent = argument[len("--agent=") :]
        elif not event:
            event = argument
        else:
            payload = argument
    return event[:_MAX_NAME_CHARS], agent[:_MAX_NAME_CHARS], payload


def name_to_log(name: str) -> str:
    """Return the name of an agent or event for the log: `?` unless it consists of words, since it may be a secret."""
    is_words = len(name) <= _MAX_LOGGED_CHARS and name.isascii() and name.replace("-", "").replace("_", "").isalpha()
    return name if is_words else "?"


def read_payload(argument: str | None) -> tuple[bytes, int]:
    """Return the payload and its size; if it is too large, it is read and dropped. A terminal is not read."""
    if argument is not None:
        payload = os.fsencode(argument)
        return payload, len(payload)
    chunks: list[bytes] = []
    n_bytes = 0
    while not os.isatty(0) and (chunk := os.read(0, _CHUNK_BYTES)):
        n_bytes += len(chunk)
        if n_bytes <= MAX_PAYLOAD_BYTES:
            chunks.append(chunk)
        else:
            chunks.clear()
    return b"".join(chunks), n_bytes


def pack(
    id: str, agent: str, event: str, seconds: float, environment: "Mapping[str, str]", payload: bytes, n_bytes: int
) -> bytes:
    """Pack an event as described by `cairn.hooks.envelope`."""
    try:
        folder = os.getcwd()
    except OSError:  # the folder was deleted
        folder = ""
    fields = [id, agent, event, f"{seconds:.6f}", folder, str(n_bytes)]
    fields += [f"{name}={environment[name]}" for name in VARIABLES if name in environment]
    return b"\0".join((MAGIC, *(os.fsencode(field) for field in fields), b"", payload))


# -- the daemon --------------------------------------------------------------------------------------------------------


def state_path(environment: "Mapping[str, str]") -> str:
    """Return the path of this user's state folder, like `cairn.folders.state_folder`.

    Raises:
        OSError: if the home folder is unknown.
    """
    folder = environment.get("XDG_STATE_HOME", "")
    if os.path.isabs(folder):
        return os.path.join(folder, "cairn")
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        raise OSError("the home folder is unknown")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "cairn")
    if sys.platform == "win32":
        return os.path.join(environment.get("LOCALAPPDATA") or home, "cairn")
    return os.path.join(home, ".local", "state", "cairn")


def find_daemon(folder: OpenFolder) -> tuple[str, int] | None:
    """Return host and port of a running daemon of this version, None if there is none.

    The runtime file only counts while the process that it names holds the lock, so that the token is never sent to a
    program that has taken over a dead daemon's port.
    """
    try:
        host, port, pid, version = parse_runtime(folder.read(_RUNTIME))
        return (host, port) if version == __version__ and holder(folder, _LOCK) == pid else None
    except (OSError, ValueError):
        return None


def parse_runtime(content: bytes) -> tuple[str, int, int, str]:
    """Return host, port, process and version of the daemon from the JSON that `cairn.runtime` writes.

    Raises:
        ValueError: if it is anything else.
    """
    text = content.decode("ascii").strip()
    if not (text.startswith("{") and text.endswith("}")):
        raise ValueError("not an object")
    fields = {}
    for pair in text[1:-1].split(', "'):
        name, colon, value = pair.partition('": ')
        if not colon:
            raise ValueError("not a field")
        fields[name.removeprefix('"')] = value
    try:
        host, version = (fields[name] for name in ("host", "version"))
        port, pid = (int(fields[name]) for name in ("port", "pid"))
    except KeyError as error:
        raise ValueError("a field is missing") from error
    for value in (host, version):
        if len(value) < 2 or value[0] != '"' or value[-1] != '"' or "\\" in value or '"' in value[1:-1]:
            raise ValueError("not a plain string")
    return host[1:-1], port, pid, version[1:-1]


def wait_for_daemon(folder: OpenFolder, deadline: float) -> tuple[str, int] | None:
    """Wait until the daemon is up and return where it is, None at the deadline."""
    while time.monotonic() < deadline:
        if daemon := find_daemon(folder):
            return daemon
        time.sleep(_POLL_SECONDS)
    return None


def start_daemon(folder: OpenFolder) -> None:
    """Start the daemon, or replace one of another version, unless that was just tried."""
    try:
        if 0 <= time.time() - folder.status(START_MARK).st_mtime < START_EVERY_SECONDS:
            return
    except FileNotFoundError:
        pass  # the first time
    mark = folder.open(START_MARK, os.O_WRONLY | os.O_CREAT)
    os.write(mark, b"\n")
    os.close(mark)
    if holder(folder, _START_LOCK) is None:
        _spawn([sys.executable, "-P", "-m", "cairn", "daemon", "ensure"], folder.path)


def ask(daemon: tuple[str, int], token: bytes, envelope: bytes, deadline: float) -> bytes:
    """Return the daemon's answer to an event, which it has recorded by then.

    Raises:
        TimeoutError: if it does not answer before the deadline.
        OSError: if it cannot be reached.
        ValueError: if it refuses, or does not speak HTTP.
    """
    host, port = daemon
    name = f"[{host}]" if ":" in host else host
    head = (
        f"POST /api/hook HTTP/1.1\r\nHost: {name}:{port}\r\nAuthorization: Bearer {token.decode('ascii')}\r\n"
        f"Content-Type: application/octet-stream\r\nContent-Length: {len(envelope)}\r\nConnection: close\r\n\r\n"
    )
    connection = _socket.socket(_socket.AF_INET6 if ":" in host else _socket.AF_INET, _socket.SOCK_STREAM)
    try:
        connection.settimeout(_left(deadline))
        connection.connect((host, port))
        connection.sendall(head.encode("ascii") + envelope)
        received = b""
        while not is_whole(received):
            connection.settimeout(_left(deadline))
            chunk = connection.recv(_CHUNK_BYTES)
            if not chunk or len(received) > _MAX_ANSWER_BYTES:
                raise ValueError("its answer is cut off")
            received += chunk
    finally:
        connection.close()
    first, _, body = received.partition(b"\r\n\r\n")
    status = first[9:12]
    if status != b"200":
        raise ValueError(f"status {status.decode('ascii', 'replace')}")
    return body


def is_whole(received: bytes) -> bool:
    """Tell whether a response has all of its announced bytes.

    Raises:
        ValueError: if it announces none, or is not HTTP.
    """
    head, end, body = received.partition(b"\r\n\r\n")
    if not end:
        return False
    if not head.startswith(b"HTTP/1.1 "):
        raise ValueError("it does not speak HTTP")
    length = head.lower().partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]
    return len(body) >= int(length)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


# -- the process -------------------------------------------------------------------------------------------------------


def _open_standard_streams() -> None:
    """Open closed standard streams on the null device; otherwise another file would get their descriptors."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _write_all(descriptor: int, content: bytes) -> None:
    """Write to a stream, ignoring that nobody may be reading."""
    rest = memoryview(content)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError:
        return


if sys.platform == "win32":

    def _spawn(command: list[str], folder: str) -> None:
        """Start a process without this one's streams."""
        for number in (0, 1, 2):
            os.set_inheritable(number, False)
        os.spawnv(os.P_DETACH, command[0], command)

    def _set_alarm(seconds: float, handle: object) -> None:
        """Do nothing: this system has no alarms."""

else:

    def _spawn(command: list[str], folder: str) -> None:
        """Start a process without this one's streams, since an agent may wait until nobody holds them."""
        if os.fork():
            return
        try:
            os.setsid()
            os.chdir(folder)
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            os.closerange(3, 256)
            os.execv(command[0], command)
        finally:
            os._exit(1)

    def _set_alarm(seconds: float, handle: object) -> None:
        """Call a function after some time, even if a pipe stays open or a file system hangs."""
        _signal.signal(_signal.SIGALRM, handle)
        _signal.setitimer(_signal.ITIMER_REAL, seconds)
