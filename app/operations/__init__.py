"""What operators need: health, metrics, backups, webhooks, and the export and deletion of personal data."""
