"""Rows of a printed jaxpr, with the line of each equation."""

from grader.program.jaxpr_listing import list_jaxpr

TEXT = """{ lambda ; a:f32[64@data,128]. let
    b:f32[64@data] = reduce_sum[                    # submission.py:5:18 (f.<locals>.body)
      axes=(1,)
    ] a
    c:f32[64@data] = max b 0.0:f32[]                # 
    d:f32[64@data] = sin c                          # /lib/other.py:9 (g)
    e:f32[64@data] = custom[name=a # b] d
  in (e,) }"""


def test_each_row_has_its_line_and_loses_its_comment():
    [computation] = list_jaxpr(TEXT).computations
    assert [(each.text, each.line) for each in computation.instructions] == [
        ("{ lambda ; a:f32[64@data,128]. let", None),
        ("    b:f32[64@data] = reduce_sum[", 5),
        ("      axes=(1,)", None),
        ("    ] a", None),
        ("    c:f32[64@data] = max b 0.0:f32[]", None),
        ("    d:f32[64@data] = sin c", None),
        ("    e:f32[64@data] = custom[name=a # b] d", None),
        ("  in (e,) }", None),
    ]


def test_a_long_jaxpr_is_cut_and_counted():
    listing = list_jaxpr("\n".join("x" * 1000 for _ in range(700)))
    assert (len(listing.computations[0].instructions), listing.left_out) == (600, 100)
    assert len(listing.computations[0].instructions[0].text) == 400
    assert list_jaxpr("").computations == ()
