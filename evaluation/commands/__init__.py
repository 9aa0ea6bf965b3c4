"""The commands of `rejoinder evaluate`, grouped by what they do."""
