"""The fixed words of an explanation in simplified Chinese, by the English ones."""

from __future__ import annotations

import re
from collections.abc import Mapping

CHINESE: Mapping[str, str] = {
    "What you see": "现象",
    "Why": "原因",
    "Fix": "修复",
    "Check that it worked": "验证",
    "When this is wrong": "何时不成立",
    "References": "参考",
    "add": "添加",
    "set": "设置",
    "remove": "去掉",
    "image": "镜像",
    "on the host": "在主机上",
    "configuration": "配置",
    "certain": "确定",
    "likely": "很可能",
    "possible": "有可能",
    "source": "源代码",
    "maintainers": "维护者说明",
    "field-report": "现场报告",
    "any version of vLLM": "任何版本的 vLLM",
    "Nothing to change.": "无需修改。",
    "Field reports only.": "只有现场报告。",
    "The line does not come back on the next start.": "下次启动不再出现这一行。",
    "Harmless: it is never the reason why a server does not start.": "无害：它从来不是服务器启动不了的原因。",
    "It follows from another failure; look for the cause above it.": "它由另一个故障引起；请在它上方寻找原因。",
    "The log may not state the facts it depends on; the report then says which.": (
        "日志可能没有说明它所依据的事实；报告会指出是哪些。"
    ),
    "The claim rests on field reports, not on vLLM's source or its maintainers.": (
        "依据是现场报告，不是 vLLM 的源代码或维护者的说明。"
    ),
    "No case is known.": "没有已知的例外。",
    "It is the most frequent cause of this text, not the only possible one.": (
        "这是这段文字最常见的原因，但不是唯一可能的原因。"
    ),
    "the suggested length": "建议的长度",
    "the suggested share": "建议的份额",
    "the suggested number": "建议的数目",
    "the suggested size": "建议的大小",
    "what fits, by precision": "各精度能否放下",
    "the model": "模型",
    "the served name": "服务名",
    "this model": "该模型",
    "this GPU": "这块 GPU",
    "this GPU's": "该 GPU 的值",
    "of this image": "（镜像中的版本）",
    "the usual time is told": "会给出通常用时",
    "its last line": "最后一行",
    "some phase": "某个阶段",
    "N minutes": "N 分钟",
    "its address": "它的地址",
    "the server failed": "服务器失败",
    "the server came up": "服务器已经起来",
    "it died without a word": "没有任何信息就结束了",
    "the log holds only what follows from a cause above it": "日志里只有上方原因引起的后果",
    "the beginning of the start is missing": "缺少启动的开头",
    "the log's numbers give a value that fits": "日志中的数字给出了合适的值",
    "the log's numbers give no value that fits": "日志中的数字没有给出合适的值",
    "the GPU's compute capability": "GPU 的计算能力",
    "the GPU": "GPU",
    "the vLLM version": "vLLM 的版本",
    "the model's name": "模型名",
    "the number of GPUs": "GPU 的数量",
    "what the memory numbers say": "显存数字说明的情况",
    "the platform": "平台",
}
_TEMPLATES = (
    (re.compile(r"phase (.+)"), "阶段 {0}"),
    (re.compile(r"basis: (.+)"), "依据：{0}"),
    (re.compile(r"Explained away by: (.+)\."), "由这些引起：{0}。"),
    (re.compile(r"More specific than: (.+)\."), "比这些更具体：{0}。"),
    (
        re.compile(r"The same log fits (.{1,500}?)\. (.{1,300}) decides; it is this one if (.{1,300})\."),
        "同样的日志也符合 {0}。用 {1} 判定；{2}即为本项。",
    ),
    (re.compile(r"not together with (.+)"), "不要与 {0} 同时使用"),
    (re.compile(r"not if (.+)"), "除非 {0}"),
    (re.compile(r"if (.+)"), "如果 {0}"),
    (re.compile(r"the start has not come to (.+)"), "启动还没有到 {0}"),
    (re.compile(r"not: (.+)"), "并非：{0}"),
    (re.compile(r"the variable (\S+) (.+)"), "变量 {0} {1}"),
    (re.compile(r"(.+) is not known"), "{0} 未知"),
    (re.compile(r"(.+) is known"), "{0} 已知"),
    (re.compile(r"(.+) is (?:true|on)"), "{0} 为真"),
    (re.compile(r"(.+) is (?:false|off)"), "{0} 为假"),
    (re.compile(r"(.{1,600}) matches (.+)"), "{0} 符合 {1}"),
    (re.compile(r"(.{1,600}?) is (.+)"), "{0} 是 {1}"),
    (re.compile(r"(.+?) ([<>=!]=? ?.+)"), "{0} {1}"),
    (re.compile(r"(.{1,600}) or (.+)"), "{0} 或 {1}"),
)


def chinese(text: str) -> str:
    """Return one of the fixed texts, or a condition made of them, in Chinese; what is not known stays."""
    if text in CHINESE:
        return CHINESE[text]
    for pattern, other in _TEMPLATES:
        found = pattern.fullmatch(text)
        if found:
            return other.format(*map(chinese, found.groups()))
    return text
