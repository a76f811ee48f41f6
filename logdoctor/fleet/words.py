"""The words of the summary, by language; a key that is missing in one is taken from the English ones."""

from __future__ import annotations

from collections.abc import Mapping

from logdoctor.report.words import Words

ENGLISH: Mapping[str, str] = {
    "log": "{count} log",
    "logs": "{count} logs",
    "of_verdict": "{count} {verdict}",
    "span": "{first} to {last}",
    "more": "{text} and {count} more",
    "more_of": "  and {count} more {what}; --format json has all of them",
    "more_lines": "  and {count} more",
    "causes": "causes",
    "unknown": "unknown failures",
    "head.causes": "ROOT CAUSES",
    "head.unknown": "UNKNOWN FAILURES, not in the database",
    "head.gone": "GONE since the baseline",
    "head.not_read": "NOT READ",
    "head.starts": "STARTS OF THE DEPLOYMENT",
    "title.causes": "Root causes",
    "title.unknown": "Unknown failures",
    "title.gone": "Gone since the baseline",
    "stop": ".",
    "unknown_about": "Not in the database. A draft matches; a person has to say why.",
    "draft_title": "Draft signature",
    "not_read": "Not read: {logs}",
    "news.none": "no cause is new against the baseline of {logs}",
    "news.one": "{count} cause is new against the baseline of {logs}",
    "news.many": "{count} causes are new against the baseline of {logs}",
    "new": "new",
    "was": "was {count}",
    "nodes": "nodes",
    "hosts": "hosts",
    "pods": "pods",
    "directories": "directories",
    "versions": "vLLM",
    "gpus": "GPUs",
    "models": "models",
    "images": "images",
    "seen": "seen",
    "prints": "prints",
    "new_prints": "new prints",
    "earlier": "earlier",
    "earlier.one": "{count} boot before the last one of a log died of it too",
    "earlier.many": "{count} boots before the last one of a log died of it too",
    "examples": "logs",
    "phase": "phase",
    "draft": "draft",
    "to_add": "to add it",
    "to_add.how": "logdoctor signatures new LOG, or --format markdown for the whole draft",
    "before": "before",
    "severity": "severity",
    "cause": "cause",
    "where": "where",
    "ranks": "ranks",
    "verdict": "verdict",
    "time": "time",
    "began_here": "began here",
    "start": "start {number}: {how}",
    "start.dead": "{dead} of {nodes} logs failed",
    "start.alive": "{nodes} logs, none failed",
    "world": ", world size {size}",
    "undecided": "not decided: {reason}",
    "began": "began on {place}: {title} ({cause}); {reason}",
    "node_rank": "node rank {rank}",
    "rank": "rank {rank}",
    "process": "process {name}",
    "boot": "{verdict}, boot {boot}",
    "missing": "no log shows rank {ranks}",
}

CHINESE: Mapping[str, str] = {
    "log": "{count} 份日志",
    "logs": "{count} 份日志",
    "of_verdict": "{verdict} {count} 份",
    "span": "{first} 至 {last}",
    "more": "{text}，另有 {count} 个",
    "more_of": "  另有 {count} 个{what}；--format json 列出全部",
    "more_lines": "  另有 {count} 个",
    "causes": "原因",
    "unknown": "未知故障",
    "head.causes": "根本原因",
    "head.unknown": "未知故障（数据库中没有）",
    "head.gone": "基线之后不再出现",
    "head.not_read": "未能读取",
    "head.starts": "部署的各次启动",
    "title.causes": "根本原因",
    "title.unknown": "未知故障",
    "title.gone": "基线之后不再出现",
    "stop": "。",
    "unknown_about": "数据库中没有。草稿能匹配；原因要由人来写。",
    "draft_title": "特征草稿",
    "not_read": "未能读取：{logs}",
    "news.none": "与基线（{logs}）相比没有新的原因",
    "news.one": "与基线（{logs}）相比有 {count} 个新的原因",
    "news.many": "与基线（{logs}）相比有 {count} 个新的原因",
    "new": "新",
    "was": "原为 {count}",
    "nodes": "节点",
    "hosts": "主机",
    "pods": "Pod",
    "directories": "目录",
    "versions": "vLLM",
    "gpus": "GPU",
    "models": "模型",
    "images": "镜像",
    "seen": "出现时间",
    "prints": "指纹",
    "new_prints": "新指纹",
    "earlier": "更早",
    "earlier.one": "日志里最后一次之前还有 {count} 次启动因此失败",
    "earlier.many": "日志里最后一次之前还有 {count} 次启动因此失败",
    "examples": "日志",
    "phase": "阶段",
    "draft": "草稿",
    "to_add": "如何加入",
    "to_add.how": "logdoctor signatures new LOG；--format markdown 给出完整草稿",
    "before": "之前",
    "severity": "严重程度",
    "cause": "原因",
    "where": "位置",
    "ranks": "rank",
    "verdict": "结论",
    "time": "时间",
    "began_here": "由此开始",
    "start": "第 {number} 次启动：{how}",
    "start.dead": "{nodes} 份日志中有 {dead} 份失败",
    "start.alive": "{nodes} 份日志，没有失败",
    "world": "，进程总数 {size}",
    "undecided": "无法判定",
    "began": "始于 {place}（{cause}）",
    "node_rank": "节点 rank {rank}",
    "rank": "rank {rank}",
    "process": "进程 {name}",
    "boot": "{verdict}，第 {boot} 次启动",
    "missing": "没有日志显示 rank {ranks}",
}


class FleetWords:
    """The words of the summary in one language; a call fills in the numbers."""

    def __init__(self, lang: str = "en") -> None:
        self._words = {**ENGLISH, **(CHINESE if lang == "zh" else {})}
        self._report = Words(lang)

    def __call__(self, key: str, **values: object) -> str:
        """Return the word for `key`, its `{places}` filled in."""
        return self._words[key].format(**values)

    def versions(self, tool: str, database: str) -> str:
        """Name the releases of the tool and of its database."""
        return self._report("versions", tool=tool, database=database)

    def verdict(self, name: str) -> str:
        """Return a verdict's word; what is none (an unreadable log) stays as it is."""
        return self._report.get(f"verdict.{name}", name).lower()

    def phase(self, name: str) -> str:
        """Return a phase's word."""
        return self._report.get(f"short.{name}", name)
