"""The numbers at /metrics. docs/operating.md lists them."""

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.registry import Collector

from app.core.database import UNAVAILABLE, Database, NoConnectionFree
from app.grading.queue.workers import Worker, Workers
from app.operations.operating.attempt_statistics import AttemptStatistics, Ended, waiting

if TYPE_CHECKING:
    from app.grading.queue.preparation import Preparation
    from grader.sandbox.pool import PoolStats

_REQUEST_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_GRADING_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0)


class Metrics(Collector):
    """The metrics of one app. Each app has its own registry, so that two apps in one process count separately.

    Each process counts the requests that it handles, and describes its own pool. Everything about attempts and workers
    is read from the database on demand, so every process of the service reports the same, whichever machine graded.

    Args:
      process: which of the processes at one port this is, as a label of everything; None if it is the only one. Without
        the label, a counter would seem to start again whenever another process is asked.
    """

    def __init__(self, process: int | None = None) -> None:
        self._process = process
        self.registry = CollectorRegistry()
        self._turn = asyncio.Lock()
        self._requests = self._counter("http_requests", "Requests handled.", "method", "route", "status")
        self._request_s = Histogram(
            "meshgrade_http_request_seconds",
            "Time until the response began.",
            ("method", "route"),
            buckets=_REQUEST_BUCKETS_S,
            registry=self.registry,
        )
        self._refused = self._counter("http_refused", "Requests refused because too many were waiting.")
        self._in_line = self._gauge("http_waiting", "Requests that have been received and have not begun.")
        # There are few methods, routes and statuses, and looking a counter up by its labels takes longer than counting.
        self._by_request: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._attempts = self._counter(
            "attempts", "Attempts and runs that ended since this process began.", "kind", "status", "reason"
        )
        self._grading_s = Histogram(
            "meshgrade_grading_seconds",
            "Time that attempts and runs spent in each phase, for those with a verdict since this process began.",
            ("phase",),
            buckets=_GRADING_BUCKETS_S,
            registry=self.registry,
        )
        self._depth = self._gauge("queue_depth", "Work that is waiting.", "kind")
        self._oldest_s = self._gauge("queue_oldest_seconds", "How long the oldest waiting work has waited.", "kind")
        self._running = self._gauge("attempts_running", "Attempts and runs that are being graded.")
        self._database = self._gauge("database_up", "Whether the database responded. If not, the above is missing.")
        self._connections = self._gauge("database_connections", "Connections to the database of this process.", "which")
        self._workers = self._gauge("workers", "Processes that can grade.")
        self._slots = self._gauge("worker_slots", "How many attempts the worker grades at a time.", "worker")
        self._clock_s = self._gauge(
            "worker_clock_offset_seconds", "How far its clock is ahead of the database's.", "worker"
        )
        self._walls = self._gauge("wall_up", "Whether the wall was up when the worker tested it.", "wall", "worker")
        self._pool_alive = self._gauge("pool_alive", "Whether the process that runners are forked from is alive.")
        self._forks = self._gauge("pool_forks", "Runners that are waiting for a submission.", "kind")
        self._setbacks = self._gauge(
            "setbacks", "How often something failed in a row; it is retried.", "what", "name", "worker"
        )
        self._unprepared = self._gauge("problems_unprepared", "Problems that are to be prepared now and are not yet.")
        self._zygotes = self._gauge("pool_zygotes_started", "Zygotes started so far. It grows when one dies.")

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        key = (method, route, status)
        if (metrics := self._by_request.get(key)) is None:
            metrics = self._requests.labels(method, route, str(status)), self._request_s.labels(method, route)
            self._by_request[key] = metrics
        metrics[0].inc()
        metrics[1].observe(seconds)

    def refused(self) -> None:
        """A request was refused because too many were waiting."""
        self._refused.inc()

    def watch_line(self, waiting: Callable[[], int]) -> None:
        """Report how many requests of this process have not begun."""
        self._in_line.set_function(waiting)

    async def render(
        self,
        database: Database,
        tally: AttemptStatistics,
        workers: Workers,
        pool: "PoolStats | None",
        preparation: "Preparation | None" = None,
    ) -> bytes:
        """Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/"""
        # One at a time: two that read the tally at once would each get only some of the new attempts.
        async with self._turn:
            await self._read_database(database, tally, workers)
            self._read_own(pool, preparation)
            return generate_latest(self.registry if self._process is None else self)

    def collect(self) -> Iterator[Metric]:
        """Everything, with the label `process`."""
        own = {"process": str(self._process)}
        for metric in self.registry.collect():
            metric.samples = [each._replace(labels=each.labels | own) for each in metric.samples]
            yield metric

    async def _read_database(self, database: Database, tally: AttemptStatistics, workers: Workers) -> None:
        self._depth.clear()
        self._oldest_s.clear()
        try:
            queue, graders, ended = await waiting(database), await workers.all(), await tally.new()
        except NoConnectionFree:  # which the number of connections in use shows
            return
        except UNAVAILABLE:  # which is itself a metric
            self._database.set(0)
            return
        finally:
            self._connections.labels("used").set(database.in_use)
            self._connections.labels("most").set(database.connections)
        self._database.set(1)
        self._running.set(queue.running)
        for kind, line in queue.lines.items():
            self._depth.labels(kind).set(line.depth)
            self._oldest_s.labels(kind).set(line.oldest_s)
        for each in ended:
            self._count(each)
        self._read_workers(graders)

    def _count(self, ended: Ended) -> None:
        self._attempts.labels(ended.kind, ended.status, ended.reason or "").inc()
        for phase, ms in ended.timings_ms.items():
            self._grading_s.labels(phase).observe(ms / 1000)

    def _read_workers(self, workers: list[Worker]) -> None:
        for gauge in (self._slots, self._clock_s, self._walls, self._setbacks):
            gauge.clear()
        self._workers.set(sum(each.can_grade for each in workers))
        for worker in workers:
            if worker.is_live and worker.slots:
                self._slots.labels(worker.name).set(worker.slots)
                self._clock_s.labels(worker.name).set(worker.clock_offset_s)
                for wall in worker.walls:
                    self._walls.labels(wall.name, worker.name).set(wall.up)
                for setback in worker.setbacks:
                    self._setbacks.labels(setback.what, setback.name, worker.name).set(setback.failures)

    def _read_own(self, pool: "PoolStats | None", preparation: "Preparation | None") -> None:
        if pool is not None:
            self._pool_alive.set(pool.alive)
            self._forks.labels("generic").set(pool.generic)
            self._forks.labels("warm").set(sum(pool.warm.values()))
            self._zygotes.set(pool.zygotes)
        if preparation is not None:
            self._unprepared.set(preparation.waiting)

    def _counter(self, name: str, description: str, *labels: str) -> Counter:
        return Counter(f"meshgrade_{name}", description, labels, registry=self.registry)

    def _gauge(self, name: str, description: str, *labels: str) -> Gauge:
        return Gauge(f"meshgrade_{name}", description, labels, registry=self.registry)
