"""Settings: the only place that reads the environment and the configuration files.

Order, later wins: infra/defaults.toml, signal-search.toml (working folder), SIGNAL_SEARCH_* variables, arguments.
"""

import os
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from typing_extensions import override

from infra.adaptive_section import Adaptive
from infra.research_section import Research
from infra.search_section import Search
from infra.sections import (
    Cache,
    DelegationFigures,
    Fetch,
    FlowerSettings,
    Frontier,
    Gateway,
    Jobs,
    LevelLimits,
    Log,
    Loopback,
    Planning,
    Politeness,
    Queue,
    Robots,
    Sba,
    SbaPreferences,
    SiteSource,
    Sources,
    StopRule,
    TenantRow,
    TierLimits,
    TierName,
    Verify,
)
from infra.store_address import check_broker_address, parse

__all__ = [
    "Adaptive",
    "Cache",
    "Fetch",
    "FlowerSettings",
    "Frontier",
    "Gateway",
    "Jobs",
    "LevelLimits",
    "Log",
    "Loopback",
    "Planning",
    "Politeness",
    "Queue",
    "Research",
    "Robots",
    "Sba",
    "SbaPreferences",
    "Search",
    "Settings",
    "SiteSource",
    "Sources",
    "StopRule",
    "TenantRow",
    "TierLimits",
    "TierName",
    "Verify",
    "child_environment",
    "current",
    "is_set",
    "load",
    "secret",
]

DEFAULTS = Path(__file__).with_name("defaults.toml")
LOCAL = Path("signal-search.toml")


class Settings(BaseSettings):
    """All settings. Secrets come from the environment only and are never printed."""

    model_config = SettingsConfigDict(
        env_prefix="SIGNAL_SEARCH_",
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
    )

    redis_url: str
    broker_url: str
    gateway_url: str
    data_dir: str
    worker_role: Literal["crawl", "reduce", "all"]
    token: SecretStr = SecretStr("")
    flower_password: SecretStr = SecretStr("")

    politeness: Politeness
    fetch: Fetch
    loopback: Loopback
    robots: Robots
    cache: Cache
    frontier: Frontier
    queue: Queue
    jobs: Jobs
    tiers: dict[TierName, TierLimits]
    tenant: LevelLimits
    tenants: dict[str, TenantRow]
    deployment: LevelLimits
    planning: Planning
    delegation: DelegationFigures
    sba: Sba
    stop: StopRule
    verify: Verify
    search: Search
    adaptive: Adaptive
    research: Research
    sources: Sources
    gateway: Gateway
    flower: FlowerSettings
    log: Log

    @field_validator("redis_url")
    @classmethod
    def _is_a_store(cls, value: str) -> str:
        if value:
            parse(value)
        return value

    @field_validator("broker_url")
    @classmethod
    def _takes_messages(cls, value: str, info: ValidationInfo) -> str:
        """Refuse here what would fail in a worker: also an empty one, where the store is a cluster."""
        broker = value or info.data.get("redis_url", "")
        if broker:
            check_broker_address(broker)
        return value

    @override
    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the layers: arguments, environment, local file, defaults."""
        return (
            init_settings,
            env_settings,
            TomlConfigSettingsSource(settings_cls, LOCAL),
            TomlConfigSettingsSource(settings_cls, DEFAULTS),
        )

    @property
    def data_path(self) -> Path:
        """Return the folder for the embedded server, tokens and logs."""
        return Path(self.data_dir) if self.data_dir else Path.home() / ".local/share/signal-search"

    def is_loopback_host(self, host: str) -> bool:
        """Return whether a host key (name, with a port unless default) is listed as loopback."""
        return host in self.loopback.allow or host in self.loopback.hosts

    def pause_ms(self, host: str) -> int:
        """Return how long a host rests after a request: the public interval, or that of listed loopback hosts."""
        pace = self.politeness
        seconds = pace.loopback_interval_s if self.is_loopback_host(host) else pace.interval_s
        return int(seconds * 1000) + pace.guard_ms

    def weight_of(self, tenant: str) -> float:
        """Return a tenant's weight among the others."""
        row = self.tenants.get(tenant)
        return 1.0 if row is None or row.weight is None else row.weight

    def slots_of(self, tenant: str) -> int:
        """Return how many unfinished jobs a tenant may have."""
        row = self.tenants.get(tenant)
        return self.gateway.tenant_slots if row is None or row.slots is None else row.slots

    def limits_of(self, tenant: str) -> LevelLimits:
        """Return what a tenant may use."""
        row = self.tenants.get(tenant)
        own = {} if row is None else row.model_dump(exclude_none=True, exclude={"weight", "slots"})
        return self.tenant.model_copy(update=own)

    @property
    def broker(self) -> str:
        """Return the broker's URL."""
        return self.broker_url or self.redis_url


def load(**overrides: Any) -> Settings:
    """Read all layers; `overrides` are nested dictionaries or values and win.

    Raises:
        pydantic.ValidationError: naming each wrong setting.
    """
    return Settings(**overrides)


@lru_cache(maxsize=1)
def current() -> Settings:
    """Return the settings of this process, read once."""
    return load()


def child_environment(**overrides: str) -> dict[str, str]:
    """Return the environment for a process of ours: this one's, with `overrides` on top."""
    return {**os.environ, **overrides}


def secret(variable: str) -> SecretStr:
    """Return the key in an environment variable that a source row names, read now; empty when there is none.

    What cannot stand in a header (blanks, control characters, other scripts) is no key.
    """
    value = os.environ.get(variable, "").strip()
    sendable = value.isascii() and value.isprintable() and " " not in value
    return SecretStr(value if sendable else "")


def is_set(variable: str) -> bool:
    """Tell whether an environment variable that a source row names for its key has a value."""
    return bool(secret(variable).get_secret_value())
