"""What passes between processes: requests, answers and errors, one schema of each for command line, HTTP and MCP.

Nothing here does I/O.
"""

# Of requests, answers and the file by which the daemon is found. A daemon of another number is replaced.
PROTOCOL_VERSION = 1
