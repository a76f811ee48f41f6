"""JSON Lines: the diagnosis as one compact record below 64 KiB, the same that `logdoctor fleet` writes for a log.

Several runs append to one file, and a table can be made of it. What a diagnosis does not hold (the bytes read, the
first and last time stamp) is null here, and the lines are counted to the end of the last start.
"""

from __future__ import annotations

import json

from logdoctor.model import Diagnosis
from logdoctor.report.json import defuse_strings
from logdoctor.report.options import RenderOptions
from logdoctor.report.record import MAX_BYTES, base_record, earlier_causes, encode, failed_boots, fill_diagnosis
from logdoctor.report.status import exit_status


def render(diagnosis: Diagnosis, options: RenderOptions) -> str:
    """Return the record of this log as one line."""
    versions = (diagnosis.tool_version, diagnosis.database_version)
    record = base_record(diagnosis.source, diagnosis.source[:300], versions)
    fill_diagnosis(record, diagnosis, earlier_causes(diagnosis))
    record.update(
        exit_status=exit_status(diagnosis, options.fail_on),
        boots=len(diagnosis.boots),
        boots_failed=failed_boots(diagnosis),
        lines=max((boot.lines[1] for boot in diagnosis.boots), default=0),
        bytes=None,
    )
    line = _written(encode(record), options)
    if len(line.encode()) > MAX_BYTES:  # escapes made it longer: leave out what `encode` would
        line = _written(encode({**record, "unknown": None, "notes": [], "cut": True}), options)
    return line


def _written(line: bytes, options: RenderOptions) -> str:
    text = line.decode()
    if options.ascii and not text.isascii():
        text = json.dumps(json.loads(text), separators=(",", ":")) + "\n"
    return defuse_strings(text)
