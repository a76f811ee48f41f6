"""The events that decide a verdict."""

from __future__ import annotations

import pytest

from logdoctor.facts import Milestones
from logdoctor.model import Record
from tests.facts.build import API, ENGINE, RUST, WORKER, bare, collect, record, traceback


def reached(*records: Record) -> Milestones:
    return collect(records).milestones


def uvicorn(text: str, line: int) -> Record:
    return record(text, line=line, file="", time="", process=API)


READY = uvicorn("Application startup complete.", 5)
SIGTERM = record("[shutdown] API server: shutdown triggered", line=8, process=API)
DEAD = "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above)"
CASCADE = "Engine core initialization failed. See root cause above. Failed core proc(s): {}"


class TestBegin:
    @pytest.mark.parametrize(
        "first",
        [
            record("vLLM API server version 0.9.2"),
            record("\n ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.26.0"),
            record("vLLM server version 0.21.0, serving model x"),
            record("non-default args: {'model': 'm'}"),
            record("args: Namespace(model='m')"),
            bare("usage: vllm serve [model_tag] [options]"),
        ],
    )
    def test_these_lines_are_the_start_of_a_boot(self, first: Record) -> None:
        assert not reached(first).excerpt

    @pytest.mark.parametrize(
        "first",
        [
            record("Loading weights took 1 seconds"),
            record("Initializing a V1 LLM engine (v0.9.2) with config: model='m'"),
            READY,
            traceback("ValueError", "no"),
        ],
    )
    def test_without_them_the_log_is_an_excerpt(self, first: Record) -> None:
        assert reached(first).excerpt

    def test_nothing_read_is_no_excerpt(self) -> None:
        assert not reached().excerpt
        assert collect([]).facts() == {}


class TestReady:
    @pytest.mark.parametrize(
        ("proof", "kind"),
        [
            (READY, "startup-complete"),
            (bare("INFO:     Application startup complete.", line=5), "startup-complete"),
            (record("API server: HTTP server started", line=5, process=API), "http-started"),
            (record("Starting vLLM server on http://0.0.0.0:8000", line=5, process=RUST), "frontend-listening"),
            (
                record(
                    "Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s", line=5
                ),
                "throughput",
            ),
            (uvicorn('1.1.1.1:1 - "GET /health HTTP/1.1" 200 OK', 5), "answered"),
        ],
    )
    def test_what_proves_readiness(self, proof: Record, kind: str) -> None:
        ready = reached(record("x"), proof).ready
        assert ready is not None
        assert (ready.kind, ready.line, ready.phase) == (
            kind,
            5,
            "serving" if kind != "frontend-listening" else ready.phase,
        )

    @pytest.mark.parametrize(
        "other",
        [
            record("Starting vLLM server on http://0.0.0.0:8000", process=API),
            uvicorn("Waiting for application startup.", 5),
            uvicorn('1.1.1.1:1 - "GET /health HTTP/1.1" 503 Service Unavailable', 5),
            record("waiting for 'Application startup complete'", process=API),
        ],
    )
    def test_what_does_not(self, other: Record) -> None:
        assert reached(other).ready is None

    def test_the_first_proof_counts(self) -> None:
        assert reached(READY, uvicorn('1.1.1.1:1 - "GET / HTTP/1.1" 200 OK', 6)).ready_line == 5

    def test_the_time_of_a_start(self) -> None:
        begin = record("vLLM API server version 0.9.2", time="11-30 10:00:00")
        up = record("init engine (profile) took 3 s", line=4, time="11-30 10:01:30")
        facts = collect([begin, up, READY, record("later", line=9, time="11-30 11:00:00")]).facts()
        assert (facts["start.seconds"].value, facts["start.seconds"].line) == (90.0, 5)


