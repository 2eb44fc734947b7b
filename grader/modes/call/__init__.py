"""Call mode: the entry point is called once per case, and its results are compared with the reference's."""
