"""Learning platforms such as Canvas and Moodle: launches, rosters, and scores that return."""
