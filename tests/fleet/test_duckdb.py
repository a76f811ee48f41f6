"""The queries of the README, on records as they are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.fleet.build import READY, SHARD, lines, made, record_of, unknown

duckdb = pytest.importorskip("duckdb")

TOP_CAUSES = """
SELECT coalesce(node, host, directory, source) AS node, root_cause.id AS cause, count(*) AS logs
FROM read_json('fleet.jsonl', format = 'newline_delimited')
WHERE root_cause IS NOT NULL
GROUP BY ALL ORDER BY logs DESC, node, cause
"""
WEEK_OVER_WEEK = """
SELECT root_cause.id AS cause,
       count(*) FILTER (filename = 'last-week.jsonl') AS before,
       count(*) FILTER (filename = 'this-week.jsonl') AS now
FROM read_json(['last-week.jsonl', 'this-week.jsonl'], format = 'newline_delimited', filename = true)
WHERE root_cause IS NOT NULL
GROUP BY ALL ORDER BY now - before DESC, cause
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, *records: dict[str, Any]) -> None:
    Path(name).write_bytes(lines(records))


def test_top_causes_by_node() -> None:
    write(
        "fleet.jsonl",
        *(record_of(SHARD, f"{n}.log", below="n1") for n in range(3)),
        record_of(SHARD, "d.log", below="n2"),
        record_of(unknown(), "e.log", below="n2"),
        record_of(READY, "f.log", below="n2"),
        made("g.log", verdict=None, error="does not exist", exit_status=2),
    )
    assert duckdb.sql(TOP_CAUSES).fetchall() == [
        ("n1", "weights-shard-truncated", 3),
        ("n2", "unknown-failure", 1),
        ("n2", "weights-shard-truncated", 1),
    ]


def test_week_over_week() -> None:
    write("last-week.jsonl", made("a", "shard"), made("b", "port"), made("c"))
    write("this-week.jsonl", made("a", "shard"), made("b", "shard"), made("c", "new"))
    assert duckdb.sql(WEEK_OVER_WEEK).fetchall() == [("new", 0, 1), ("shard", 1, 2), ("port", 1, 0)]


def test_findings_can_be_unfolded() -> None:
    write("fleet.jsonl", record_of(SHARD, "a.log"), record_of(READY, "b.log"))
    query = "SELECT id, count(*) FROM (SELECT unnest(findings) AS id FROM 'fleet.jsonl') GROUP BY id ORDER BY id"
    assert ("weights-shard-truncated", 1) in duckdb.sql(query).fetchall()


def test_times_are_times_where_the_log_states_a_year() -> None:
    log = "".join(f"2026-11-30T10:00:00Z {line}\n" for line in SHARD.splitlines())
    write("fleet.jsonl", record_of(log, "a.log"))
    query = "SELECT date_trunc('week', try_cast(first_seen AS TIMESTAMP)) FROM 'fleet.jsonl'"
    ((week,),) = duckdb.sql(query).fetchall()
    assert week.isoformat()[:10] == "2026-11-30"


def test_the_readme_has_these_queries() -> None:
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    if "read_json(" not in readme:
        pytest.skip("the README has no section on DuckDB")
    shown = [" ".join(block.split()) for block in re.findall(r"```sql\n(.*?)```", readme, re.DOTALL)]
    for query in (TOP_CAUSES, WEEK_OVER_WEEK):
        assert " ".join(query.split()) in shown
