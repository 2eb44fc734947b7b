"""HLO written by hand: a module from the lines of its entry computation."""

ADD = """
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}
"""


def module(*lines: str, before: str = "", header: str = "num_partitions=8") -> str:
    """A module whose entry has a parameter `%p` of shape f32[16,4] (256 bytes), followed by these lines."""
    body = "\n".join(f"  {line}" for line in ("%p = f32[16,4]{1,0} parameter(0)", *lines))
    return (
        f"HloModule test, {header}\n{ADD}\n{before}\nENTRY %main (p: f32[16,4]) -> f32[] {{\n{body}\n"
        "  ROOT %out = f32[] constant(0)\n}\n"
    )
