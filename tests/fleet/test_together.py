"""The logs of one deployment: boots aligned over files, and where a failure began."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logdoctor.fleet.summary import FleetSummary, Tally
from logdoctor.fleet.together import Start, align, ranks_text
from tests.fleet.build import made, record_of

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 79.11 GiB "
    "of which 3.00 GiB is free."
)
GONE = "RuntimeError: NCCL error: remote process exited or there was a network error"
FLUX = "RuntimeError: flux overheated"


def node(
    number: int,
    *,
    minute: int = 0,
    fails: str = "",
    at: str = "30",
    met: str = "10.9.8.7:29500",
    dated: bool = True,
) -> str:
    """A start on one of two nodes of two ranks; a failure is that of the second rank."""
    ranks = (2 * number, 2 * number + 1)
    lines = [
        f"INFO 11-30 10:{minute:02}:00 [importing.py:53] Triton is installed",
        f"(APIServer pid=1) INFO 11-30 10:{minute:02}:01 [api_utils.py:345]   █▄█▀ █     █     █  version 0.27.1",
        f"(APIServer pid=1) INFO 11-30 10:{minute:02}:01 [api_utils.py:273] non-default args: "
        f"{{'model': '/models/tiny', 'tensor_parallel_size': 4, 'nnodes': 2, 'node_rank': {number}}}",
        f"(EngineCore pid=9) INFO 11-30 10:{minute:02}:05 [core.py:121] Initializing a V1 LLM engine (v0.27.1): x=1",
        *(
            f"(Worker pid={20 + rank}) INFO 11-30 10:{minute:02}:1{number} [parallel_state.py:1640] world_size=4 "
            f"rank={rank} local_rank={local} distributed_init_method=tcp://{met} backend=nccl"
            for local, rank in enumerate(ranks)
        ),
        f"(Worker_TP{ranks[1]} pid={20 + ranks[1]}) INFO 11-30 10:{minute:02}:20 [gpu_model_runner.py:1] Loading",
    ]
    if fails:
        who = f"(Worker_TP{ranks[1]} pid={20 + ranks[1]})"
        lines += [
            f"{who} ERROR 11-30 10:{minute:02}:{at} [multiproc_executor.py:772] WorkerProc failed to start.",
            f"{who} ERROR 11-30 10:{minute:02}:{at} [multiproc_executor.py:772] Traceback (most recent call last):",
            f'{who} ERROR 11-30 10:{minute:02}:{at} [multiproc_executor.py:772]   File "/opt/vllm/a.py", line 1, in go',
            f"{who} ERROR 11-30 10:{minute:02}:{at} [multiproc_executor.py:772]     go()",
            f"{who} ERROR 11-30 10:{minute:02}:{at} [multiproc_executor.py:772] {fails}",
            "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above.",
        ]
    text = "\n".join(lines) + "\n"
    if not dated:
        text = "\n".join(line.replace(f"11-30 10:{minute:02}", "") for line in lines) + "\n"
    return text


def starts(*logs: str, names: tuple[str, ...] = ("node-a", "node-b", "node-c")) -> tuple[Start, ...]:
    tally = Tally(together=True)
    for name, log in zip(names, logs, strict=False):
        tally.add(record_of(log, f"{name}/vllm.log", below=name, together=True))
    return tally.summary().starts


def test_two_nodes_are_one_start_with_all_its_ranks() -> None:
    (start,) = starts(node(0), node(1))
    assert [member.where for member in start.members] == ["node-a", "node-b"]
    assert [member.ranks for member in start.members] == [(0, 1), (2, 3)]
    assert [member.node_rank for member in start.members] == [0, 1]
    assert (start.world_size, start.ranks_missing, start.began, start.failed) == (4, (), None, False)


def test_a_node_without_a_log_is_seen_by_its_ranks() -> None:
    (start,) = starts(node(0))
    assert start.ranks_missing == (2, 3)


def test_it_began_where_it_failed_first() -> None:
    (start,) = starts(node(0, fails=GONE, at="55"), node(1, minute=1, fails=FLUX, at="40"))
    assert start.began is not None
    (start,) = starts(node(0, minute=2, fails=FLUX, at="40"), node(1, fails=OOM, at="50"))
    assert start.began is not None
    assert (start.began.where, start.began.rank, start.began.process) == ("node-b", 3, "Worker_TP3")
    assert "failed first, 110 s before node-a" in start.reason


@pytest.mark.parametrize("first", [True, False])
def test_within_a_minute_a_fault_of_its_own_goes_before_the_echo(first: bool) -> None:
    echo, own = ("29", "31") if first else ("31", "29")
    (start,) = starts(node(0, fails=GONE, at=echo), node(1, fails=OOM, at=own))
    assert start.began is not None
    assert start.began.where == "node-b"
    assert "connection between the ranks" in start.reason


def test_the_same_fault_everywhere_is_said() -> None:
    (start,) = starts(node(0, fails=OOM, at="31"), node(1, fails=OOM, at="30"))
    assert start.began is not None
    assert start.began.where == "node-b"
    assert "same cause" in start.reason


def test_restarts_are_aligned_one_by_one() -> None:
    first = node(0, fails=GONE, at="40") + node(0, minute=20)
    second = node(1, fails=OOM, at="30") + node(1, minute=20)
    failed, up = starts(first, second)
    assert [member.boot for member in failed.members] == [1, 1]
    assert failed.began is not None and failed.began.where == "node-b"
    assert [member.boot for member in up.members] == [2, 2]
    assert up.began is None


def test_a_node_that_fails_before_the_rendezvous_belongs_to_the_start() -> None:
    early = node(1, fails=FLUX).splitlines()
    early = [line for line in early if "world_size" not in line]
    waiting = node(0, fails="torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 2/4 "
                   "clients joined.").replace("10:00:30", "10:10:40")  # fmt: skip
    (start,) = starts(waiting, "\n".join(early) + "\n")
    assert start.began is not None
    assert (start.began.where, start.began.cause) == ("node-b", "unknown-failure")
    assert start.ranks_missing == (2, 3)


def test_without_times_the_last_boots_belong_together_and_it_is_not_decided() -> None:
    logs = [node(number, fails=OOM, dated=False) for number in (0, 1)]
    (start,) = starts(*logs)
    assert start.began is None
    assert "no times to compare" in start.reason
    (start,) = starts(node(0, fails=GONE, dated=False), logs[1])
    assert start.began is not None
    assert start.began.where == "node-b"


def test_other_deployments_of_the_day_are_other_starts() -> None:
    assert len(starts(node(0), node(1, minute=45))) == 2


def test_addresses_are_hidden_and_still_compare() -> None:
    (start,) = starts(node(0), node(1))
    addresses = {member.met_at for member in start.members}
    assert len(addresses) == 1
    assert "10.9.8.7" not in str(addresses)
    assert str(addresses).count("29500") == 1


@given(st.integers())
def test_the_order_of_the_logs_does_not_matter(seed: int) -> None:
    logs: list[dict[str, Any]] = [
        {**made(f"{name}.log", node=name), "starts": [_start(boot, minute) for boot, minute in enumerate(minutes, 1)]}
        for name, minutes in (("a", (0, 20)), ("b", (1, 21)), ("c", (2,)), ("d", (0, 22, 50)))
    ]
    aligned = align(logs)
    random.Random(seed).shuffle(logs)
    assert align(logs) == aligned
    assert [len(start.members) for start in aligned] == [4, 3, 1]


def _start(boot: int, minute: int) -> dict[str, Any]:
    seen = f"2026-11-30T10:{minute:02}:00Z"
    start = {"boot": boot, "verdict": "failed", "world_size": 4, "node_rank": None, "ranks": [], "met_at": ["x:1"]}
    cause = {"id": "x", "title": "X", "phase": "weights", "fingerprint": "00"}
    return start | {
        "first_seen": seen,
        "last_seen": seen,
        "root_cause": cause,
        "failed_at": seen,
        "rank": 0,
        "process": "W",
    }


def test_records_without_it_have_no_starts() -> None:
    assert record_of(node(0))["starts"] is None
    tally = Tally()
    tally.add(record_of(node(0), together=True))
    summary: FleetSummary = tally.summary()
    assert summary.starts == ()


def test_ranks_are_told_as_stretches() -> None:
    assert ranks_text([3, 0, 1, 2, 8, 10, 11]) == "0-3, 8, 10-11"
    assert ranks_text([]) == ""


def test_a_node_that_only_reports_its_peer_gone_is_not_where_it_began() -> None:
    (start,) = starts(node(0, fails=GONE))
    assert start.began is None
    assert "the peer's log would tell" in start.reason
    (start,) = starts(node(0, fails=OOM))
    assert start.began is not None
