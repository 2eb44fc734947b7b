"""expect: rejected/error. Carries hidden inputs out in names of functions and in line numbers."""

calls = []


def add_one(x):
    calls.append(None)
    if len(calls) == 1:
        return x + 1
    number = int(abs(float(x[0])) * 1e6)
    code = "\n" * number + f"def saw_{number}():\n    raise ValueError\nsaw_{number}()"
    exec(compile(code, "submission.py", "exec"), {})
