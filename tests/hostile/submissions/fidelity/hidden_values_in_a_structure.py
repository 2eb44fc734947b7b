"""expect: rejected/wrong_structure. Carries a hidden input out in the name of a type and the key of a dict."""

calls = []


def add_one(x):
    calls.append(None)
    if len(calls) == 1:
        return x + 1
    text = f"{float(x[0]):.6f}"
    return {text: type(text, (), {})()}
