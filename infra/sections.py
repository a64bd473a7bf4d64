"""The sections of the settings, each with its bounds: what a wrong figure is refused by, naming the field."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Seconds = Annotated[float, Field(gt=0.0, le=2_592_000.0)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Amount = Annotated[int, Field(ge=0, le=10**12)]
Port = Annotated[int, Field(ge=1, le=65_535)]
TierName = Literal["L0", "L1", "L2", "L3"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Politeness(_Section):
    """How often a host may be asked. The public interval has a floor: it cannot be configured away."""

    interval_s: Annotated[float, Field(ge=14.0, le=86_400.0)]
    loopback_interval_s: Annotated[float, Field(ge=0.0, le=3600.0)]
    jitter: Share
    guard_ms: Annotated[int, Field(ge=0, le=10_000)]
    max_crawl_delay_s: Annotated[float, Field(ge=14.0, le=86_400.0)]
    backoff_base_s: Seconds
    backoff_cap_s: Seconds
    retry_after_cap_s: Seconds
    reset_after: Annotated[int, Field(ge=1, le=100)]
    published_pace: bool
    plan_pace_s: dict[str, Annotated[float, Field(gt=0.0, le=86_400.0)]]


class Fetch(_Section):
    """Limits of one request."""

    product: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    version: Annotated[str, Field(pattern=r"^[0-9A-Za-z.+-]{1,32}$")]
    contact_url: str
    total_timeout_s: Seconds
    connect_timeout_s: Seconds
    max_body_bytes: Count
    max_header_bytes: Count
    max_redirects: Annotated[int, Field(ge=0, le=20)]
    ports: list[Port]
    concurrency: Annotated[int, Field(ge=1, le=1024)]
    clients: Annotated[int, Field(ge=1, le=256)]
    parse_processes: Annotated[int, Field(ge=1, le=64)]
    parse_timeout_s: Seconds
    parse_memory_mib: Annotated[int, Field(ge=512, le=65_536)]

    @property
    def user_agent(self) -> str:
        """Return the name we give at every door: product, version and where to reach us."""
        return f"{self.product}/{self.version} (+{self.contact_url})"


class Loopback(_Section):
    """The only non-public addresses that may be fetched: for demo, tests and one's own machine."""

    allow: list[str]
    only: bool
    hosts: dict[str, str]

    @field_validator("allow")
    @classmethod
    def _are_loopback(cls, value: list[str]) -> list[str]:
        for each in value:
            _require_loopback(each)
        return value

    @field_validator("hosts")
    @classmethod
    def _targets_are_loopback(cls, value: dict[str, str]) -> dict[str, str]:
        for each in value.values():
            _require_loopback(each)
        return value


def _require_loopback(address: str) -> None:
    parts = urlsplit(f"//{address}")
    if parts.hostname not in {"127.0.0.1", "::1", "localhost"} or parts.port is None:
        msg = "must be HOST:PORT with host 127.0.0.1, [::1] or localhost"
        raise ValueError(msg)


class Robots(_Section):
    """How long what robots.txt said is remembered."""

    ttl_s: Annotated[int, Field(ge=60, le=86_400)]
    unreachable_ttl_s: Annotated[int, Field(ge=1, le=86_400)]
    max_bytes: Annotated[int, Field(ge=512_000, le=10_000_000)]


class Cache(_Section):
    """Freshness of shared, redacted replies."""

    default_ttl_s: Annotated[int, Field(ge=0, le=2_592_000)]
    max_ttl_s: Annotated[int, Field(ge=0, le=2_592_000)]
    delivery_ttl_s: Annotated[int, Field(ge=30, le=86_400)]
    revalidate_s: Annotated[int, Field(ge=0, le=2_592_000)]
    stale_if_error_s: Annotated[int, Field(ge=0, le=2_592_000)]


class Frontier(_Section):
    """Caps and leases of the host queues."""

    lease_s: Seconds
    max_attempts: Annotated[int, Field(ge=1, le=100)]
    cap_host: Count
    cap_job: Count
    cap_total: Count


class Queue(_Section):
    """Leases and bells of job steps."""

    lease_s: Seconds
    max_attempts: Annotated[int, Field(ge=1, le=100)]
    grace_s: Seconds
    reconcile_s: Seconds
    recheck_s: Seconds
    heartbeat_s: Seconds
    stop_s: Annotated[float, Field(ge=0, le=600)]
    look_after_s: Seconds


