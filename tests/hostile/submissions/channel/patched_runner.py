"""expect: rejected/wrong_structure. Rewrites the runner's functions, its observer and the guard around itself."""

import sys

serve = sys.modules["grader.runner.serve"]
submission = sys.modules["grader.runner.submission"]
serve._to_host = lambda value: [[1.0, 2.0]]
submission._guard = lambda action, *refusals: action()
submission.SubmissionFailed = BaseException


def add_one(x):
    return x + 1
