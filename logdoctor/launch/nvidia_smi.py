"""Read what `nvidia-smi` prints: its table, `-L`, `-q`, or `--query-gpu=… --format=csv`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from logdoctor.launch.errors import LaunchError
from logdoctor.model import Fact, FactValue

MAX_CHARACTERS = 2 * 1024 * 1024
_BANNER = re.compile(r"Driver Version\s*:\s*(?P<driver>\d[\d.]*)\s+(?:\|\s*)?CUDA Version\s*:\s*(?P<cuda>\d[\d.]*)")
_ROW = re.compile(r"^\|\s+\d+\s+(?P<name>\S[^\n|]{0,80}?)\s+(?:On|Off|N/A)\s*\|", re.MULTILINE)
_USED = re.compile(r"\|\s*(?P<used>\d+)MiB\s*/\s*(?P<total>\d+)MiB\s*\|")
_LISTED = re.compile(r"^GPU \d+: (?P<name>\S.*?) \(UUID", re.MULTILINE)
_FIELD = re.compile(r"^\s*(?P<key>[A-Z][\w .]{0,80}?)\s*:\s*(?P<value>\S.{0,300}?)\s*$", re.MULTILINE)
_MIB = re.compile(r"(\d+)(?:\.\d+)?\s*(?:MiB)?")


@dataclass(frozen=True, slots=True)
class Devices:
    """The GPUs of a machine."""

    names: tuple[str, ...] = ()
    memory_mib: tuple[int, ...] = ()
    """Total memory of each, where it is told (not on GB10: its memory is the system's)."""
    used_mib: tuple[int, ...] = ()
    driver: str = ""
    cuda: str = ""
    """The newest CUDA that the driver can run."""
    capability: str = ""


def read_nvidia_smi(text: str) -> dict[str, Fact]:
    """Return the facts about the GPUs; raises `LaunchError` when the text is not what nvidia-smi prints."""
    if len(text) > MAX_CHARACTERS:
        raise LaunchError("the nvidia-smi output is too big")
    devices = _from_csv(text) or _from_query(text) or _from_table(text)
    if not devices.names:
        raise LaunchError(
            "no GPU in the nvidia-smi output; give what nvidia-smi, nvidia-smi -q or nvidia-smi -L prints"
        )
    values: dict[str, FactValue] = {"gpu.name": devices.names[0], "gpu.count": len(devices.names)}
    if devices.memory_mib:
        values["gpu.memory_gib"] = round(min(devices.memory_mib) / 1024, 2)
    if devices.used_mib:
        values["gpu.used_gib"] = round(max(devices.used_mib) / 1024, 2)
    if devices.capability:
        values["gpu.compute_capability"] = devices.capability
    if devices.driver:
        values["gpu.driver"] = devices.driver
    if devices.cuda:
        values["cuda.driver_version"] = devices.cuda
    return {key: Fact(key, value, origin="given") for key, value in values.items()}


def _mib(text: str) -> int | None:
    found = _MIB.fullmatch(text.strip())
    return int(found[1]) if found and len(found[1]) < 10 else None


def _numbers(texts: Iterator[str]) -> tuple[int, ...]:
    return tuple(number for text in texts if (number := _mib(text)) is not None)


def _from_table(text: str) -> Devices:
    banner = _BANNER.search(text)
    names = tuple(found["name"] for found in _ROW.finditer(text))
    names = names or tuple(found["name"] for found in _LISTED.finditer(text))
    return Devices(
        names=tuple(_plain(name) for name in names),
        memory_mib=_numbers(found["total"] for found in _USED.finditer(text)),
        used_mib=_numbers(found["used"] for found in _USED.finditer(text)),
        driver=banner["driver"] if banner else "",
        cuda=banner["cuda"] if banner else "",
    )


def _plain(name: str) -> str:
    return re.sub(r"\s{2,}.*|\s*\.\.\.$", "", name)


def _from_query(text: str) -> Devices | None:
    """Read `nvidia-smi -q`: sections of `Key : value`."""
    if "Product Name" not in text:
        return None
    names: list[str] = []
    memory: list[str] = []
    used: list[str] = []
    single = {"Driver Version": "", "CUDA Version": ""}
    section = ""
    for line in text.splitlines():
        field = _FIELD.match(line)
        if field is None:
            section = line.strip() or section
            continue
        key, value = field["key"], field["value"]
        if key == "Product Name":
            names.append(value)
        elif key in single and not single[key]:
            single[key] = value
        elif section == "FB Memory Usage" and key in ("Total", "Used"):
            (memory if key == "Total" else used).append(value)
    totals, busy = _numbers(iter(memory)), _numbers(iter(used))
    return Devices(tuple(names), totals, busy, single["Driver Version"], single["CUDA Version"])


def _from_csv(text: str) -> Devices | None:
    """Read `--query-gpu=… --format=csv` with its header line."""
    lines = [line for line in text.splitlines() if line.strip()]
    header = [re.sub(r"\s*\[.*", "", cell.strip()) for cell in lines[0].split(",")] if lines else []
    if "name" not in header and "gpu_name" not in header:
        return None
    rows = [[cell.strip() for cell in line.split(",")] for line in lines[1:]]
    rows = [row for row in rows if len(row) == len(header)]

    def column(*keys: str) -> list[str]:
        place = next((header.index(key) for key in keys if key in header), None)
        return [row[place] for row in rows] if place is not None else []

    return Devices(
        names=tuple(column("name", "gpu_name")),
        memory_mib=_numbers(iter(column("memory.total"))),
        used_mib=_numbers(iter(column("memory.used"))),
        driver=next(iter(column("driver_version")), ""),
        capability=next(iter(column("compute_cap")), ""),
    )
