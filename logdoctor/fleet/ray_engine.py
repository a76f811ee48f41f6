"""The engine on a Ray cluster: Ray Data reads the files, actors diagnose them, and what a node took with it is redone.

Every actor keeps one worker process of the pool, so that a log that brings its process down costs that process and not
the actor: Ray would give such a log to one actor after another. The records are therefore the pool's, byte for byte.
Ray is imported when the engine is used; nothing else of the package needs it.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from logdoctor.fleet.errors import FleetError
from logdoctor.fleet.names import SNIFFED, is_archive_name, is_log_name, looks_like_log, may_be_log
from logdoctor.fleet.ordering import Numbered
from logdoctor.fleet.pool import Pool, default_jobs
from logdoctor.fleet.sources import Source, archive_sources, chunks_of, is_url, sentence
from logdoctor.fleet.work import WorkOptions
from logdoctor.reading.compression import decompressed

CHUNK = 10_000
"""Logs of one Ray dataset; the driver's memory depends on it, not on the number of logs."""
FILES_PER_BLOCK = 16
LARGE = 64 << 20
"""Files above this are not read into Ray's object store: the actor streams them itself."""
_UNPACKED_BY_NAME = re.compile(r"\.(?:gz|tgz|zst|tzst|bz2|lz4|br|snappy)$", re.IGNORECASE)
"""Files that Ray's reader would decompress whole, and fail on when they are cut: the actor streams these too."""
_ACTOR_CPUS, _READ_CPUS = 0.75, 0.25
"""One processor has room for an actor and for the task that reads ahead of it."""
_PIECE = 1 << 20


class RayEngine:
    """Diagnoses sources on a Ray cluster: that of `RAY_ADDRESS`, one that runs here, or one of its own."""

    def __init__(self, options: WorkOptions, jobs: int, versions: tuple[str, str]) -> None:
        """`jobs` is the number of actors; 0 for as many as the cluster has processors."""
        self._options = options
        self._jobs = jobs
        self._versions = versions
        self._started = False
        self.notes: list[str] = []
        """What Ray could not do and was done here instead."""

    def __enter__(self) -> RayEngine:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would tell the network of every run
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # its C++ part writes to standard error
        try:
            import ray
            import ray.data
        except ImportError as error:
            raise FleetError("--engine ray needs Ray: pip install '.[ray]' in the checkout") from error
        if not ray.is_initialized():
            try:
                ray.init(logging_level=logging.ERROR, log_to_driver=False)
            except Exception as error:  # Ray has no common base for what can be wrong with a cluster
                raise FleetError(f"Ray does not start or answer: {_first_line(error)}") from error
            self._started = True
        for name in ("ray", "ray.data"):
            logging.getLogger(name).setLevel(logging.ERROR)
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        # A file that cannot be read must not end the others; what is missing at the end is read here.
        context.max_errored_blocks = -1
        return self

    def __exit__(self, *_: object) -> None:
        if self._started:
            import ray

            ray.shutdown()

    def run(self, sources: Iterable[Source]) -> Iterator[Numbered]:
        """Yield the position of a source and its lines, as they come."""
        numbered = enumerate(sources)
        with Pool(self._options, self._jobs or default_jobs(), self._versions) as here:
            while chunk := list(islice(numbered, CHUNK)):
                todo = {number: source for number, source in chunk if not source.problem}
                yield from _on_pool(here, {number: source for number, source in chunk if source.problem})
                for lines in self._on_ray(todo):
                    todo.pop(lines[0], None)
                    yield lines
                if todo:
                    self.notes.append(f"not done by Ray and read here instead: {len(todo)} of the logs")
                yield from _on_pool(here, todo)

    def _on_ray(self, todo: dict[int, Source]) -> Iterator[Numbered]:
        """Yield what Ray gets done; what it does not is missing."""
        whole = {number: source for number, source in todo.items() if _read_whole(source)}
        streamed = {number: source for number, source in todo.items() if number not in whole}
        for part, read in ((whole, _read_files), (streamed, _name_files)):
            if not part:
                continue
            try:
                yield from self._dataset(part, read)
            except Exception as error:  # the cluster is lost, or Ray has a fault
                self.notes.append(f"Ray gave up: {_first_line(error)}")

    def _dataset(self, part: dict[int, Source], read: Callable[[list[str]], Any]) -> Iterator[Numbered]:
        import ray

        table = {_ray_path(source.path): (number, source) for number, source in part.items()}
        processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
        size = {"size": self._jobs} if self._jobs else {"min_size": 1, "max_size": processors}
        # By reference: what an actor is made from must still be there when it is made anew on another node.
        kept = ray.put(table)
        dataset = read(list(table)).map_batches(
            _Actor,
            fn_constructor_args=(self._options, self._versions, [kept]),
            batch_size=FILES_PER_BLOCK,
            batch_format="pyarrow",
            num_cpus=_ACTOR_CPUS,
            compute=ray.data.ActorPoolStrategy(**size),
        )
        seen: set[int] = set()
        for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
            rows = zip(batch.column("number").to_pylist(), batch.column("line").to_pylist(), strict=True)
            for number, lines in groupby(rows, key=lambda row: row[0]):
                if number not in seen:  # a block that was lost and redone may come twice
                    seen.add(number)
                    yield number, tuple(line for _, line in lines if line)

    def expand_url(self, url: str) -> Iterator[Source]:
        """Yield the logs below an address of an object store, by name as in a directory."""
        from pyarrow import fs

        try:
            store, path = fs.FileSystem.from_uri(url)
            info = store.get_file_info(path)
            if info.type == fs.FileType.Directory:
                found = store.get_file_info(fs.FileSelector(path, recursive=True))
                files = sorted((one for one in found if one.type == fs.FileType.File), key=lambda one: one.path)
            else:
                files = [info]
        except (OSError, ValueError) as error:
            yield Source(url, problem=sentence(error))
            return
        if not files or info.type == fs.FileType.NotFound:
            yield Source(url, problem="does not exist, or holds nothing")
            return
        base = url.rstrip("/")
        for one in files:
            inside = one.path[len(path.rstrip("/")) :].strip("/") if one.path != path else ""
            if inside and any(part.startswith(".") for part in inside.split("/")):
                continue
            name = f"{base}/{inside}" if inside else url
            below = inside.split("/")[0] if "/" in inside else ""
            if is_archive_name(name):
                yield Source(name, path=name, below=below, archive=True)
            elif not inside or is_log_name(name) or (may_be_log(name) and _starts_like_log(store, one.path)):
                yield Source(name, path=name, below=below)


