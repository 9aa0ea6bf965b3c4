"""Keyed hashes in place of what would name an author or a thread."""

from __future__ import annotations

import hashlib
import hmac

from core.domain import FlaggedPost
from core.errors import BadSettings


class Pseudonyms:
    """Keyed hashes (HMAC-SHA256, RFC 2104): one author or thread, one hash, and no way back."""

    def __init__(self, key: bytes) -> None:
        if not key:
            raise BadSettings("ledger.author_key is empty; author ids can't be hashed without a secret")
        self._key = key

    def author(self, post: FlaggedPost) -> str | None:
        """Return the author's hash, different on each platform; none without an author."""
        return None if post.author_id is None else self.author_of(post.platform, post.author_id)

    def author_of(self, platform: str, author_id: str) -> str:
        """Return the hash of an author whose id on a platform is known."""
        return self._hash("author", platform, author_id)

    def thread(self, post: FlaggedPost) -> str | None:
        """Return the hash of the post's thread, different on each platform; none where the platform names none."""
        return None if post.thread_id is None else self._hash("thread", post.platform, post.thread_id)

    def case(self, key: str) -> str:
        """Return the hash that stands for a case once its key is forgotten."""
        return self._hash("case", key)

    def moderator(self, name: str) -> str:
        """Return the hash that stands for a moderator in what is learned from decisions."""
        return self._hash("moderator", name)

    def fingerprint(self, post: FlaggedPost) -> str | None:
        """Return the hash that one author's same text shares, whatever its case and spacing; none without an author."""
        if post.author_id is None:
            return None
        return self._hash("post", post.platform, post.author_id, _folded(post.text))

    def text(self, post: FlaggedPost) -> str:
        """Return the hash that one text shares, whoever posted it where, whatever its case and spacing."""
        return self._hash("text", _folded(post.text))

    def _hash(self, *parts: str) -> str:
        # Posts and ids hold no NUL, so the parts can't run into each other.
        return hmac.new(self._key, "\0".join(parts).encode(), hashlib.sha256).hexdigest()


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
