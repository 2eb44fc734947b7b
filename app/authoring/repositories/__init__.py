"""Problems that are synced from git repositories or from folders of the server."""
