"""An outline is drafted and left to its person: nothing is retrieved, and the answer decides."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from signal_search.client import AsyncClient, Client
from signal_search.client.confirming import Cancelled, answered
from signal_search.client.vault import Vault
from signal_search.contracts.query import DelegationKind
from signal_search.errors import Invalid

from tests.fakes.drafting import OUTLINE, Drafting


def client_of(transport: Drafting) -> Client:
    return Client(transport=transport)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "  ", "continue", " Continue\n", "CONTINUE"])
def test_continue_or_nothing_goes_on(text: str) -> None:
    assert answered(text) is None


@pytest.mark.parametrize("text", ["no", "n", "continue?", "stop", "yes", "0"])
def test_anything_else_cancels(text: str) -> None:
    assert answered(text) == Cancelled(cancelled=True)


def test_the_outline_stands_in_the_vault_and_the_job_is_cancelled_before_any_retrieval(
    tmp_path: Path,
) -> None:
    transport = Drafting()
    found = client_of(transport).research_outline("Tea", vault=tmp_path)
    assert (found.needs_confirm, found.iterations, found.outline) == (True, 0, OUTLINE)
    assert (tmp_path / found.outline_file).read_text() == OUTLINE
    assert transport.cancelled == ["job_1"]
    assert transport.answered == []
    assert transport.submitted[0].delegate == (DelegationKind.OUTLINE_CONFIRM,)
    assert Vault(tmp_path).is_to_be_asked(refresh=False)


def test_an_outline_that_was_edited_is_not_drafted_again(tmp_path: Path) -> None:
    transport = Drafting()
    client_of(transport).research_outline("Tea", vault=tmp_path)
    (tmp_path / "outline.md").write_text("1. green tea\n")
    again = client_of(transport).research_outline("Tea", vault=tmp_path)
    assert again.outline == "1. green tea\n"
    assert len(transport.submitted) == 1


def test_a_vault_of_another_question_is_refused(tmp_path: Path) -> None:
    transport = Drafting()
    client_of(transport).research_outline("Tea", vault=tmp_path)
    with pytest.raises(Invalid) as refused:
        client_of(transport).research_outline("Coffee", vault=tmp_path)
    assert refused.value.field == "vault"


def test_a_question_without_an_outline_says_so_and_leaves_no_job(tmp_path: Path) -> None:
    transport = Drafting(asks=False)
    with pytest.raises(Invalid) as refused:
        client_of(transport).research_outline("Tea", vault=tmp_path / "vault")
    assert refused.value.field == "query"
    assert transport.cancelled == ["job_1"]
    assert not (tmp_path / "vault").exists()


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"export_citations": "docx", "vault": "v"}, "export_citations"),
        ({"export_citations": "ris"}, "vault"),
    ],
)
def test_an_export_that_cannot_be_is_refused_before_a_job_is_made(
    options: dict[str, Any], field: str
) -> None:
    transport = Drafting()
    with pytest.raises(Invalid) as refused:
        client_of(transport).research("Tea", **options)
    assert refused.value.field == field
    assert transport.submitted == []


class AsyncDrafting:
    """The same for asyncio."""

    def __init__(self, inner: Drafting) -> None:
        self._inner = inner

    async def submit(self, *given: Any, **named: Any) -> Any:
        return self._inner.submit(*given, **named)

    async def job(self, job_id: str) -> Any:
        return self._inner.job(job_id)

    async def events(self, job_id: str, **named: Any) -> Any:
        for each in self._inner.events(job_id, **named):
            yield each

    async def cancel(self, job_id: str) -> Any:
        return self._inner.cancel(job_id)

    async def close(self) -> None:
        return None


def test_in_asyncio_too(tmp_path: Path) -> None:
    transport = Drafting()

    async def draft() -> str:
        async with AsyncClient(transport=AsyncDrafting(transport)) as client:  # type: ignore[arg-type]
            return (await client.research_outline("Tea", vault=tmp_path)).outline

    assert asyncio.run(draft()) == OUTLINE
    assert transport.cancelled == ["job_1"]
