"""Tune all-mpnet-base-v2 to read a sentence of a reply beside its post or its evidence, in English."""
