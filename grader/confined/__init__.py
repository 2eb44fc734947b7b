"""What a runner and a verifier share: each confines itself, and answers requests in frames."""
