"""The service: accounts, problems, attempts and their pages, over HTTP and on the command line."""
