"""Where processes start: the server, the worker and the command line, assembled from the other rooms."""
