"""Metrics of nodes and workers for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
    start_http_server,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from cairn.errors import ConfigError
from cairn.team.catalog import Catalog, read_queue

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class NodeMetrics:
    """The figures of a node.

    Args:
        n_open: returns how many projects are open.
        n_opened: returns how many were opened since the start.
        n_waiting: returns how many questions are waiting or being answered.
        n_lost: returns how many audit rows were lost.
    """

    def __init__(
        self,
        *,
        n_open: Callable[[], int],
        n_opened: Callable[[], int],
        n_waiting: Callable[[], int],
        n_lost: Callable[[], int],
    ) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "cairn_requests", "Requests, by operation and status", ("operation", "status"), registry=registry
        )
        self._seconds = Histogram(
            "cairn_request_seconds", "What they took", ("operation",), buckets=_SECONDS, registry=registry
        )
        Gauge("cairn_open_projects", "Projects that are open", registry=registry).set_function(n_open)
        Gauge("cairn_waiting_questions", "Questions without an answer", registry=registry).set_function(n_waiting)
        registry.register(_Sums({"cairn_opened_projects": n_opened, "cairn_audit_lost": n_lost}))

    def count(self, operation: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(operation, str(status)).inc()
        self._seconds.labels(operation).observe(seconds)

    def text(self) -> bytes:
        """Return all figures in Prometheus' format."""
        return generate_latest(self._registry)


class _Sums(Collector):
    """Counters that are kept elsewhere."""

    def __init__(self, sums: dict[str, Callable[[], int]]) -> None:
        self._sums = sums

    def collect(self) -> Iterable[Metric]:
        for name, read in self._sums.items():
            yield CounterMetricFamily(name, "Since the start", value=read())


class _Queue(Collector):
    """The numbers of waiting, claimed and failed branches, queried on demand."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def describe(self) -> Iterable[Metric]:
        return ()  # avoids a query at the start

    def collect(self) -> Iterator[Metric]:
        queue = read_queue(self._catalog)
        branches = GaugeMetricFamily("cairn_branches", "Branches by what is to be done", labels=("state",))
        for state in ("published", "waiting", "leased", "failed"):
            branches.add_metric((state,), getattr(queue, state))
        yield branches
        yield GaugeMetricFamily("cairn_oldest_wait_seconds", "Of a wanted commit", value=queue.oldest_seconds)


def serve_worker_metrics(catalog: Catalog, host: str, port: int) -> None:
    """Serve metrics in a separate thread: the process's usage, and the queue of all workers.

    Raises:
        ConfigError: if it cannot listen there.
    """
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Queue(catalog))
    try:
        start_http_server(port, host, registry)
    except OSError as error:
        raise ConfigError(f"cannot listen at {host}:{port}: {error.strerror}", "name another port") from error
