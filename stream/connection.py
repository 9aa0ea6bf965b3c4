"""Connection options shared by all Kafka clients: addresses, TLS and credentials."""

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
    """A file with an OAuth token that another program keeps fresh; read at each connection."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def token(self) -> str:
        """Return the token. Raises OSError if the file can't be read."""
        return (await asyncio.to_thread(self._path.read_text)).strip()


def aiokafka_options(kafka: KafkaSettings) -> dict[str, Any]:
    """Return the connection arguments for aiokafka clients. Raises BadSettings if a setting is missing or unusable."""
    return client_options(kafka, TokenFile)


def client_options(kafka: KafkaSettings, token_provider: Callable[[Path], object]) -> dict[str, Any]:
    """Return the connection arguments that aiokafka and kafka-python share.

    `token_provider` makes the library's own kind of token provider from the token file. Raises BadSettings if a setting
    is missing or unusable.
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
    """Return a context that verifies the broker's certificate and host name and presents our certificate, if set."""
    certificate, key = kafka.tls_certificate_file, kafka.tls_key_file
    if (certificate is None) != (key is None):
        raise BadSettings(
            "REJOINDER_KAFKA__TLS_CERTIFICATE_FILE and REJOINDER_KAFKA__TLS_KEY_FILE go together; set both or neither."
        )
    try:
        context = ssl.create_default_context(cafile=kafka.tls_ca_file)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if certificate is not None:
            # Without the callback, OpenSSL would ask for a password on the terminal.
            context.load_cert_chain(certificate, key, lambda: _key_password(kafka))
    except (OSError, ValueError) as error:
        # ssl.SSLError is an OSError too, and no such error names the file.
        files = ", ".join(str(file) for file in (kafka.tls_ca_file, certificate, key) if file is not None)
        raise BadSettings(
            f"The files for TLS towards Kafka can't be used ({files}): {error}. Check their paths, rights and content, "
            "all in PEM."
        ) from error
    return context


def _key_password(kafka: KafkaSettings) -> str:
    return given_secret(kafka.tls_key_password, kafka.tls_key_password_file, "REJOINDER_KAFKA__TLS_KEY_PASSWORD")