class _Actor:
    """Diagnoses batches of files inside Ray."""

    def __init__(self, options: WorkOptions, versions: tuple[str, str], kept: list[Any]) -> None:
        import ray

        self._pool = Pool(options, 1, versions)
        self._table: dict[str, tuple[int, Source]] = ray.get(kept[0])

    def __call__(self, batch: Any) -> Any:
        import pyarrow

        contents = batch.column("bytes").to_pylist() if "bytes" in batch.column_names else None
        numbers: list[int] = []
        lines: list[bytes] = []
        for position, path in enumerate(batch.column("path").to_pylist()):
            number, source = _entry(self._table, path)
            data = None if contents is None else contents[position]
            for _, made in self._pool.run(_opened(source, data)):
                numbers += [number] * len(made)
                lines += made
            if source.archive and number not in numbers[-1:]:
                # An archive without a log: a row tells that it was looked at.
                numbers.append(number)
                lines.append(b"")
        columns = {"number": pyarrow.array(numbers, pyarrow.int64()), "line": pyarrow.array(lines, pyarrow.binary())}
        return pyarrow.table(columns)


def _opened(source: Source, data: bytes | None) -> Iterator[Source]:
    """Yield the source with its bytes, or the logs of an archive."""
    if source.archive:
        yield from archive_sources(source.name, _archive_chunks(source, data), source.below)
    elif data is not None:
        yield replace(source, pieces=iter([data]))
    elif is_url(source.path):
        yield replace(source, pieces=_pieces(source.path))
    else:
        yield source


def _archive_chunks(source: Source, data: bytes | None) -> Callable[[Callable[[str], None]], Iterator[bytes]]:
    import io

    if data is not None:
        return lambda remark: decompressed(io.BytesIO(data), _PIECE, remark)
    if not is_url(source.path):
        return chunks_of(source.path)

    def read(remark: Callable[[str], None]) -> Iterator[bytes]:
        from pyarrow import fs

        store, path = fs.FileSystem.from_uri(source.path)
        with store.open_input_stream(path, compression=None) as stream:
            yield from decompressed(stream, _PIECE, remark)

    return read


def _on_pool(pool: Pool, todo: dict[int, Source]) -> Iterator[Numbered]:
    """Diagnose on this machine what Ray did not."""
    for number, source in todo.items():
        lines = [line for _, made in pool.run(_opened(source, None)) for line in made]
        yield number, tuple(lines)


def _entry(table: dict[str, tuple[int, Source]], path: str) -> tuple[int, Source]:
    """Find the source of a path as Ray's reader gives it back: of an address perhaps without its scheme."""
    if path in table:
        return table[path]
    bare = path.lstrip("/")
    return next(entry for known, entry in table.items() if known.partition("://")[2].lstrip("/") == bare)


def _read_files(paths: list[str]) -> Any:
    import ray.data

    blocks = -(-len(paths) // FILES_PER_BLOCK)
    return ray.data.read_binary_files(
        paths, include_paths=True, ignore_missing_paths=True, num_cpus=_READ_CPUS, override_num_blocks=blocks
    )


def _name_files(paths: list[str]) -> Any:
    import ray.data

    blocks = -(-len(paths) // FILES_PER_BLOCK)
    return ray.data.from_items([{"path": path} for path in paths], override_num_blocks=blocks)


def _pieces(url: str) -> Iterator[bytes]:
    from pyarrow import fs

    store, path = fs.FileSystem.from_uri(url)
    with store.open_input_stream(path, compression=None) as stream:
        while piece := stream.read(_PIECE):
            yield piece


def _starts_like_log(store: Any, path: str) -> bool:
    try:
        with store.open_input_stream(path, compression=None) as stream:
            return looks_like_log(stream.read(SNIFFED))
    except OSError:
        return False


def _read_whole(source: Source) -> bool:
    return not _UNPACKED_BY_NAME.search(source.path) and _size(source) <= LARGE


def _size(source: Source) -> int:
    try:
        if is_url(source.path):
            from pyarrow import fs

            store, path = fs.FileSystem.from_uri(source.path)
            return int(store.get_file_info(path).size or 0)
        return Path(source.path).stat().st_size
    except (OSError, ValueError):
        return 0


def _ray_path(path: str) -> str:
    # A relative path would be looked for in the directories of Ray's workers.
    return path if is_url(path) else str(Path.cwd() / path)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
