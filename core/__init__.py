"""Shared vocabulary, settings and utilities; imports no other room."""
