"""Every error that a user can meet, in one tree; each has a stable code and a hint that names the next command.

CairnError
├── ConfigError            settings that cannot be used
├── PathError              the path given is not a project
├── RevisionError          a branch or revision that git does not know
├── QueryError             a query that cannot be run
├── NotFoundError          an id, file or symbol that does not exist
│   └── UnknownSymbolError     no definition has this name
├── AmbiguousError         a name that several definitions have
├── DiffError              changes that git cannot show
├── UnparsableError        a file that the parser gave up on
├── RequestError           a request with a field that is unknown, missing or invalid
├── ProjectError           a project that does not exist or that the user did not allow
├── EventError             an event of a memory that cannot be applied
├── AuthorityError         a person's decision that nothing less may undo
├── NotAvailableError      an operation that this version does not have yet
├── DaemonError            the daemon cannot be started, reached or stopped
│   ├── AccessError        no token, or a request from a foreign page or host name
│   │   └── ScopeError         a token that is for something else
│   ├── RouteError         no such path, or not with this method
│   ├── TooLargeError      a request beyond the limits
│   ├── SlowError          a request that does not arrive in time
│   └── BusyError          more at once than the daemon takes, or an answer that takes too long
├── ResourceError          the system is out of memory, open files, processes or disk space
├── ProviderError          an embedding provider that fails or refuses
│   └── ProviderKeyError   its key is missing or refused
├── TeamError              the team's server cannot do what it should
│   ├── ObjectStoreError   the object store cannot be reached, or lacks an object
│   ├── ObjectDamagedError an object does not hold what its name says
│   ├── CatalogError       the team's database cannot be reached
│   ├── LeaseError         another worker has taken over
│   ├── IdentityError      where people sign in is away, or makes no sense
│   ├── ServerAwayError    the team's server cannot be reached from here, or makes no sense
│   │   └── UnreachableError   whatever it is asked
│   └── SignInError        the team's server does not let this user in
└── StoreError             the state on disk cannot be used
    ├── UnsafeStateError   a link, another user's file, or one that others can write
    ├── TrackedStateError  git tracks it, so it may have come with the repository
    ├── IndexMissingError  nothing is indexed yet
    │   └── IndexForeignError  the index was not made by this user on this machine
    ├── StoreForeignError  nor was a store that cannot be rebuilt
    ├── StoreLockedError   another process holds a lock
    │   └── IndexLockedError   another process is writing the index
    │       └── IndexMovedError    it wrote to the index while a question was being answered
    ├── StoreVersionError  a store was written by a newer version
    │   └── IndexVersionError  the index was
    └── StoreDamagedError  a store is corrupt
        └── IndexDamagedError  the index is
            └── DerivedFileError  a file derived from it is; Cairn rebuilds it
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any, ClassVar

from cairn.hints import Hint, hint_of


class CairnError(Exception):
    """Base of all errors meant for the user.

    Args:
        message: what went wrong, in one sentence.
        hint: what to do next, preferably an action of Cairn's.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint: Hint = hint_of(hint)

    def to_dict(self) -> dict[str, Any]:
        """Return the error as JSON has it: `hint` is text, `next` the same as data if there is an action."""
        document = {"code": self.code, "message": str(self), "hint": str(self.hint)}
        return document | {"next": self.hint.to_dict()} if self.hint.action else document


def error_from_dict(document: Mapping[str, Any]) -> CairnError:
    """Return the error that another process wrote with `CairnError.to_dict`."""
    action = document.get("next")
    hint = Hint.from_dict(action) if action else str(document.get("hint", ""))
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
    """The path does not exist, is outside the project, is of the wrong kind, or cannot be read."""

    code = "path"


class RevisionError(CairnError):
    """git does not know this branch or revision, or the project is not in a git repository."""

    code = "revision"


class QueryError(CairnError):
    """The query is empty, too long, or an invalid pattern."""

    code = "query"


class NotFoundError(CairnError):
    """No result has this id, or the file or symbol that it names does not exist."""

    code = "not-found"
    exit_code = 1


class UnknownSymbolError(NotFoundError):
    """No definition of the project has this name."""

    code = "symbol-unknown"


class AmbiguousError(CairnError):
    """A name means several definitions; the message lists them."""

    code = "ambiguous"


class DiffError(CairnError):
    """Changes cannot be determined: there is no git repository, or no such revision."""

    code = "diff"


class UnparsableError(CairnError):
    """The parser crashed on a file, or needed too much time or memory; it is searched as plain text."""

    code = "unparsable"


class RequestError(CairnError):
    """A request is not a JSON object, or has a field that is unknown, missing, of the wrong type or out of range."""

    code = "request"


class ProjectError(CairnError):
    """No project has this name or folder, or the user did not allow it."""

    code = "project"


class EventError(CairnError):
    """An event of a memory that came from elsewhere cannot be applied."""

    code = "event"


class AuthorityError(CairnError):
    """A person decided what an agent or a rule is not allowed to undo, or an agent what a rule is not."""

    code = "authority"


class NotAvailableError(CairnError):
    """The operation needs an extra that is not installed, or this version does not do it yet."""

    code = "not-available"


class DaemonError(CairnError):
    """The daemon cannot be started, reached or stopped, or its reply makes no sense."""

    code = "daemon"
    exit_code = 3


class AccessError(DaemonError):
    """A request has no valid token, or a page of a foreign origin may have caused it."""

    code = "access"


class ScopeError(AccessError):
    """A token of a team's server is valid, but not for this."""

    code = "scope"


class RouteError(DaemonError):
    """The daemon has nothing at this path, or does not take this method there."""

    code = "route"


