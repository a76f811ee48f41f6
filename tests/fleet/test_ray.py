"""The Ray engine on a real cluster of two nodes: the pool's records, byte for byte, also when a node is lost."""

from __future__ import annotations

import gzip
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from logdoctor.fleet import ray_engine
from logdoctor.fleet.errors import FleetError
from logdoctor.fleet.ordering import in_order
from logdoctor.fleet.pool import Pool
from logdoctor.fleet.ray_engine import RayEngine
from logdoctor.fleet.sources import find_sources
from logdoctor.fleet.work import WorkOptions
from tests.fleet import hooks
from tests.fleet.build import READY, SHARD, diagnoser, unknown, write

pytestmark = pytest.mark.ray
VERSIONS = diagnoser().versions


def test_without_ray_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(FleetError, match=r"pip install '\.\[ray\]'"), RayEngine(WorkOptions(), 0, VERSIONS):
        pass


def test_ray_is_not_imported_by_the_pool() -> None:
    code = "import logdoctor.fleet.run, logdoctor.fleet.ray_engine, sys; sys.exit('ray' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of two nodes with one processor each, the driver on the first."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 200 << 20})
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def by_pool(paths: list[str], options: WorkOptions) -> list[bytes]:
    with Pool(options, 2, VERSIONS) as pool:
        return sorted(in_order(pool.run(find_sources(paths))))


def by_ray(
    paths: list[str], options: WorkOptions, meanwhile: Callable[[int], None] = lambda done: None
) -> tuple[list[bytes], list[str]]:
    lines: list[bytes] = []
    with RayEngine(options, 0, VERSIONS) as engine:
        found = find_sources(paths, open_archives=False, expand_url=engine.expand_url)
        for _, made in engine.run(found):
            lines += made
            meanwhile(len(lines))
    return sorted(lines), engine.notes


def logs(root: Path, count: int) -> list[str]:
    """Logs of every kind: plain, compressed, in an archive, cut, deadly, not there."""
    kinds = (READY, SHARD, unknown(), "", unknown("hf_" + "x" * 34 + " is refused"))
    write(root, {f"node-{n % 3}/{n:03}.log": kinds[n % 5] for n in range(count)})
    write(root, {"z/a.log.gz": gzip.compress(SHARD.encode()), "z/cut.log.gz": gzip.compress(SHARD.encode() * 9)[:150]})
    write(root, {"z/deadly.log": READY, "z/broken.tar.gz": b"nothing of the kind"})
    with tarfile.open(root / "z.tar.gz", "w:gz") as tar:
        tar.add(root / "z/a.log.gz", "n/a.log.gz")
        tar.add(root / "node-0/000.log", "n/000.log")
    with tarfile.open(root / "empty.tar", "w"):
        pass
    return [str(root), str(root / "gone.log")]


def test_the_records_are_the_pools(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "FILES_PER_BLOCK", 4)
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    options = WorkOptions(before=hooks.die, together=True)
    paths = logs(tmp_path / "logs", 20)
    lines, notes = by_ray(paths, options)
    assert lines == by_pool(paths, options)
    assert len(lines) == 20 + 3 + 1 + 2 + 1
    assert notes == []
    cluster.remove_node(node)


def test_a_node_that_dies_half_way_loses_nothing(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    monkeypatch.setattr(ray_engine, "FILES_PER_BLOCK", 2)
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    killed: list[int] = []

    def kill(done: int) -> None:
        if done >= 20 and not killed:
            killed.append(done)
            cluster.remove_node(node, allow_graceful=False)

    options = WorkOptions(before=hooks.dawdle)
    paths = logs(tmp_path / "logs", 60)
    lines, notes = by_ray(paths, options, kill)
    assert killed and killed[0] < 60
    assert notes == []  # Ray itself did again what the node took with it
    assert lines == by_pool(paths, WorkOptions())
    assert sum(one["Alive"] for one in ray.nodes()) == 1


def test_addresses_are_read_through_rays_readers(cluster: Any, tmp_path: Path) -> None:
    write(tmp_path / "bucket", {"n/a.log": SHARD, "n/b.log.gz": gzip.compress(READY.encode()), "n/c.yaml": "x: 1"})
    write(tmp_path / "bucket", {"n/server": READY, "n/.hidden/d.log": READY})
    with tarfile.open(tmp_path / "bucket/more.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "bucket/n/a.log", "a.log")
    address = (tmp_path / "bucket").as_uri()
    lines, notes = by_ray([address, f"{address}/gone"], WorkOptions())
    assert len(lines) == 5
    assert notes == []
    options = [line.replace(address.encode(), b"bucket") for line in lines]
    assert sum(b"weights-shard-truncated" in line for line in options) == 2
    assert sum(b'"exit_status":2' in line for line in options) == 1


def test_a_file_that_goes_away_between_finding_and_reading(cluster: Any, tmp_path: Path) -> None:
    write(tmp_path, {f"{n}.log": READY for n in range(6)})
    found = list(find_sources([str(tmp_path)]))
    (tmp_path / "3.log").unlink()
    with RayEngine(WorkOptions(), 0, VERSIONS) as engine:
        lines = [line for _, made in engine.run(found) for line in made]
    assert len(lines) == 6
    assert sum(b"does not exist" in line for line in lines) == 1
    assert engine.notes == ["not done by Ray and read here instead: 1 of the logs"]
