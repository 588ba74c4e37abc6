"""What the benchmarks of the daemon ask, of any project."""

QUESTIONS = (
    "how is a request parsed",
    "where are errors logged",
    "open a database connection",
    "retry after a timeout",
    "validate user input",
    "parse the configuration file",
    "write lock",
    "cache eviction",
    "convert a date to text",
    "test fixtures for http",
)
