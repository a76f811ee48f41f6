"""The first rank to fail leads; what others say of it, however early or often, is a consequence."""

from __future__ import annotations

import pytest

from logdoctor.model import Role, Severity
from tests.diagnosis.build import UP, boot, diagnose, ids, lines, root, said
from tests.diagnosis.ranks import ENGINE_NOTICES, failing, interleaved, started

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.63 GiB. GPU 3 has a total capacity of 79.19 GiB "
    "of which 1.81 GiB is free. Including non-PyTorch memory, this process has 77.15 GiB memory in use."
)
FAULT = "torch.AcceleratorError: CUDA error: an illegal memory access was encountered"
UNKNOWN = "ValueError: the flux is out of phase"
ECHOES = (
    "RuntimeError: NCCL error: remote process exited or there was a network error",
    "torch.distributed.DistBackendError: NCCL error in: /torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3356, "
    "remote process exited or there was a network error, NCCL version 2.27.3",
    "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:525] Connection closed by peer [172.17.0.2]:41811",
)


@pytest.mark.parametrize("size", [2, 8, 64])
def test_interleaved_tracebacks_of_all_ranks_are_one_finding(size: int) -> None:
    log = lines(*started(size), interleaved(*[failing(rank, OOM) for rank in range(size)]), *ENGINE_NOTICES)
    made = boot(log)
    cause = made.root_cause
    assert cause is not None
    assert cause.id == "gpu-oom-profiling"
    assert cause.ranks == tuple(f"TP{rank}" for rank in range(size))
    assert cause.count == size
    assert {finding.role for finding in made.findings[1:] if finding.severity is Severity.ERROR} == {Role.CONSEQUENCE}


@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize(("error", "cause"), [(OOM, "gpu-oom-profiling"), (FAULT, "cuda-illegal-memory-access")])
@pytest.mark.parametrize("last", [False, True])
def test_the_rank_that_failed_leads_over_those_that_lost_it(echo: str, error: str, cause: str, last: bool) -> None:
    others = [failing(rank, echo) for rank in (0, 1, 3)]
    streams = [*others, failing(2, error)] if last else [failing(2, error), *others]
    made = boot(lines(*started(4), interleaved(*streams), *ENGINE_NOTICES))
    found = made.root_cause
    assert found is not None
    assert (found.id, found.ranks) == (cause, ("TP2",))
    heard = [f for f in made.findings if f.id in ("nccl-peer-gone", "peer-connection-closed")]
    assert [f.role for f in heard] == [Role.CONSEQUENCE]


@pytest.mark.parametrize("echo", ECHOES)
def test_an_unknown_error_of_one_rank_leads_over_63_that_lost_it(echo: str) -> None:
    streams = [failing(rank, echo) for rank in range(64) if rank != 40]
    made = boot(lines(*started(64), interleaved(*streams, failing(40, UNKNOWN)), *ENGINE_NOTICES))
    assert root(made) == "unknown-failure"
    assert made.findings[0].title == UNKNOWN
    assert made.findings[0].evidence[0].process == "Worker_TP40"
    assert [f.role for f in made.findings if f.id == "nccl-peer-gone"] in ([Role.CONSEQUENCE], [])


def test_a_lost_peer_alone_is_the_best_that_is_known() -> None:
    made = boot(lines(*started(2), "\n".join(failing(0, ECHOES[0])), *ENGINE_NOTICES))
    assert root(made) == "nccl-peer-gone"


def test_the_watchdog_repeats_a_fault_that_a_rank_had() -> None:
    watchdog = (
        "[rank0]:[E1130 10:00:29.123456789 ProcessGroupNCCL.cpp:2057] [PG ID 2 PG GUID 3 Rank 0] Process group "
        f"watchdog thread terminated with exception: {FAULT.partition(': ')[2]}"
    )
    made = boot(lines(*started(4), UP, watchdog, "\n".join(failing(2, FAULT)), *ENGINE_NOTICES))
    assert root(made) == "cuda-illegal-memory-access"
    assert "nccl-kernel-fault-noticed" in ids(made.findings, Role.CONSEQUENCE)


