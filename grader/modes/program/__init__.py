"""Program mode: the submission is exported, compiled for each mesh, measured and run."""
