"""How every Kafka client connects: where to, encrypted or not, and as whom."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiokafka.abc import AbstractTokenProvider

from core.errors import BadSettings
from core.secrets import given_secret
from core.settings import KafkaSettings


class TokenFile(AbstractTokenProvider):  # type: ignore[misc]  # aiokafka has no types
    """A file that something else keeps a fresh OAuth token in; read at each connection."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def token(self) -> str:
        """Return the token; raises OSError."""
        return (await asyncio.to_thread(self._path.read_text)).strip()


def aiokafka_options(kafka: KafkaSettings) -> dict[str, Any]:
    """Return the arguments of any aiokafka client; raises BadSettings when a setting is missing or can't be used."""
    return client_options(kafka, TokenFile)


def client_options(kafka: KafkaSettings, token_provider: Callable[[Path], object]) -> dict[str, Any]:
    """Return the arguments that aiokafka and kafka-python share; each has its own kind of `token_provider` for a file.

    Raises BadSettings when a setting is missing or can't be used.
    """
    options: dict[str, Any] = {"security_protocol": kafka.security_protocol}
    options["bootstrap_servers"] = list(kafka.addresses)
    if kafka.security_protocol in ("SSL", "SASL_SSL"):
        options["ssl_context"] = _tls_context(kafka)
    if kafka.security_protocol in ("SASL_PLAINTEXT", "SASL_SSL"):
        options["sasl_mechanism"] = kafka.sasl_mechanism
        if kafka.sasl_mechanism == "OAUTHBEARER":
            if kafka.sasl_token_file is None:
                raise BadSettings(
                    "REJOINDER_KAFKA__SASL_TOKEN_FILE is not set; OAUTHBEARER needs a file that holds the token."
                )
            options["sasl_oauth_token_provider"] = token_provider(kafka.sasl_token_file)
        else:
            if not kafka.sasl_username:
                raise BadSettings(f"REJOINDER_KAFKA__SASL_USERNAME is not set; {kafka.sasl_mechanism} needs it.")
            password = given_secret(kafka.sasl_password, kafka.sasl_password_file, "REJOINDER_KAFKA__SASL_PASSWORD")
            options |= {"sasl_plain_username": kafka.sasl_username, "sasl_plain_password": password}
    return options


def _tls_context(kafka: KafkaSettings) -> ssl.SSLContext:
    """Return a context that checks the broker's certificate and name, and shows ours where one is set."""
    certificate, key = kafka.tls_certificate_file, kafka.tls_key_file
    if (certificate is None) != (key is None):
        raise BadSettings(
            "REJOINDER_KAFKA__TLS_CERTIFICATE_FILE and REJOINDER_KAFKA__TLS_KEY_FILE go together; set both or neither."
        )
    try:
        context = ssl.create_default_context(cafile=kafka.tls_ca_file)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if certificate is not None:
            # Without a password of ours OpenSSL would ask for one on the terminal.
            context.load_cert_chain(certificate, key, lambda: _key_password(kafka))
    except (OSError, ValueError) as error:
        # ssl.SSLError is an OSError; neither says which file it was.
        files = ", ".join(str(file) for file in (kafka.tls_ca_file, certificate, key) if file is not None)
        raise BadSettings(
            f"The files for TLS towards Kafka can't be used ({files}): {error}. Check their paths, rights and content, "
            "all in PEM."
        ) from error
    return context


def _key_password(kafka: KafkaSettings) -> str:
    return given_secret(kafka.tls_key_password, kafka.tls_key_password_file, "REJOINDER_KAFKA__TLS_KEY_PASSWORD")
