"""Keyed hashes in place of values that identify an author, thread, case or moderator."""

from __future__ import annotations

import hashlib
import hmac

from core.domain import FlaggedPost
from core.errors import BadSettings


class Pseudonyms:
    """Keyed hashes (HMAC-SHA256, RFC 2104): the same value always has the same hash, which can't be reversed."""

    def __init__(self, key: bytes) -> None:
        if not key:
            raise BadSettings("ledger.author_key is empty; author ids can't be hashed without a secret")
        self._key = key

    def author(self, post: FlaggedPost) -> str | None:
        """Return the author's hash, which differs between platforms, or None without an author."""
        return None if post.author_id is None else self.author_of(post.platform, post.author_id)

    def author_of(self, platform: str, author_id: str) -> str:
        """Return the hash of an author, given their id on a platform."""
        return self._hash("author", platform, author_id)

    def thread(self, post: FlaggedPost) -> str | None:
        """Return the hash of the post's thread, which differs between platforms, or None without a thread."""
        return None if post.thread_id is None else self._hash("thread", post.platform, post.thread_id)

    def case(self, key: str) -> str:
        """Return the hash that represents a case once its key is deleted."""
        return self._hash("case", key)

    def moderator(self, name: str) -> str:
        """Return the hash that represents a moderator in training data."""
        return self._hash("moderator", name)

    def fingerprint(self, post: FlaggedPost) -> str | None:
        """Return the hash of author and text, ignoring letter case and spacing, or None without an author."""
        if post.author_id is None:
            return None
        return self._hash("post", post.platform, post.author_id, _folded(post.text))

    def text(self, post: FlaggedPost) -> str:
        """Return the hash of the text alone, ignoring letter case and spacing."""
        return self._hash("text", _folded(post.text))

    def _hash(self, *parts: str) -> str:
        # Posts and ids contain no NUL, so it separates the parts unambiguously.
        return hmac.new(self._key, "\0".join(parts).encode(), hashlib.sha256).hexdigest()


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
