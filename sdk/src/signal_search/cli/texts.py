"""Everything the command line says, in English and Chinese: one table."""

from collections.abc import Mapping

_TABLE: Mapping[str, tuple[str, str]] = {
    # parts of an answer
    "no_answer": (
        "No answer: nothing that was found supports one.",
        "没有答案：所得材料均不足以支持结论。",
    ),
    "findings": ("Findings", "发现"),
    "sources": ("Sources", "来源"),
    "weight": ("weight {value:.4f}", "权重 {value:.4f}"),
    "retracted": ("RETRACTED", "已撤稿"),
    "conflicts": ("Conflicts", "冲突"),
    "uncertain": ("Open and uncertain", "未决与存疑"),
    "confidence": ("Confidence: {value:.2f}", "置信度：{value:.2f}"),
    "stopped": ("Stopped: {text} ({reason})", "停止原因：{text}（{reason}）"),
    "exhausted": (
        "The budget or the deadline ended first; coverage may be incomplete.",
        "预算或期限先到，覆盖可能不完整。",
    ),
    "spent": (
        "Spent: {tokens} tokens ({counting}), {calls} calls, {fetches} fetches, {bytes} bytes, {rounds} rounds",
        "消耗：{tokens} 词元（{counting}），{calls} 次调用，{fetches} 次抓取，{bytes} 字节，{rounds} 轮",
    ),
    "warnings": ("Warnings", "警告"),
    # searches
    "no_hits": ("Nothing was found.", "没有找到结果。"),
    "undated": (
        "Date unknown, so perhaps not fresh ({count}):",
        "日期未知，可能不在时间范围内（{count}）：",
    ),
    "side": ("{query}: {kept} of {found} papers", "{query}：{found} 篇中的 {kept} 篇"),
    "keyword": (
        "{target} · {keyword}: {status}, {count} independent results",
        "{target} · {keyword}：{status}，独立结果 {count} 组",
    ),
    "keyword.satisfied": ("satisfied", "已满足"),
    "keyword.exhausted": ("exhausted", "未见可续路径"),
    "keyword.continue": ("still open", "可继续"),
    "keyword.pending": ("not decided", "待判断"),
    "adaptive_sum": (
        "adaptive search: {shown} of {total} shown; {reason}; keyword search {sufficient}; completeness not assessed",
        "自适应检索：显示 {shown}/{total} 条；{reason}；关键词检索{sufficient}；未评估答案是否完整",
    ),
    "sufficient": ("satisfied", "已满足"),
    "insufficient": ("unfinished or exhausted", "未完成或已穷尽"),
    "next_page": ("more: --cursor {cursor}", "更多：--cursor {cursor}"),
    "cursor_alone": (
        "a cursor stands alone, or with --page-size",
        "游标只能单独使用，或与 --page-size 一起使用",
    ),
    "no_question": (
        "give a question, --input FILE, or --cursor",
        "请提供问题、--input 文件或 --cursor",
    ),
    "input_too_large": ("the input has more than 65,536 bytes", "输入超过 65536 字节"),
    "input_unreadable": (
        "the input cannot be read as a JSON object",
        "无法将输入读作 JSON 对象",
    ),
    "no_query": (
        "Provide a query positional argument or --queries",
        "请提供查询参数或 --queries",
    ),
    "one_query": (
        "give one query in quotes, or several after --queries",
        "请用引号给出一个查询，或在 --queries 后给出多个",
    ),
    "positive": (
        "--max-results and --top must be positive with a ranking",
        "使用排序时 --max-results 与 --top 必须为正数",
    ),
    "scorer_too_large": (
        "the scorer file is larger than {most} bytes",
        "评分文件超过 {most} 字节",
    ),
    "scorer_unreadable": (
        "the scorer file cannot be read as UTF-8 JSON",
        "评分文件无法按 UTF-8 JSON 读取",
    ),
    "unreached": ("No source could be reached:", "没有任何来源可以访问："),
    "troubled": ("Sources with trouble:", "出现问题的来源："),
    "until": ("not before {until}", "{until} 之前不再访问"),
    "job": ("Job {job_id}, tier {tier}", "任务 {job_id}，层级 {tier}"),
    # progress
    "waiting": ("Waiting for", "等待"),
    "at_least": ("at least {seconds} s of fetching ahead", "抓取至少还需 {seconds} 秒"),
    "calls": ("calls {done}/{planned}", "调用 {done}/{planned}"),
    "fetches": (
        "fetches {done} done, {queued} queued, {refused} refused",
        "抓取 完成 {done}，排队 {queued}，拒绝 {refused}",
    ),
    "documents": ("documents {count}", "文档 {count}"),
    "budget": ("{dimension}: {used} used, {left} left", "{dimension}：已用 {used}，剩余 {left}"),
    "elapsed": ("{seconds} s", "{seconds} 秒"),
    "entry.submitted": ("submitted: {job_id}", "已提交：{job_id}"),
    "entry.planned": (
        "planned: tier {tier}, {questions} questions, {calls} calls",
        "已规划：层级 {tier}，{questions} 个问题，{calls} 次调用",
    ),
    "entry.refused": ("not asked: {source}: {reason}", "未访问：{source}：{reason}"),
    "entry.queued": ("waiting {seconds} s for {host}", "等待 {seconds} 秒：{host}"),
    "entry.fetched": (
        "fetched {url} ({documents} documents)",
        "已抓取 {url}（{documents} 篇文档）",
    ),
    "entry.missed": ("no reply used from {url}: {reason}", "未取得 {url}：{reason}"),
    "entry.assessed": (
        "round {round}: {documents} documents, coverage {coverage:.2f}, saturation {saturation:.2f}",
        "第 {round} 轮：{documents} 篇文档，覆盖率 {coverage:.2f}，饱和度 {saturation:.2f}",
    ),
    "entry.expanded": (
        "round {round}: {calls} more calls ({why})",
        "第 {round} 轮：追加 {calls} 次调用（{why}）",
    ),
    "entry.screened": ("the judge answered {count} questions", "判断服务回答了 {count} 个问题"),
    "entry.judge_failed": ("the judge failed: {reason}", "判断服务失败：{reason}"),
    "entry.stopped": ("stopping: {text}", "停止：{text}"),
    "entry.delegated": (
        "asked of you: {name} ({seconds} s)",
        "向调用方提问：{name}（{seconds} 秒）",
    ),
    "entry.delegation_answered": ("answered: {name}", "已回答：{name}"),
    "entry.delegation_lapsed": (
        "goes on without an answer to {name}: {reason}",
        "无答复，继续执行：{name}：{reason}",
    ),
    "delegation.open": ("open, {seconds} s to answer", "待回答，限时 {seconds} 秒"),
    "delegation.answered": ("answered", "已回答"),
    "delegation.declined": ("declined", "已谢绝"),
    "delegation.deadline": ("its time is over", "已超时"),
    "delegation.budget": ("the budget did not suffice", "预算不足"),
    "delegation.no_time": ("no time is left", "时间不足"),
    "delegation.lapsed": ("its time is over", "已超时"),
    "no_delegations": ("this job asks nothing", "该任务没有提问"),
    "edit_outline": (
        "edit {path}, then press Enter; what stands there is looked into (anything typed cancels)",
        "请编辑 {path}，完成后按回车，将按其内容检索（输入其他内容则取消）",
    ),
    "not_confirmed": ("cancelled; nothing was searched", "已取消，未检索"),
    "kept": ("kept in {path}", "保存于 {path}"),
    "vault_changes": (
        "sources since the last time: {new} new, {changed} changed, {gone} gone, {same} the same",
        "与上次相比的来源：新增 {new}，变化 {changed}，消失 {gone}，不变 {same}",
    ),
    "entry.ended": ("job {state}", "任务{state}"),
    # states
    "state.queued": ("queued", "排队中"),
    "state.planning": ("planning", "规划中"),
    "state.crawling": ("crawling", "抓取中"),
    "state.reducing": ("reducing", "归并中"),
    "state.delegated": ("delegated", "等待委托"),
    "state.succeeded": ("succeeded", "已完成"),
    "state.partial": ("partial", "部分完成"),
    "state.failed": ("failed", "失败"),
    "state.cancelled": ("cancelled", "已取消"),
    "state.expired": ("expired", "已过期"),
    # why a source gave nothing
    "reason.source_unreachable": ("could not connect", "无法连接"),
    "reason.source_timed_out": ("did not answer in time", "未及时应答"),
    "reason.source_rate_limited": ("asked to be called less often", "要求降低访问频率"),
    "reason.source_server_fault": ("answered with a server error", "服务器出错"),
    "reason.source_denied": ("denied access", "拒绝访问"),
    "reason.source_not_found": ("has nothing at this address", "该地址没有内容"),
    "reason.source_bad_reply": ("its reply could not be understood", "应答无法理解"),
    "reason.source_body_too_large": ("its reply was larger than the limit", "应答超过大小限制"),
    "reason.robots": ("robots.txt forbids it", "robots.txt 不允许"),
    "reason.robots_unreachable": ("its robots.txt could not be read", "无法读取 robots.txt"),
    "reason.crawl_delay_too_long": ("its crawl delay is too long", "要求的抓取间隔过长"),
    "reason.address": ("its address is not allowed", "地址不被允许"),
    "reason.login_wall": ("behind a login", "需要登录"),
    "reason.pay_wall": ("behind a pay wall", "需要付费"),
    "reason.challenge": ("asks to prove being human", "要求人机验证"),
    "reason.noindex": ("asks not to be indexed", "要求不被索引"),
    "reason.budget": ("the budget did not suffice", "预算不足"),
    "reason.quota": ("its quota for today is used up", "今日配额已用完"),
    "reason.suspended": ("suspended after repeated failures", "多次失败后暂停访问"),
    "reason.queue_full": ("its queue is full", "队列已满"),
    "reason.deadline": ("the deadline came first", "期限先到"),
    "reason.not_configured": ("not configured", "未配置"),
    "reason.content_type": ("not a readable type of content", "内容类型不可读"),
    "reason.empty": ("nothing readable in it", "没有可读内容"),
    "reason.duplicate": ("already known", "内容重复"),
    "reason.filtered": (
        "it answered; your constraints left nothing of it",
        "已应答，但所给约束没有留下任何内容",
    ),
    # faults and notes
    "error.gateway_unreachable": ("the gateway could not be reached", "无法连接网关"),
    "error.gateway_timed_out": ("the gateway did not answer in time", "网关未及时应答"),
    "error.unauthorized": ("a valid token is required (--token)", "需要有效的令牌（--token）"),
    "error.job_not_found": ("there is no such job", "没有这个任务"),
    "error.job_unfinished": ("the job has not finished yet", "任务尚未结束"),
    "error.job_finished": ("the job has already ended", "任务已经结束"),
    "error.result_expired": ("the result has expired and was deleted", "结果已过期并删除"),
    "error.rate_limited": ("too many requests", "请求过多"),
    "error.client_timeout": (
        "no answer within the timeout; the job was cancelled",
        "超时未得到答案，任务已取消",
    ),
    "error.forbidden": ("this token may not do that", "该令牌无此权限"),
    "error.job_cancelled": ("the job was cancelled", "任务已取消"),
    "error.job_expired": (
        "the job's deadline passed before it could answer",
        "任务期限已过，未能作答",
    ),
    "error.store_unavailable": ("the job store did not answer", "任务存储没有应答"),
    "field": ("field: {name}", "字段：{name}"),
    "again_in": ("try again in {seconds} s", "{seconds} 秒后再试"),
    "interrupted": ("interrupted; the job was cancelled", "已中断，任务已取消"),
    "left": ("interrupted; the job goes on", "已中断，任务仍在继续"),
    "written": ("written to {path}", "已写入 {path}"),
    "no_jobs": ("no jobs", "没有任务"),
    "more": ("more: --cursor {cursor}", "更多：--cursor {cursor}"),
    "room_broken": ("the commands of '{room}' could not be loaded", "无法加载“{room}”的命令"),
}


class Texts:
    """The table in one language."""

    def __init__(self, lang: str) -> None:
        """Take a locale such as zh_CN.UTF-8 or en; whatever is not Chinese is English."""
        self._column = 1 if lang.lower().startswith("zh") else 0

    def __call__(self, key: str, **values: object) -> str:
        """Return the text with the values in their places."""
        return _TABLE[key][self._column].format(**values)

    def lookup(self, key: str, fallback: str) -> str:
        """Return the text, or the fallback where the table has none."""
        return self(key) if key in _TABLE else fallback
