"""expect: rejected/error. Carries hidden inputs out in the text and the type of an error."""

calls = []


def add_one(x):
    calls.append(None)
    if len(calls) == 1:
        return x + 1
    text = " ".join(f"{float(value):.6f}" for value in x)
    raise type(f"Saw{text}", (ValueError,), {})(text)
