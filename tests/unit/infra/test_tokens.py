import json
import stat
from hashlib import sha256
from pathlib import Path

import pytest
from signal_search.contracts.budget import Dimension
from signal_search.errors import Invalid, NotFound

from infra.settings import load
from infra.tokens import TokenStore, tokens_path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "tokens.json"


def test_a_token_leads_to_its_tenant(path: Path) -> None:
    store = TokenStore.load(path)
    token, _ = store.create("acme", ["read", "write"], {Dimension.FETCHES: 7}, now_ms=5)
    found = TokenStore.load(path).find(token)
    assert found is not None
    assert found.tenant == "acme"
    assert found.scopes == {"read", "write"}
    assert found.limits == {Dimension.FETCHES: 7}


def test_only_the_digest_is_kept_and_only_the_owner_reads_it(path: Path) -> None:
    token, record = TokenStore.load(path).create("acme", ["read"], {}, now_ms=5)
    text = path.read_text()
    assert token not in text
    assert json.loads(text)["tokens"][0]["digest"] == sha256(token.encode()).hexdigest()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert record.id == sha256(token.encode()).hexdigest()[:12]
    assert list(path.parent.iterdir()) == [path]


def test_each_of_several_tokens_finds_its_own(path: Path) -> None:
    store = TokenStore.load(path)
    tokens = [store.create(f"t{n}", ["read"], {}, now_ms=n)[0] for n in range(3)]
    assert len(set(tokens)) == 3
    found = [TokenStore.load(path).find(token) for token in tokens]
    assert [each.tenant for each in found if each] == ["t0", "t1", "t2"]


@pytest.mark.parametrize("wrong", ["", "sst_", "sst_wrong", "é", "\ud800"])
def test_anything_else_finds_nobody(path: Path, wrong: str) -> None:
    store = TokenStore.load(path)
    store.create("acme", ["read"], {}, now_ms=5)
    assert store.find(wrong) is None


def test_a_digest_is_not_a_token(path: Path) -> None:
    store = TokenStore.load(path)
    _, record = store.create("acme", ["read"], {}, now_ms=5)
    assert store.find(record.digest) is None
    assert store.find(record.id) is None


def test_a_missing_file_lets_nobody_in(path: Path) -> None:
    assert TokenStore.load(path).records == ()
    assert TokenStore.load(path).find("sst_x") is None
    assert not path.exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"tokens": [{"id": 1}]}', '{"other": 1}', '{"tokens": "\xff"}']
)
def test_a_broken_file_is_an_error_that_repeats_nothing(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(Invalid) as caught:
        TokenStore.load(path)
    assert caught.value.message == "The tokens file is not valid."


def test_a_revoked_token_opens_nothing_and_the_others_stay(path: Path) -> None:
    store = TokenStore.load(path)
    gone, record = store.create("a", ["read"], {}, now_ms=1)
    kept, _ = store.create("b", ["read"], {}, now_ms=2)
    store.revoke(record.id)
    again = TokenStore.load(path)
    assert again.find(gone) is None
    assert again.find(kept) is not None
    with pytest.raises(NotFound):
        again.revoke(record.id)


@pytest.mark.parametrize("tenant", ["", "a b", "a/b", "-", "a\n"])
def test_a_tenant_has_a_plain_name(path: Path, tenant: str) -> None:
    with pytest.raises(Invalid):
        TokenStore.load(path).create(tenant, ["read"], {}, now_ms=1)
    assert not path.exists()


@pytest.mark.parametrize("scopes", [[], ["root"], ["read", "root"]])
def test_only_known_scopes_are_given(path: Path, scopes: list[str]) -> None:
    with pytest.raises(Invalid):
        TokenStore.load(path).create("acme", scopes, {}, now_ms=1)
    assert not path.exists()


def test_the_file_is_in_the_data_folder_unless_named(tmp_path: Path) -> None:
    settings = load(data_dir=str(tmp_path))
    assert tokens_path(settings) == tmp_path / "tokens.json"
    named = settings.gateway.model_copy(update={"tokens_file": "/etc/ss/tokens.json"})
    assert tokens_path(settings.model_copy(update={"gateway": named})) == Path(
        "/etc/ss/tokens.json"
    )


def test_who_acts_is_the_tenant_or_a_person_of_it(path: Path) -> None:
    store = TokenStore.load(path)
    plain, _ = store.create("acme", ["read"], {}, now_ms=1)
    named, _ = store.create("acme", ["read"], {}, now_ms=1, person="ann")
    again = TokenStore.load(path)
    found = [again.find(each) for each in (plain, named)]
    assert [each.actor for each in found if each is not None] == ["acme", "acme/ann"]


@pytest.mark.parametrize("person", ["a b", "a/b", " ", "-", "a\n"])
def test_a_person_has_a_plain_name(path: Path, person: str) -> None:
    with pytest.raises(Invalid) as refused:
        TokenStore.load(path).create("acme", ["read"], {}, now_ms=1, person=person)
    assert refused.value.field == "person"
    assert not path.exists()
