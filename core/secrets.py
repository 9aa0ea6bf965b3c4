"""Secrets: read from settings, or created once and kept in the data folder, readable by their owner only."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

from pydantic import SecretStr

from core.errors import BadSettings
from core.private_files import keep_private, required_folder, unusable
from core.settings import Settings

MIN_KEY = 16
"""Minimum length of a signing key, in characters."""
_USER_INFO = re.compile(r"(?<=://)[^/\s\"]*@")
_QUERY_SECRET = re.compile(
    r"([?&][\w.-]*(?:password|passwd|pwd|token|key|secret|sig|signature|credential)=)[^&\s\"]*", re.IGNORECASE
)
_PASSWORD_WITH_SLASH = re.compile(r"(?<=://)(?:[^/\s\"]*:|\*\*\*@)[^\s\"]*@")
"""May also hide a host and its path, if an @ follows; that does less harm than showing the end of a password."""
_SIGNING_KEY = "REJOINDER_KAFKA__SIGNING_KEY"


def author_key(settings: Settings) -> bytes:
    """Return the key for hashing author ids and chaining the history, from the settings or the data folder.

    Raises BadSettings if the key is not set although processes on other machines may need the same one.
    """
    if settings.ledger.author_key is not None:
        return settings.ledger.author_key.get_secret_value().encode()
    key_file = settings.data_dir / "author.key"
    if not settings.ledger_url.startswith("sqlite"):
        raise BadSettings(
            "REJOINDER_LEDGER__AUTHOR_KEY is not set. All processes that share a ledger must hash authors and chain "
            "the history with the same key, or both are broken for good: set it in each. A ledger in use needs the key "
            f"that it was begun with, which its first process kept in {key_file}."
        )
    return kept_secret(key_file).encode()


def record_keys(settings: Settings) -> tuple[bytes, ...]:
    """Return the key that signs records between stages, followed by further keys whose signatures are accepted.

    Raises BadSettings if a key is too short, or if none is set although other machines may need the same one.
    """
    kafka = settings.kafka
    accepted = []
    if kafka.accepted_signing_key is not None or kafka.accepted_signing_key_file is not None:
        variable = "REJOINDER_KAFKA__ACCEPTED_SIGNING_KEY"
        accepted.append(_long_key(kafka.accepted_signing_key, kafka.accepted_signing_key_file, variable))
    if kafka.signing_key is not None or kafka.signing_key_file is not None:
        return _long_key(kafka.signing_key, kafka.signing_key_file, _SIGNING_KEY), *accepted
    if not all(_is_loopback(host) for host, _ in kafka.endpoints):
        raise BadSettings(
            f"{_SIGNING_KEY} is not set. Processes on several machines may share the broker at {kafka.bootstrap}, and "
            f"all must sign with the same key: set it, or {_SIGNING_KEY}_FILE to a file that holds it, in each."
        )
    return kept_secret(settings.data_dir / "record.key").encode(), *accepted


def _long_key(value: SecretStr | None, file: Path | None, variable: str) -> bytes:
    key = given_secret(value, file, variable)
    if len(key) < MIN_KEY:
        raise BadSettings(f"{variable} has {len(key)} characters; use {MIN_KEY} or more, made by chance.")
    return key.encode()


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def without_passwords(text: str) -> str:
    """Return the text with user names, passwords and other secrets in its URLs replaced by `***`."""
    # A query is next to last, because a secret in it may have an @.
    return _PASSWORD_WITH_SLASH.sub("***@", _QUERY_SECRET.sub(r"\1***", _USER_INFO.sub("***@", text)))


def kept_secret(path: Path) -> str:
    """Return the secret in a file, creating it if missing. Concurrent processes all get the same secret.

    Raises BadSettings if the file can't be read or created, or is empty.
    """
    required_folder(path.parent)
    try:
        secret = _kept_secret(path)
    except OSError as error:
        raise BadSettings(unusable(path, error)) from error
    if not secret:
        raise BadSettings(
            f"{path} is empty, and an empty secret protects nothing. Restore it from a backup; if it is record.key or "
            "demo.token, deleting it will do, and a new one is made."
        )
    return secret


def _kept_secret(path: Path) -> str:
    keep_private(path)
    with suppress(FileNotFoundError):
        return path.read_text().strip()
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(24))
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        path.hardlink_to(draft)
    draft.unlink()
    _sync_folder(path.parent)
    return path.read_text().strip()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def given_secret(value: SecretStr | None, file: Path | None, variable: str) -> str:
    """Return a secret given directly or in a file. Raises BadSettings if there is none or the file can't be read.

    `variable` is the environment variable that the error message names.
    """
    if value is not None and value.get_secret_value().strip():
        return value.get_secret_value().strip()
    if file is None:
        raise BadSettings(f"{variable} is not set; set it, or {variable}_FILE to a file that holds it.")
    try:
        secret = file.read_text().strip()
    except OSError as error:
        raise BadSettings(f"{variable}_FILE can't be read: {error.strerror}; check its path and rights.") from error
    if not secret:
        raise BadSettings(f"{variable}_FILE names an empty file; put the secret into it.")
    return secret