class TooLargeError(DaemonError):
    """A request is larger than the daemon takes."""

    code = "too-large"


class SlowError(DaemonError):
    """A request does not arrive in time."""

    code = "slow"


class BusyError(DaemonError):
    """The daemon gets more requests at once than it takes, or an answer takes longer than it may."""

    code = "busy"


class InternalError(CairnError):
    """A bug in Cairn; the traceback is in the daemon's log, or was printed before the message."""

    code = "internal"
    exit_code = 3


class ResourceError(CairnError):
    """The system is out of memory, open files, processes or disk space."""

    code = "resources"
    exit_code = 3


_AGAIN = "then run the command again"
_EXHAUSTED = {
    errno.EMFILE: ("too many files are open", f"ulimit -n 1024, {_AGAIN}"),
    errno.ENFILE: ("too many files are open on this machine", f"close programs that have many open, {_AGAIN}"),
    errno.ENOMEM: (
        "there is not enough memory",
        f"allow more (ulimit -v unlimited), or close other programs, {_AGAIN}",
    ),
    errno.EAGAIN: ("no more processes can be started", f"allow more (ulimit -u), or end some, {_AGAIN}"),
    errno.ENOSPC: ("the disk is full", f"free some space, {_AGAIN}"),
    errno.EDQUOT: ("the disk quota is used up", f"free some space, {_AGAIN}"),
    errno.EFBIG: ("a file is larger than is allowed", f"allow more (ulimit -f unlimited), {_AGAIN}"),
    errno.EIO: ("the disk fails", "look at the system log"),
}


def is_disk_full(error: OSError) -> bool:
    """Tell whether something was not written for want of space, or of room for another file."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def resource_error(error: BaseException) -> ResourceError | None:
    """Return what an error means for the user if the system has run out of something, else None."""
    number = errno.ENOMEM if isinstance(error, MemoryError) else error.errno if isinstance(error, OSError) else None
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        number = errno.ENOMEM if _is_address_space_limited() else errno.EAGAIN
    if number not in _EXHAUSTED:
        return None
    message, hint = _EXHAUSTED[number]
    return ResourceError(message, hint)


def _is_address_space_limited() -> bool:
    """Tell whether a limit on addresses, which each thread takes some of, is nearer than one on processes."""
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


class ProviderError(CairnError):
    """An embedding provider cannot be reached, refuses, or gives an answer that makes no sense."""

    code = "provider"


class ProviderKeyError(ProviderError):
    """The key for an embedding provider is missing, or the provider refuses it."""

    code = "provider-key"


class TeamError(CairnError):
    """The team's server cannot do what it should."""

    code = "team"
    exit_code = 3


class ObjectStoreError(TeamError):
    """The object store cannot be reached, or lacks an object."""

    code = "objects"


class ObjectDamagedError(TeamError):
    """An object does not hold what its name says."""

    code = "object-damaged"


class CatalogError(TeamError):
    """The database of the team cannot be reached, or does not answer as it should."""

    code = "catalog"


class LeaseError(TeamError):
    """Another worker has taken over what this one was doing."""

    code = "lease"


class IdentityError(TeamError):
    """The provider at which people sign in cannot be reached, or does not answer as it should."""

    code = "identity"


class ServerAwayError(TeamError):
    """The team's server cannot be reached from this machine, takes too long, or its answer makes no sense."""

    code = "team-away"


class UnreachableError(ServerAwayError):
    """There is no connection to the team's server: another question would fare no better."""


class SignInError(TeamError):
    """The team's server does not accept the token of this user, or their attempt to sign in."""

    code = "sign-in"
    exit_code = 2


class StoreError(CairnError):
    """The state on disk cannot be read or written."""

    code = "store"
    exit_code = 3


class IndexMissingError(StoreError):
    """The project has not been indexed."""

    code = "index-missing"


class IndexForeignError(IndexMissingError):
    """The index was not made by this user on this machine; an update moves it aside."""

    code = "index-foreign"


class UnsafeStateError(StoreError):
    """Part of the state is a link or not a regular file, belongs to another user, or others can write it."""

    code = "state-unsafe"


class TrackedStateError(StoreError):
    """git tracks files of the state folder that are not meant to be shared, so anyone who can push controls them."""

    code = "state-tracked"


class StoreForeignError(StoreError):
    """A store that cannot be rebuilt was not made by this user on this machine; it stays in place, unused."""

    code = "store-foreign"


class StoreLockedError(StoreError):
    """Another process held a lock for longer than Cairn waits."""

    code = "store-locked"


class StoreVersionError(StoreError):
    """A store was written by a newer version of Cairn."""

    code = "store-version"


class StoreDamagedError(StoreError):
    """The file of a store is not what was written. A store that cannot be rebuilt is left as it is."""

    code = "store-damaged"


class IndexLockedError(StoreLockedError):
    """Another process was writing the index for longer than Cairn waits."""

    code = "index-locked"


class IndexMovedError(IndexLockedError):
    """Another process wrote the index while a question was being answered; ask again for the new state."""

    code = "index-moved"


class IndexVersionError(StoreVersionError):
    """The index was written by a newer version of Cairn."""

    code = "index-version"


# What a daemon says that is older than the program that wrote a store.
OF_NEWER_PROGRAM = (StoreVersionError.code, IndexVersionError.code)


class IndexDamagedError(StoreDamagedError):
    """The index file is not a readable database."""

    code = "index-damaged"


class DerivedFileError(IndexDamagedError):
    """A file derived from the index is missing, cut short or altered; it can always be rebuilt."""

    code = "index-derived"