class TestShutdown:
    @pytest.mark.parametrize(
        "request_to_stop",
        [
            SIGTERM,
            record("[shutdown] EngineCore: trigger received signal=SIGTERM", line=8),
            record("Shutdown initiated (timeout=0)", line=8),
            record("Shutting down FastAPI HTTP server.", line=8, process=API),
            record("Received KeyboardInterrupt, shutting down API servers...", line=8, process=API),
            uvicorn("Shutting down", 8),
            bare("INFO:     Shutting down", line=8),
            traceback("KeyboardInterrupt", "terminated", line=6),
            bare("nemotron-1 exited with code 143", line=8),
            bare("nemotron-1 exited with code 0", line=8),
        ],
    )
    def test_an_orderly_stop(self, request_to_stop: Record) -> None:
        after = record(f"AsyncLLM output_handler failed.\n{DEAD}", line=9, level="ERROR", process=API)
        seen = reached(READY, request_to_stop, after)
        assert (seen.shutdown_line, seen.failed) == (8, False)
        assert [event.kind for event in seen.after_shutdown] == ["cascade"]

    def test_a_dead_engine_before_it_is_no_orderly_stop(self) -> None:
        died = record("Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.", line=6, level="ERROR")
        seen = reached(READY, died, SIGTERM)
        assert (seen.failure_line, seen.shutdown) == (6, None)
        assert seen.failures[0].phase == "serving"

    def test_a_front_end_that_fails_on_its_way_up_stops_its_engine_first(self) -> None:
        loading = record("init engine (profile) took 3 s", line=4)
        stop = record("[shutdown] EngineCore: trigger received signal=SIGTERM", line=8)
        collector = collect([loading, stop, traceback("ValueError", "no adapter", line=20)])
        seen = collector.milestones
        assert (seen.shutdown, seen.failure_line) == (None, 22)
        assert seen.failures[0].phase == collector.phase == "server-start"


class TestFailures:
    @pytest.mark.parametrize(
        ("failure", "kind"),
        [
            (bare("vllm: error: unrecognized arguments: serve", line=3), "usage"),
            (bare("usage: vllm serve [options]\nvllm serve: error: argument --dtype: invalid", line=2), "usage"),
            (bare("api_server.py: error: unrecognized arguments: --x", line=3), "usage"),
            (record("EngineCore failed to start.", line=3, level="ERROR"), "engine"),
            (record("EngineCore encountered a fatal error.", line=3, level="ERROR"), "engine"),
            (record("WorkerProc failed to start.", line=3, level="ERROR", process=WORKER), "worker"),
            (traceback("ValueError", "no", line=1), "traceback"),
            (traceback("ValueError", "no", line=1, top="_bootstrap", process=ENGINE), "traceback"),
            (traceback("ValueError", "no", line=1, top=""), "traceback"),
            (traceback("RuntimeError", CASCADE, line=1), "cascade"),
            (bare(f"RuntimeError: {CASCADE}", line=3), "cascade"),
            (record("Worker proc VllmWorker-0 died unexpectedly (exit code: -9)", line=3, level="ERROR"), "died"),
            (bare("Killed", line=3), "killed"),
            (bare("/start.sh: line 3:    12 Killed                  vllm serve m", line=3), "killed"),
            (bare("Segmentation fault (core dumped)", line=3), "killed"),
            (bare("Fatal Python error: Segmentation fault", line=3), "killed"),
            (bare("terminate called after throwing an instance of 'c10::Error'", line=3), "killed"),
            (bare("nemotron-1 exited with code 137", line=3), "container"),
            (bare("nemotron-1 exited with code 1 (restarting)", line=3), "container"),
            (bare("docker: Error response from daemon: could not select device driver", line=3), "container"),
            (uvicorn("Application startup failed. Exiting.", 3), None),
            (record("Application startup failed. Exiting.", line=3, level="ERROR", file=""), "server"),
        ],
    )
    def test_what_a_failure_looks_like(self, failure: Record, kind: str | None) -> None:
        failures = reached(failure).failures
        assert [(event.kind, event.line) for event in failures] == ([(kind, 3)] if kind else [])

    @pytest.mark.parametrize(
        "harmless",
        [
            record("EngineCore failed to start.", level="DEBUG"),
            record("Found ulimit: `OSError: [Errno 24] Too many open files`", level="WARNING"),
            record("Error in preprocessing prompt inputs", level="ERROR", process=API),
            record("Received request: EngineDeadError died unexpectedly Killed", quoted=True),
            bare("nemotron-1 exited with code 0"),
            traceback("ValueError", "in a thread", top="_bootstrap_inner"),
            traceback("FutureWarning", "old"),
            traceback("SystemExit", "0"),
            bare("/usr/bin/ld: error: cannot find -lcuda"),
        ],
    )
    def test_what_is_none(self, harmless: Record) -> None:
        assert not reached(harmless).failed

    def test_the_last_healthy_line_stands_before_the_first_failure(self) -> None:
        seen = reached(
            record("Available KV cache memory: 1.00 GiB", line=4),
            record("EngineCore failed to start.", line=5, level="ERROR"),
            record("later, another process", line=6, process=API),
        )
        assert seen.last_healthy is not None
        assert (seen.last_healthy.line, seen.last_healthy.phase) == (4, "kv-cache")
        assert seen.last_progress is not None
        assert seen.last_progress.line == 6

    def test_failures_are_bounded(self) -> None:
        many = [record("WorkerProc failed to start.", line=n, level="ERROR") for n in range(1, 500)]
        assert len(reached(*many).failures) == 60

    def test_a_boot_that_failed_stays_in_the_phase_of_its_failure(self) -> None:
        seen = collect(
            [
                record("Starting to load model m", line=1),
                record("WorkerProc failed to start.", line=2, level="ERROR", process=WORKER),
                record("[shutdown] Executor: waiting for worker exit count=1", line=3),
            ]
        )
        assert seen.phase == "weights"

    def test_a_server_that_comes_up_has_survived_what_was_before(self) -> None:
        seen = reached(traceback("ImportError", "no module", line=1), READY)
        assert (seen.failed, [event.line for event in seen.survived]) == (False, [3])

    def test_answers_of_a_front_end_do_not_bring_its_engine_back(self) -> None:
        died = record("Engine core proc EngineCore died unexpectedly", line=2, level="ERROR", process=API)
        seen = reached(died, uvicorn('1.1.1.1:1 - "GET /metrics HTTP/1.1" 200 OK', 3))
        assert (seen.failure_line, seen.ready_line) == (2, 3)

    def test_a_lone_error_line_of_a_server_that_is_up(self) -> None:
        assert not reached(READY, traceback("ValueError", "a request", line=7, top="")).failed


