"""The trained or computed files that Rejoinder ships, and whether each matches its model cards."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Shipped:
    """A file that `rejoinder train` makes, with the names of its cards in the same folder, and its purpose."""

    file: Path
    cards: tuple[str, ...]
    purpose: str


_TRIAGE = Path("pipeline", "data")
SHIPPED = {
    "heads": Shipped(
        _TRIAGE / "heads.npz",
        ("group_head.md", "hate_head.md", "counterspeech_head.md"),
        "whom a post attacks, how hateful it is, whether it is counterspeech",
    ),
    "threats": Shipped(_TRIAGE / "threat.npz", ("threat.md",), "whether a post threatens"),
    "self-harm": Shipped(_TRIAGE / "self_harm.npz", ("self_harm.md",), "whether a post hints at self-harm"),
    "stances": Shipped(_TRIAGE / "stance.npz", ("stance.md",), "whether a reply stands against the post"),
    "fits": Shipped(_TRIAGE / "fits.npz", ("fits.md",), "whether a sentence of a reply answers anything"),
    "weighing": Shipped(_TRIAGE / "weighing.toml", ("weighing.md",), "what the guard's checks come to together"),
    "word-order": Shipped(_TRIAGE / "word_order.npz", ("word_order.md",), "which words follow which"),
    "post-layers": Shipped(
        Path("models", "data", "e5_posts.npz"), ("e5_posts.md",), "how the embedder's last layers read posts"
    ),
    "pair-layers": Shipped(
        Path("models", "data", "e5_pairs.npz"),
        ("e5_pairs.md",),
        "whether a sentence of a reply opposes its post, and follows from its evidence",
    ),
    "post-reader": Shipped(_TRIAGE / "post_reader.npz", ("post_reader.md",), "how a larger model reads posts"),
    "pair-reader": Shipped(
        _TRIAGE / "pair_reader.npz",
        ("pair_reader.md",),
        "how a larger model reads a sentence beside its post and its evidence",
    ),
    "toxicity": Shipped(Path("models", "data", "toxicity.npz"), ("toxicity.md",), "how toxic a reply is"),
    "claims": Shipped(Path("kb", "data", "matching.npz"), ("matching.md",), "which claims on file a post makes"),
    "argument-quality": Shipped(
        Path("evaluation", "data", "argument_quality.npz"), ("argument_quality.md",), "how good an argument a reply is"
    ),
    "starter-vectors": Shipped(Path("kb", "data", "starter_vectors.npz"), (), "the starter evidence, embedded"),
    "e5-graph": Shipped(Path("models", "data", "e5.onnx"), (), "how ONNX Runtime computes the embedder"),
    "mpnet-graph": Shipped(Path("models", "data", "mpnet.onnx"), (), "how ONNX Runtime computes the larger model"),
}
"""The shipped files by the name of the command that makes them."""


def standing(shipped: Shipped, root: Path) -> str:
    """Return whether a file and its cards are of the same run, judged by the SHA-256 on the cards."""
    file = root / shipped.file
    if not file.exists():
        return "missing"
    if not shipped.cards:
        return "has no card"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    cards = [(file.parent / card).read_text(encoding="utf-8") for card in shipped.cards]
    if all(digest in card for card in cards):
        return "as on its card"
    return "another than its card's" if any("sha256 `" in card.lower() for card in cards) else "not named on its card"
