"""The daemon's server code, imported once clients can find it; their connections wait meanwhile."""

from cairn.daemon.app import create_app as create_app
from cairn.daemon.security import is_loopback as is_loopback
from cairn.daemon.server import create_server as create_server
