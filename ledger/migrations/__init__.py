"""The schema's steps, run by `ledger.migrate`."""
