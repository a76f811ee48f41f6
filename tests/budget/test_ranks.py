"""The tensor parallel size to type: what the GPUs hold and the heads allow."""

from __future__ import annotations

import pytest

from logdoctor.budget.arithmetic import ranks_that_fit
from tests.budget.build import derived
from tests.diagnosis.build import boot


@pytest.mark.parametrize(
    ("asked", "gpus", "heads", "stages", "size"),
    [
        (16, 8, None, 1, 8),
        (16, 8, 40, 1, 8),
        (16, 6, 32, 1, 4),
        (4, 3, None, 1, 2),
        (6, 4, None, 1, 3),
        (3, None, 32, 1, 2),
        (8, None, 20, 1, 5),
        (8, 8, None, 2, 4),
        (2, 0, None, 1, 1),
        (8, 1, 64, 4, 1),
    ],
)
def test_the_largest_size_that_fits(asked: int, gpus: int | None, heads: int | None, stages: int, size: int) -> None:
    assert ranks_that_fit(asked, gpus, heads, stages) == size


def test_only_where_fewer_are_needed() -> None:
    assert derived(args__tensor_parallel_size=4, gpu__count=3)["suggest.ranks"] == 2
    assert "suggest.ranks" not in derived(args__tensor_parallel_size=4, gpu__count=4)
    assert "suggest.ranks" not in derived(args__tensor_parallel_size=4)
    assert "suggest.ranks" not in derived(gpu__count=4)


RAY = (
    "(EngineCore pid=112) WARNING 08-28 07:00:08 [ray_utils.py:345] Tensor parallel size (16) exceeds available GPUs "
    "(8). This may result in Ray placement group allocation failures. Consider reducing tensor_parallel_size to 8 or "
    "less, or ensure your Ray cluster has 16 GPUs available.\n"
)
FAILED = (
    "(EngineCore pid=112) ERROR 08-28 07:21:18 [core.py:936] ValueError: Cannot provide a placement group of "
    "placement_group_specs=[{'GPU': 1.0}] within 1800 seconds. See `ray status`.\n"
)


@pytest.mark.parametrize(
    ("log", "found", "size"),
    [
        (RAY + FAILED, "ray-placement-impossible", 8),
        (RAY, "ray-tensor-parallel-over-nodes", 8),
        (
            "(APIServer pid=1)   Value error, Total number of attention heads (40) must be divisible by tensor "
            "parallel size (16). [type=value_error]\n",
            "heads-not-divisible",
            10,
        ),
        (
            "(APIServer pid=1) INFO 11-30 09:22:42 [utils.py:238] non-default args: {'tensor_parallel_size': 4}\n"
            "(APIServer pid=1)   Value error, World size (4) is larger than the number of available GPUs (3) in this "
            "node. If this is intentional\n",
            "world-size-above-gpus",
            2,
        ),
    ],
)
def test_a_log_that_tells_how_many_there_are(log: str, found: str, size: int) -> None:
    finding = next(one for one in boot(log).findings if one.id == found)
    commands = [remedy.command for remedy in finding.remedies]
    assert any(command.split()[:2] == ["--tensor-parallel-size", str(size)] for command in commands), commands