class TestWaiting:
    WAIT = "No available shared memory broadcast block found in 60 seconds."

    def test_wait_lines_at_the_end_count(self) -> None:
        waits = [record(self.WAIT, line=n, time=f"11-30 10:0{n}:00") for n in range(2, 6)]
        seen = reached(record("Starting to load model m"), *waits)
        assert seen.wait is not None
        assert (seen.wait.line, seen.waits, seen.wait_seconds) == (2, 4, 180.0)
        assert seen.last_progress is not None
        assert seen.last_progress.line == 1

    def test_progress_ends_the_waiting(self) -> None:
        seen = reached(record(self.WAIT), record("Loading weights took 3 seconds", line=2))
        assert (seen.wait, seen.waits) == (None, 0)
        seen = reached(record(self.WAIT), uvicorn('1.1.1.1:1 - "GET / HTTP/1.1" 200 OK', 2))
        assert (seen.wait, seen.waits) == (None, 0)


class TestStderr:
    LOGGED = tuple(
        record(text, line=n)
        for n, text in enumerate(["vLLM API server version 0.9.2", "a", "b", "c", "Loading weights took 1 seconds"], 1)
    )

    def test_a_start_without_a_line_from_stderr(self) -> None:
        assert reached(*self.LOGGED).stderr_missing
        assert collect(self.LOGGED).facts()["boot.stderr_missing"].value is True

    def test_access_lines_go_to_stdout(self) -> None:
        assert reached(*self.LOGGED, uvicorn('1.1.1.1:1 - "GET / HTTP/1.1" 200 OK', 9)).stderr_missing

    @pytest.mark.parametrize(
        "line",
        [
            READY,
            uvicorn("Started server process [1]", 9),
            bare("INFO:     Waiting for application startup.", line=9),
            bare("Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:01<00:03,  1.02s/it]", line=9),
            bare("Capturing CUDA graphs (FULL):  12%|#2   | 3/25 [00:01<00:09,  2.44it/s]", line=9),
            record("destroy_process_group() was not called", level="WARNING", file="x.cpp", time="1130 10:00:00.123"),
            record("FutureWarning: VLLM_X is deprecated", level="WARNING", file="envs.py", time=""),
            traceback("ValueError", "no", line=9),
            bare("usage: vllm [-h] [-v]", line=9),
            bare("anything", line=9),
        ],
    )
    def test_a_line_that_only_stderr_carries(self, line: Record) -> None:
        expected = line.message == "anything"
        assert reached(*self.LOGGED, line).stderr_missing is expected

    def test_the_envelope_may_name_the_stream(self) -> None:
        assert not reached(*self.LOGGED, record("x", line=9, stream="stderr")).stderr_missing

    def test_a_short_excerpt_says_nothing(self) -> None:
        assert not reached(*self.LOGGED[1:]).stderr_missing
        assert not reached(self.LOGGED[0]).stderr_missing


def test_an_exception_in_a_start_ends_its_process_if_that_writes_no_more() -> None:
    """A traceback whose outermost calls are cut off, or that a caller may have caught."""
    ended = traceback("acme.LicenceExpired", "contact sales", line=2, top="run_server_worker")
    start = record("vLLM API server version 0.24.0", line=1, process=API)
    assert collect([start, ended]).milestones.failure_line == 4
    assert collect([start, ended, record("Going on", line=5, process=API)]).milestones.failures == ()
    up = bare("INFO:     Application startup complete.", line=1, process=API)
    assert collect([start, up, ended]).milestones.failures == ()
