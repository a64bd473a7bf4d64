"""`signal-search token`: create, list, revoke."""

from typing import Annotated

import msgspec
import typer
from signal_search.contracts.budget import Amounts, Dimension
from signal_search.contracts.research import ScopeKey
from signal_search.errors import SignalSearchError

from infra.clock import SystemClock, iso
from infra.settings import current
from infra.tokens import TokenStore, tokens_path

tokens = typer.Typer(help="Who may call the gateway.", no_args_is_help=True)


@tokens.command()
def create(
    tenant: Annotated[str, typer.Option(help="Whose jobs and budget.")],
    scope: Annotated[list[str] | None, typer.Option(help="read, write, admin; repeatable.")] = None,
    limit: Annotated[
        list[str] | None, typer.Option(help="DIMENSION=AMOUNT, such as fetches=1000; repeatable.")
    ] = None,
    research: Annotated[
        list[str] | None,
        typer.Option(help="TEAM,PROJECT,REPOSITORY,BRANCH,ENVIRONMENT it may ask; repeatable."),
    ] = None,
    person: Annotated[
        str, typer.Option(help="Who of the tenant has it; two persons may approve each other's.")
    ] = "",
) -> None:
    """Make a token and print it, this once."""
    limits = _limits(limit or [])
    granted = tuple(_research(each) for each in research or [])
    try:
        store = TokenStore.load(tokens_path(current()))
        token, record = store.create(
            tenant,
            scope or ["read", "write"],
            limits,
            now_ms=SystemClock().now_ms(),
            research=granted,
            person=person,
        )
    except SignalSearchError as error:
        raise _end(error) from error
    typer.echo(token)
    typer.echo(f"id {record.id}, tenant {record.tenant}; it is not shown again", err=True)


@tokens.command("list")
def list_tokens() -> None:
    """Show the tokens' ids, tenants, scopes and ages."""
    try:
        records = TokenStore.load(tokens_path(current())).records
    except SignalSearchError as error:
        raise _end(error) from error
    for each in records:
        typer.echo(f"{each.id}  {iso(each.created_at_ms)}  {each.tenant}  {','.join(each.scopes)}")


@tokens.command()
def revoke(token_id: Annotated[str, typer.Argument(help="As `token list` shows it.")]) -> None:
    """Take a token's power away; the gateway notices at once."""
    try:
        record = TokenStore.load(tokens_path(current())).revoke(token_id)
    except SignalSearchError as error:
        raise _end(error) from error
    typer.echo(f"revoked {record.id} of tenant {record.tenant}", err=True)


def _research(text: str) -> ScopeKey:
    names = [each.strip() for each in text.split(",")]
    fields = ScopeKey.__struct_fields__
    try:
        return msgspec.convert(dict(zip(fields, names, strict=True)), ScopeKey)
    except (ValueError, msgspec.ValidationError) as error:
        raise typer.BadParameter("five names, parted by commas", param_hint="--research") from error


def _limits(pairs: list[str]) -> Amounts:
    limits: Amounts = {}
    for pair in pairs:
        name, _, amount = pair.partition("=")
        if name not in set(Dimension) or not amount.isascii() or not amount.isdigit():
            raise typer.BadParameter("must be DIMENSION=AMOUNT", param_hint="--limit")
        limits[Dimension(name)] = int(amount)
    return limits


def _end(error: SignalSearchError) -> typer.Exit:
    typer.echo(error.message, err=True)
    return typer.Exit(1)
