"""Every error a user can meet, in one tree; each carries a stable code and a hint that names the next command.

CairnError
├── ConfigError            settings that cannot be used
├── PathError              the path given is no project
├── RevisionError          a branch or revision that git does not know
├── QueryError             a query that cannot be run
 ├── NotFoundError          an id, file or symbol that is not there
 │   └── UnknownSymbolError     no definition has this name
 ├── AmbiguousError         a name that several definitions have
 ├── DiffError              changes that git cannot tell
├── UnparsableError        a file that the parser gave up on
├── RequestError           a request with a field that is unknown, missing or of the wrong kind
├── ProjectError           a project that the user has not allowed, or that no project is called
├── EventError             an event of a memory that cannot be taken over
├── AuthorityError         a person's decision that nothing less may undo
├── NotAvailableError      an operation that this version does not have yet
├── DaemonError            the daemon cannot be started, reached or stopped
│   ├── AccessError        without the token, from a foreign page, or under a foreign name
│   ├── RouteError         no such address, or not by this method
│   ├── TooLargeError      a request beyond the limits
│   ├── SlowError          a request that does not come to its end
│   └── BusyError          more at once than the daemon takes, or for longer
├── ResourceError          the system has no more memory, open files, processes or disk space to give
├── ProviderError          an embedding model that does not answer as it should
│   └── ProviderKeyError   its key is missing or refused
└── StoreError             the state on disk cannot be used
    ├── UnsafeStateError   what is there is a link, another user's, or open to all
    ├── TrackedStateError  git tracks it, so it came with the repository
    ├── IndexMissingError  nothing indexed yet
    │   └── IndexForeignError  what is there was not made by this user on this machine
    ├── StoreForeignError  the same of a store that cannot be rebuilt
    ├── StoreLockedError   another process keeps a file locked
    │   └── IndexLockedError   another process is writing the index
    │       └── IndexMovedError    it has written what a question was being answered from
    ├── StoreVersionError  a store was written by a newer version
    │   └── IndexVersionError  the index was
    └── StoreDamagedError  the file of a store is corrupt
        └── IndexDamagedError  that of the index is
            └── DerivedFileError  a file beside it is; it is rebuilt by itself
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any, ClassVar

from cairn.hints import Hint, hint_of


class CairnError(Exception):
    """Base of all errors meant for the user.

    Args:
        message: what went wrong, one sentence.
        hint: the next thing to do, preferably an action of Cairn's.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint: Hint = hint_of(hint)

    def to_dict(self) -> dict[str, Any]:
        """Return the error as JSON has it: `hint` to be read, `next` the same as data where an action does it."""
        document = {"code": self.code, "message": str(self), "hint": str(self.hint)}
        return document | {"next": self.hint.to_dict()} if self.hint.action else document


def error_from_dict(document: Mapping[str, Any]) -> CairnError:
    """Return the error that `CairnError.to_dict` gave in another process."""
    told = document.get("next")
    hint = Hint.from_dict(told) if told else str(document.get("hint", ""))
    return error_from(document.get("code", "error"), document.get("message", ""), hint)