def test_a_collective_that_timed_out_follows_the_error_before_it() -> None:
    timeout = (
        "[rank1]:[E1130 10:10:30.123456789 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=1203, OpType=ALLREDUCE, NumelIn=4194304, NumelOut=4194304, Timeout(ms)=600000) ran "
        "for 600013 milliseconds before timing out."
    )
    made = boot(lines(*started(4), timeout, "\n".join(failing(2, OOM)), *ENGINE_NOTICES))
    assert root(made) == "gpu-oom-profiling"
    assert "nccl-collective-timeout" in ids(made.findings, Role.CONSEQUENCE)
    assert root(boot(lines(*started(4), UP, timeout, *ENGINE_NOTICES))) == "nccl-collective-timeout"


def test_ray_passes_on_the_death_of_an_actor() -> None:
    crash = "(RayWorkerWrapper pid=90, ip=10.0.0.2) *** SIGSEGV received at time=1732960831 on cpu 3 ***"
    died = "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task."
    made = boot(lines(*started(2), crash, said(died, level="ERROR")))
    assert root(made) not in ("", "ray-actor-died")
    assert "ray-actor-died" in ids(made.findings, Role.CONSEQUENCE)


def test_waiting_for_a_dead_rank_is_no_cause() -> None:
    wait = said("No available shared memory broadcast block found in 60 seconds. This typically", "Worker_TP0 pid=100")
    made = boot(lines(*started(2), "\n".join(failing(1, UNKNOWN)), wait, wait, *ENGINE_NOTICES))
    assert root(made) == "unknown-failure"
    assert not {"shm-broadcast-hang"} & set(ids(made.findings, Role.ROOT_CAUSE))


def test_clocks_that_differ_between_nodes_do_not_change_the_order() -> None:
    """The second node's clock is an hour behind; in the file its error comes later, and so it is taken."""
    first = failing(0, FAULT, time="11-30 10:00:30")
    late = failing(1, FAULT.replace("illegal memory access", "illegal instruction"), time="11-30 09:00:31")
    made = boot(lines(*started(2), "\n".join(first), "\n".join(late), *ENGINE_NOTICES))
    assert root(made) == "cuda-illegal-memory-access"
    assert (
        root(boot(lines(*started(2), "\n".join(late), "\n".join(first), *ENGINE_NOTICES))) == "cuda-illegal-instruction"
    )


def test_an_asynchronous_fault_says_so_and_how_to_decide() -> None:
    made = boot(lines(*started(2), "\n".join(failing(1, FAULT)), *ENGINE_NOTICES))
    finding = next(finding for finding in made.findings if finding.id == "cuda-fault-is-asynchronous")
    assert finding.role is Role.NOTICE
    typed = [remedy.command for each in made.findings for remedy in each.remedies]
    assert "CUDA_LAUNCH_BLOCKING=1" in typed
    assert any(command.startswith("compute-sanitizer") for command in typed)
    assert "asynchronously" in made.findings[0].cause


def test_edges_lead_from_consequences_to_the_root_cause() -> None:
    made = boot(lines(*started(2), "\n".join(failing(1, OOM)), *ENGINE_NOTICES))
    explained = {f.id: f.explained_by for f in made.findings if f.role is Role.CONSEQUENCE}
    assert set(explained) >= {"worker-failed", "engine-core-failed-to-start", "engine-core-initialization-failed"}
    assert set(explained.values()) == {("gpu-oom-profiling",)}


def test_the_answer_does_not_hang_on_the_order_of_arrival() -> None:
    streams = [failing(rank, ECHOES[0]) for rank in (0, 1, 3)] + [failing(2, OOM)]
    orders = [streams, streams[::-1], streams[2:] + streams[:2]]
    found = [diagnose(lines(*started(4), interleaved(*order), *ENGINE_NOTICES)).root_cause for order in orders]
    assert {(cause.id, cause.fingerprint) for cause in found if cause} == {("gpu-oom-profiling", found[0].fingerprint)}  # type: ignore[union-attr]
