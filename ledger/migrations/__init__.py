"""The schema's migrations, run by `ledger.migrate`."""