class Jobs(_Section):
    """Deadlines by tier, and how long results stay."""

    deadline_s: dict[TierName, Seconds]
    result_ttl_s: Annotated[int, Field(ge=60, le=2_592_000)]
    idempotency_ttl_s: Annotated[int, Field(ge=60, le=604_800)]


class SpendingLimits(_Section):
    """How much may be spent, by dimension; what is the same for all that has limits."""

    tokens: Amount
    calls: Amount
    searches: Amount
    fetches: Amount
    bytes: Amount
    judge_requests: Amount
    model_tokens: Amount


class TierLimits(SpendingLimits):
    """What a tier may spend, and how wide and deep it looks."""

    max_sources: Annotated[int, Field(ge=1, le=50)]
    width: Annotated[int, Field(ge=1, le=50)]
    max_rounds: Annotated[int, Field(ge=1, le=20)]


class LevelLimits(SpendingLimits):
    """Limits of a tenant or of the whole deployment, per UTC day or for ever; 0 means none."""

    per: Literal["day", "ever"]


class TenantRow(_Section):
    """What is different for one tenant; absent: as for every tenant. A weight of 2 is twice the share."""

    weight: Annotated[float, Field(gt=0.0, le=1000.0)] | None = None
    slots: Count | None = None
    tokens: Amount | None = None
    calls: Amount | None = None
    searches: Amount | None = None
    fetches: Amount | None = None
    bytes: Amount | None = None
    judge_requests: Amount | None = None
    model_tokens: Amount | None = None


class Planning(_Section):
    """Figures of the planner."""

    clarify_below: Share
    passage_tokens: Count


class DelegationFigures(_Section):
    """How long a job waits for its caller's answers, and how much it may ask."""

    answer_s: Seconds
    person_s: Seconds
    plan_share: Share
    least_s: Seconds
    max_questions: Count
    max_pairs: Annotated[int, Field(ge=1, le=200)]


class SbaPreferences(_Section):
    """A caller's wishes, and when a weaker source is called an opposing view."""

    boost: Share
    conflict_ratio: Share


class Sba(_Section):
    """Weights and tables of the source scores."""

    weights: dict[Literal["credibility", "relevance", "recency", "authority", "bias"], Share]
    credibility: dict[str, Share]
    bias: dict[str, Share]
    half_life_days: dict[str, Annotated[float, Field(gt=0.0, le=36_500.0)]]
    preferences: SbaPreferences


class StopRule(_Section):
    """When more searching would not change the answer."""

    agreement: Annotated[int, Field(ge=1, le=20)]
    quiet_arrivals: Annotated[int, Field(ge=1, le=100)]
    quiet_arrivals_wide: Annotated[int, Field(ge=1, le=100)]
    saturated_arrivals: Annotated[int, Field(ge=1, le=100)]
    coverage_at: Share
    saturation_at: Share
    min_sources: Annotated[int, Field(ge=1, le=20)]


class Verify(_Section):
    """Thresholds of the embedded judge, and who decides what it leaves open: nobody or the operator's model."""

    judge: Literal["embedded", "operator"]

    true_recall: Share
    true_window: Share
    true_order: Share
    false_order: Share
    false_recall: Share
    max_claims: Count


class SiteSource(_Section):
    """Limits of a crawl of one web site."""

    max_pages: Annotated[int, Field(ge=1, le=1000)]
    max_depth: Annotated[int, Field(ge=0, le=100)]
    max_links: Annotated[int, Field(ge=1, le=5000)]


class Sources(_Section):
    """Which sources are asked, and where those stand that each operator runs for themselves (by id)."""

    enabled: list[str]
    mailto: str
    custom: list[dict[str, Any]]
    site: SiteSource
    endpoints: dict[
        str, Annotated[str, Field(pattern=r"^https?://[^\s/?#@]+[^\s#]*$", max_length=2048)]
    ]
    models: dict[str, Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$")]]
    quota_per_day: dict[str, Count]


class Gateway(_Section):
    """The door."""

    host: str
    port: Port
    max_body_bytes: Count
    max_nesting: Annotated[int, Field(ge=1, le=1000)]
    max_wait_s: Annotated[int, Field(ge=0, le=600)]
    tenant_slots: Count
    deployment_slots: Count
    newcomer_share: Share
    slot_ttl_s: Seconds
    tokens_file: str
    admin_detail: Literal["object", "string"]


class FlowerSettings(_Section):
    """Where Flower listens and who may look."""

    host: str
    port: Port
    user: str


class Log(_Section):
    """How the log is written."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"]
    format: Literal["text", "json"]