def error_from(code: str, message: str, hint: str) -> CairnError:
    """Return an error of the class that has a code."""
    kinds: list[type[CairnError]] = [CairnError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
    return next((kind for kind in kinds if kind.code == code), CairnError)(message, hint)


class ConfigError(CairnError):
    """A setting has an unknown name or a value that cannot be used."""

    code = "config"


class PathError(CairnError):
    """The path is missing, outside the project, of the wrong kind, or cannot be read."""

    code = "path"


class RevisionError(CairnError):
    """git knows no such branch or revision here, or the project is in no git repository."""

    code = "revision"


class QueryError(CairnError):
    """The query is empty, too long, or an invalid pattern."""

    code = "query"


class NotFoundError(CairnError):
    """No result has this id, or the file or symbol it names is not there."""

    code = "not-found"
    exit_code = 1


class UnknownSymbolError(NotFoundError):
    """No definition of the project has this name."""

    code = "symbol-unknown"


class AmbiguousError(CairnError):
    """A name means several definitions; the message lists them."""

    code = "ambiguous"


class DiffError(CairnError):
    """What changed cannot be told: no git repository, or no such revision."""

    code = "diff"


class UnparsableError(CairnError):
    """The parser crashed on a file, or needed too much time or memory; it is searched as plain text."""

    code = "unparsable"


class RequestError(CairnError):
    """A request has a field that is unknown, missing, of the wrong kind or out of range, or is no JSON object."""

    code = "request"


class ProjectError(CairnError):
    """No project has this name or folder, or the user did not allow it."""

    code = "project"


class EventError(CairnError):
    """An event of a memory that came from elsewhere cannot be taken over."""

    code = "event"


class AuthorityError(CairnError):
    """A person decided what an agent or a rule is not allowed to undo, or an agent what a rule is not."""

    code = "authority"


class NotAvailableError(CairnError):
    """The operation needs an extra that is not installed, or this version does not do it yet."""

    code = "not-available"


class DaemonError(CairnError):
    """The daemon cannot be started, reached or stopped, or answers what makes no sense."""

    code = "daemon"
    exit_code = 3


class AccessError(DaemonError):
    """A request without the token, or one that a page of a foreign origin may have caused."""

    code = "access"


class RouteError(DaemonError):
    """The daemon has nothing at this address, or does not take this method there."""

    code = "route"


class TooLargeError(DaemonError):
    """A request is larger than the daemon takes."""

    code = "too-large"


class SlowError(DaemonError):
    """A request does not come to its end in time."""

    code = "slow"


class BusyError(DaemonError):
    """More is asked at once than the daemon takes, or one thing takes longer than it may."""

    code = "busy"


class InternalError(CairnError):
    """A mistake of Cairn's own; the traceback is in the daemon's log, or was printed before the message."""

    code = "internal"
    exit_code = 3


class ResourceError(CairnError):
    """The system gives no more memory, open files, processes or disk space."""

    code = "resources"
    exit_code = 3


_AGAIN = "then run the command again"
_EXHAUSTED = {
    errno.EMFILE: ("too many files are open", f"ulimit -n 1024, {_AGAIN}"),
    errno.ENFILE: ("too many files are open on this machine", f"end what opened them, {_AGAIN}"),
    errno.ENOMEM: ("there is not enough memory", f"allow more (ulimit -v unlimited), or end what takes it, {_AGAIN}"),
    errno.EAGAIN: ("no further process can be started", f"allow more (ulimit -u), or end some, {_AGAIN}"),
    errno.ENOSPC: ("there is no space left to write to", f"free some space, {_AGAIN}"),
    errno.EDQUOT: ("the quota of disk space is used up", f"free some space, {_AGAIN}"),
    errno.EFBIG: ("a file grew larger than is allowed", f"allow more (ulimit -f unlimited), {_AGAIN}"),
    errno.EIO: ("the disk fails", "look into the log of the system"),
}


def resource_error(error: BaseException) -> ResourceError | None:
    """Return what an error means for the user where it tells that the system has no more of something, else None."""
    number = errno.ENOMEM if isinstance(error, MemoryError) else error.errno if isinstance(error, OSError) else None
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        number = errno.EAGAIN
    if number not in _EXHAUSTED:
        return None
    message, hint = _EXHAUSTED[number]
    return ResourceError(message, hint)


class ProviderError(CairnError):
    """An embedding provider cannot be reached, refuses, or answers what makes no sense."""

    code = "provider"


class ProviderKeyError(ProviderError):
    """The key of an embedding provider is missing, or the provider refuses it."""

    code = "provider-key"


class StoreError(CairnError):
    """The state on disk cannot be read or written."""

    code = "store"
    exit_code = 3


class IndexMissingError(StoreError):
    """The project has not been indexed."""

    code = "index-missing"


class IndexForeignError(IndexMissingError):
    """What is in the place of the index was not made by this user on this machine; an update moves it aside."""

    code = "index-foreign"


class UnsafeStateError(StoreError):
    """A folder or file of the state is a link or no regular file, belongs to another user, or others can write it."""

    code = "state-unsafe"


class TrackedStateError(StoreError):
    """git tracks files of the state folder that are not meant to be shared, so whoever can push decides on them."""

    code = "state-tracked"


class StoreForeignError(StoreError):
    """A store that cannot be rebuilt was not made by this user on this machine; it stays where it is, unused."""

    code = "store-foreign"


class StoreLockedError(StoreError):
    """Another process kept a file locked longer than the wait allows."""

    code = "store-locked"


class StoreVersionError(StoreError):
    """A store was written by a newer version of Cairn."""

    code = "store-version"


class StoreDamagedError(StoreError):
    """The file of a store is not what was written; of one that cannot be rebuilt nothing is changed."""

    code = "store-damaged"


class IndexLockedError(StoreLockedError):
    """Another process held the index for writing longer than the wait allows."""

    code = "index-locked"


class IndexMovedError(IndexLockedError):
    """Another process wrote the index while a question was answered from it; asked again, it is of the new state."""

    code = "index-moved"


class IndexVersionError(StoreVersionError):
    """The index was written by a newer version of Cairn."""

    code = "index-version"


class IndexDamagedError(StoreDamagedError):
    """The index file is not a readable database."""

    code = "index-damaged"


class DerivedFileError(IndexDamagedError):
    """A file derived from the index is missing, cut short or altered; it can always be rebuilt."""

    code = "index-derived"
