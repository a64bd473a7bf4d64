"""A compiled program: two trees of typed nodes, what they count, and the hash that names them."""

import json
from hashlib import sha256

from msgspec import Struct
from signal_search.contracts.scorer import LANGUAGE, ScorerProgram
from signal_search.errors import Position

# Names the six features as they are computed now; any change to one of them is a new version (scorer guide, section 6).
FEATURE_VERSION = "academic-features-1"


class Node(Struct, frozen=True, kw_only=True):
    """One operation. `op` is an operator, a function, `literal` or `feature`; signs are `neg` and `pos`.

    `index` counts the nodes of a program: children come before their parent, the filter before the score.
    """

    op: str
    index: int
    position: Position
    args: "tuple[Node, ...]" = ()
    value: float | bool = 0.0  # of a literal
    name: str = ""  # of a feature


class Program(Struct, frozen=True, kw_only=True):
    """A program that may run: it is well-typed and within the limits. `normal` is what a reader is shown.

    `nodes` and `depth` are counted as `capabilities` says, `depth` being that of the deeper expression.
    """

    normal: ScorerProgram
    filter: Node
    score: Node
    nodes: int
    depth: int
    feature_version: str = FEATURE_VERSION

    @property
    def hash(self) -> str:
        """The SHA-256 of language, feature version and both trees, in hex.

        White space, redundant brackets and the spelling of numbers do not change it; nothing else is left out.
        """
        tree = [LANGUAGE, self.feature_version, _plain(self.filter), _plain(self.score)]
        return sha256(json.dumps(tree, separators=(",", ":")).encode()).hexdigest()


def _plain(node: Node) -> list[object]:
    if node.op == "literal":
        value = node.value if isinstance(node.value, bool) else float(node.value).hex()
        return ["literal", value]
    if node.op == "feature":
        return ["feature", node.name]
    return [node.op, *(_plain(each) for each in node.args)]
