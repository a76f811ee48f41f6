"""What the rewriter says of a launch, in simplified Chinese, by the English templates; see `phrases`."""

from __future__ import annotations

REASONS: tuple[tuple[str, str], ...] = (
    ("another remedy of this finding comes first", "同一发现的另一条修复优先"),
    ("the changed launch could not be read again", "修改后的启动命令无法再次读取"),
    ("no argument of vLLM; to be changed by hand", "不是 vLLM 的参数；请手动修改"),
    ("this launch did not write this log", "这份日志不是由这个启动命令产生的"),
    ("the log does not decide between the causes", "日志无法在几个原因之间作出判定"),
    ("advice", "仅为建议"),
    ("a value is to be filled in", "有一个值需要填写"),
    ("its value is to be filled in", "它的值需要填写"),
    ("it makes the log say more and mends nothing", "它只让日志写得更多，不修复任何问题"),
    ("its value is this machine's: to be set by hand", "它的值取决于这台机器：请手动设置"),
    ("another host would serve the model: decide by hand", "模型会改由另一台主机提供：请自行决定"),
    ("two changes would be written at the same place", "两处修改会写在同一个位置"),
    (
        "the list of arguments is laid out in a way that cannot be changed safely",
        "参数列表的写法无法安全地修改",
    ),
    ("{} is passed on from where the launch runs; set it there", "{0} 由运行启动命令的环境传入；请在那里设置"),
    ("the launch has no place for the variable {}", "启动命令里没有放变量 {0} 的位置"),
    ("it names no variable with its value", "它没有写出带值的变量"),
    ("it belongs into the build of the image", "它属于镜像的构建过程"),
    ("the launch names no image", "启动命令没有写出镜像"),
    ("the launch uses another image, {}", "启动命令用的是另一个镜像：{0}"),
    ("it names no flag", "它没有写出参数"),
    ("the launch has no place for arguments", "启动命令里没有放参数的位置"),
    (
        "the model is known only where the launch runs; put it right behind serve",
        "模型只有在运行启动命令的地方才知道；请把它放在 serve 之后",
    ),
    ("the text needs quotes, and the place where it belongs has none", "这段文字需要引号，而它的位置没有引号"),
    (
        "the command stands in a word that is put together from several quotations",
        "命令写在由几段引号拼成的一个词里",
    ),
)

UNKNOWN: tuple[tuple[str, str], ...] = (
    ("what extends brings", "extends 带来的内容"),
    (
        "a part of the service stands at an anchor; a change there reaches every service that uses it",
        "该服务的一部分写在锚点处；修改会影响所有引用它的服务",
    ),
    (
        "service {} is read; the file has {} vLLM services, also: {}",
        "读取的是服务 {0}；文件里有 {1} 个 vLLM 服务，另有：{2}",
    ),
    (
        "{} is read; the manifest has {} vLLM containers, also: {}",
        "读取的是 {0}；清单里有 {1} 个 vLLM 容器，另有：{2}",
    ),
    ("the file starts {} servers; only the first is read", "文件启动了 {0} 个服务器；只读取第一个"),
    (
        "the command ends before {} in line {}: the line above does not end in a backslash",
        "命令在第 {1} 行的 {0} 之前就结束了：上一行末尾没有反斜杠",
    ),
    (
        "a blank or a comment after a backslash ends the command too early (line {})",
        "第 {0} 行反斜杠之后的空格或注释使命令提前结束",
    ),
    ("a blank or a comment after a backslash ends the command too early", "反斜杠之后的空格或注释使命令提前结束"),
    ("the variables of the host", "主机上的变量"),
    ("the variables of {}", "{0} 里的变量"),
    ("what {} stands for", "{0} 代表什么"),
    ("the model", "模型"),
)
