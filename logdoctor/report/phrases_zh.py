"""The sentences of the diagnosis in simplified Chinese, by their English templates; see `phrases`.

The first template that fits counts, so a longer one stands before a shorter one that it contains. In the Chinese
text `{0}` is the first hole of the English one.
"""

from __future__ import annotations

CHINESE: tuple[tuple[str, str], ...] = (
    # the verdict in one sentence
    ("no vLLM start recognised in the input", "输入中没有发现 vLLM 的启动过程"),
    ("{+}; this decides: {}", "{0}；用这个来判定：{1}"),
    (
        "up: started in {} s, KV cache {} tokens, concurrency {}x",
        "已就绪：启动用时 {0} 秒，KV 缓存 {1} 个 token，并发 {2} 倍",
    ),
    ("up: started in {} s, KV cache {} tokens", "已就绪：启动用时 {0} 秒，KV 缓存 {1} 个 token"),
    ("up: started in {} s", "已就绪：启动用时 {0} 秒"),
    ("up: KV cache {} tokens, concurrency {}x", "已就绪：KV 缓存 {0} 个 token，并发 {1} 倍"),
    ("up: {+}", "已就绪：{0}"),
    ("up, but not as it should be: {+}", "已就绪，但状态不正常：{0}"),
    ("up, but not as it should be", "已就绪，但状态不正常"),
    ("still starting when the log ends, in the phase {}, shard {} of {}", "日志结束时仍在启动，阶段 {0}，分片 {1}/{2}"),
    ("still starting when the log ends, in the phase {}", "日志结束时仍在启动，阶段 {0}"),
    ("still starting when the log ends: {+}", "日志结束时仍在启动：{0}"),
    ("still starting when the log ends", "日志结束时仍在启动"),
    ("starting, and nothing moves any more, in the phase {}", "正在启动，但不再有进展，阶段 {0}"),
    ("starting, and nothing moves any more: {+}", "正在启动，但不再有进展：{0}"),
    ("did not start: {+}", "启动失败：{0}"),
    ("did not start", "启动失败"),
    ("died after it was up: {+}", "就绪之后崩溃：{0}"),
    ("died after it was up", "就绪之后崩溃"),
    ("was stopped on request: {+}", "按要求停止：{0}"),
    ("was stopped on request", "按要求停止"),
    ("cannot be told from this excerpt: {+}", "从这段日志无法判定：{0}"),
    ("cannot be told from this excerpt", "从这段日志无法判定"),
    ("up", "已就绪"),
    (
        "the launch of vLLM {} cannot work as it is: {+} (and {} more)",
        "vLLM {0} 的这个启动命令不能工作：{1}（另有 {2} 项）",
    ),
    ("the launch of vLLM {} cannot work as it is: {+}", "vLLM {0} 的这个启动命令不能工作：{1}"),
    ("the launch cannot work as it is: {+}", "这个启动命令不能工作：{0}"),
    (
        "the launch of vLLM {} holds nothing known to keep the server from starting",
        "vLLM {0} 的这个启动命令里没有已知会妨碍启动的问题",
    ),
    ("the launch holds nothing known to keep the server from starting", "这个启动命令里没有已知会妨碍启动的问题"),
    # remarks about the input
    (
        "The start of this boot is not in the input; what happened before its first line is unknown.",
        "输入中没有这次启动的开头；第一行之前发生了什么无从得知。",
    ),
    (
        "Nothing of standard error is in the input; take the log with: docker logs NAME 2>&1",
        "输入中没有标准错误的内容；请这样取日志：docker logs NAME 2>&1",
    ),
    ("{} characters were not valid UTF-8 and are shown as {}.", "有 {0} 个字符不是有效的 UTF-8，显示为 {1}。"),
    ("{} NUL bytes were left out.", "略去了 {0} 个 NUL 字节。"),
    (
        "Nothing is applied to the launch: the log does not decide between the causes.",
        "启动命令未作修改：日志无法在几个原因之间作出判定。",
    ),
    ("Not applied to the launch, to be done by hand: {}", "未写入启动命令，请手动处理：{0}"),
    (
        "The launch does not tell vLLM's version; give --fact vllm.version=… to have it compared.",
        "启动命令没有说明 vLLM 的版本；用 --fact vllm.version=… 给出后即可对照。",
    ),
    (
        "The GPU is not known; give --fact gpu.name=… or --nvidia-smi FILE to have it compared.",
        "不知道是哪种 GPU；用 --fact gpu.name=… 或 --nvidia-smi FILE 给出后即可对照。",
    ),
    (
        "{} patterns ran into their time limit and were skipped on some records.",
        "有 {0} 个模式超时，在部分记录上被跳过。",
    ),
    ("{} further findings of this boot, one of many, are left out.", "这次启动（多次之一）另有 {0} 项发现被略去。"),
    ("{} further findings of this boot are left out.", "这次启动另有 {0} 项发现被略去。"),
    (
        "{} further arguments and variables in this log were not looked at.",
        "这份日志里另有 {0} 个参数和变量没有查看。",
    ),
    (
        "After {} s of following, the start had not settled; it was in the phase {}.",
        "跟踪 {0} 秒后，启动仍未有结果；当时处于阶段 {1}。",
    ),
    (" (the server outlived it)", "（服务器挺过了它）"),
    # what the database does not know
    ("The server ended and no known message tells why", "服务器已结束，没有已知的信息说明原因"),
    (
        "The log holds no error that could be taken for the cause. The last healthy line before it is line {}: {}",
        "日志里没有可以当作原因的错误。此前最后一条正常的日志在第 {0} 行：{1}",
    ),
    ("The log holds no error that could be taken for the cause.", "日志里没有可以当作原因的错误。"),
    (
        "{+} ended with this exception first. It was raised in {} ({}). It is not in the database."
        " The last healthy line before it is line {}: {}",
        "{0}最先以这个异常结束，抛出位置是 {1}（{2}）。数据库中没有它。此前最后一条正常的日志在第 {3} 行：{4}",
    ),
    (
        "{+} ended with this exception first. It was raised in {} ({}). It is not in the database.",
        "{0}最先以这个异常结束，抛出位置是 {1}（{2}）。数据库中没有它。",
    ),
    (
        "{+} ended with this exception first. It is not in the database."
        " The last healthy line before it is line {}: {}",
        "{0}最先以这个异常结束。数据库中没有它。此前最后一条正常的日志在第 {1} 行：{2}",
    ),
    ("{+} ended with this exception first. It is not in the database.", "{0}最先以这个异常结束。数据库中没有它。"),
    (
        "{+} reported this error first. It is not in the database. The last healthy line before it is line {}: {}",
        "{0}最先报告这个错误。数据库中没有它。此前最后一条正常的日志在第 {1} 行：{2}",
    ),
    ("{+} reported this error first. It is not in the database.", "{0}最先报告这个错误。数据库中没有它。"),
    ("The process {}", "进程 {0} "),
    ("A process", "某个进程"),
    ("Draft a signature for it from this log", "用这份日志为它起草一个特征"),
    # remedies and their conditions
    (
        "First apply the fix of {}, which turns the same knob; then look whether this is still there",
        "先采用 {0} 的修复，它改的是同一处；然后再看这个问题是否还在",
    ),
    # the memory budget
    ("this engine", "该引擎"),
    ("weights", "权重"),
    ("activations", "激活值"),
    ("activations and other", "激活值及其他"),
    ("libraries", "库"),
    ("graphs", "CUDA 图"),
    ("KV cache", "KV 缓存"),
    ("in use by others", "其他进程占用"),
    ("rest of this engine", "该引擎的其余部分"),
    ("reserved, unused", "已保留未使用"),
    ("the weights are too big for this card", "权重对这块卡来说太大"),
    ("one request of the full context length does not fit", "放不下一个满上下文长度的请求"),
    ("another process holds part of this card", "另一个进程占用了这块卡的一部分"),
    ("the KV cache left too little room for what comes after it", "KV 缓存给之后的步骤留得太少"),
    ("the largest step does not fit beside the weights", "最大的一步在权重之外放不下"),
    ("a request needed more than the trial run had foreseen", "某个请求需要的比试运行预计的多"),
    ("enough is free, but in pieces", "空闲足够，但都是碎片"),
    ("page cache and programs take from the same pool", "页缓存和其他程序也从同一个内存池里取"),
    ("adds up with this engine alone: the share is too small", "仅这个引擎就能对上账：份额太小"),
    ("driver, display and contexts take what is missing", "缺少的部分被驱动、显示和上下文占用"),
    (
        "does not add up: what another engine took meanwhile was counted as this one's",
        "对不上账：另一个引擎在此期间占用的被算到了这个引擎头上",
    ),
    (
        "--kv-cache-memory-bytes sets the KV cache and ignores the share",
        "--kv-cache-memory-bytes 直接决定 KV 缓存，不理会份额",
    ),
    ("{} GiB more than the share", "比份额多 {0} GiB"),
    ("{} GiB of KV cache wanted, {} left", "需要 {0} GiB 的 KV 缓存，只剩 {1}"),
    ("{} GiB wanted, {} free", "需要 {0} GiB，空闲 {1}"),
    ("the total is the card's, not the log's", "总量取自显卡资料，不是日志"),
    ("the share is this version's default", "份额是这个版本的默认值"),
    # what a rebuilt launch does not tell
    (
        "how the server was started: the command is rebuilt from the arguments that the log prints",
        "服务器是怎样启动的：命令由日志打印的参数重建",
    ),
    ("docker options, mounts and the image", "Docker 选项、挂载和镜像"),
    ("the environment variables", "环境变量"),
    ("most arguments: the log holds no line with them", "大部分参数：日志里没有列出它们的行"),
    ("the variables of the shell that runs this", "运行它的 shell 的变量"),
    ("the variables of config maps and secrets", "ConfigMap 和 Secret 里的变量"),
    ("the variables of env_file", "env_file 里的变量"),
    ("the value of {}", "{0} 的值"),
)
