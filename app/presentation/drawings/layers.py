"""Places the boxes of a graph in layers from top to bottom, with few crossings, in a time bounded by its size.

Sugiyama, Tagawa, Toda: Methods for Visual Understanding of Hierarchical System Structures, 1981. Boxes in a layer are
ordered by the means of their neighbours' places, and then pulled to these as far as their order allows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Point = tuple[float, float]

_BESIDE, _BELOW = 16.0, 40.0
# A long edge passes the layers between its ends in boxes of this width.
_PASSAGE, _PASSAGE_GAP = 10.0, 2.0
_SWEEPS = 10
# Passages are pulled harder, so that long edges are straight.
_PULL = 4.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Upper left corners of the boxes, the points of each edge from top to bottom, and the whole size.

    An edge has two points for each layer that it passes, and is vertical between these.
    """

    corners: tuple[Point, ...]
    paths: tuple[tuple[Point, ...], ...]
    width: float
    height: float


@dataclass(slots=True)
class _Item:
    """A box or a passage, with its place: the middle of its width."""

    width: float
    height: float
    layer: int
    x: float = 0.0
    is_passage: bool = False
    above: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)


def place(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], widest: float) -> Layout:
    """Place boxes of these widths and heights.

    Args:
      edges: from a box to one with a higher number.
      widest: how wide a layer is without passages at most. A box that is wider is alone in its layer.
    """
    items = [
        _Item(width, height, layer)
        for (width, height), layer in zip(sizes, layers_of([width for width, _ in sizes], edges, widest), strict=True)
    ]
    chains = [_chain(items, *edge) for edge in edges]
    order: list[list[int]] = [[] for _ in range(max((each.layer for each in items), default=-1) + 1)]
    for number, item in enumerate(items):
        order[item.layer].append(number)
    order = _with_few_crossings(items, order)
    _set_places(items, order)
    tops, y = [], 0.0
    for layer in order:
        tops.append(y)
        y += max(items[each].height for each in layer) + _BELOW
    left = min((each.x - each.width / 2 for each in items), default=0.0)
    corners = tuple((each.x - each.width / 2 - left, tops[each.layer]) for each in items[: len(sizes)])
    width = max((each.x + each.width / 2 - left for each in items), default=0.0)
    ends = _ends(items, chains)
    paths = []
    for edge, chain in enumerate(chains):
        leaves, enters = ends[edge]
        points = [(leaves - left, tops[items[chain[0]].layer] + items[chain[0]].height)]
        for each in chain[1:-1]:
            top = tops[items[each].layer]
            bottom = top + max(items[other].height for other in order[items[each].layer])
            points += [(items[each].x - left, top), (items[each].x - left, bottom)]
        points.append((enters - left, tops[items[chain[-1]].layer]))
        paths.append(tuple(points))
    return Layout(corners, tuple(paths), width, max(y - _BELOW, 0.0))


def layers_of(widths: Sequence[float], edges: Sequence[tuple[int, int]], widest: float) -> list[int]:
    """Each box below those that lead to it, and no more in a layer than there is room for."""
    before: list[list[int]] = [[] for _ in widths]
    after: list[list[int]] = [[] for _ in widths]
    for source, target in edges:
        before[target].append(source)
        after[source].append(target)
    layers: list[int] = []
    taken: dict[int, float] = {}
    for box, width in enumerate(widths):
        layer = max((layers[each] + 1 for each in before[box]), default=0)
        while taken.get(layer) and taken[layer] + width > widest:
            layer += 1
        layers.append(layer)
        taken[layer] = taken.get(layer, 0.0) + width + _BESIDE
    # What is needed late, such as the moments of an optimizer, comes late.
    for box in reversed(range(len(widths))):
        if after[box] and len(after[box]) >= len(before[box]):
            lowest = min(layers[each] for each in after[box]) - 1
            while lowest > layers[box] and taken.get(lowest) and taken[lowest] + widths[box] > widest:
                lowest -= 1
            if lowest > layers[box]:
                taken[layers[box]] -= widths[box] + _BESIDE
                taken[lowest] = taken.get(lowest, 0.0) + widths[box] + _BESIDE
                layers[box] = lowest
    used = sorted(set(layers))
    return [used.index(layer) for layer in layers]


def _chain(items: list[_Item], source: int, target: int) -> list[int]:
    """The numbers of the items of an edge: both boxes, and a new passage in each layer between them."""
    chain = [source]
    for layer in range(items[source].layer + 1, items[target].layer):
        items.append(_Item(_PASSAGE, 0.0, layer, is_passage=True))
        chain.append(len(items) - 1)
    chain.append(target)
    for upper, lower in pairwise(chain):
        items[upper].below.append(lower)
        items[lower].above.append(upper)
    return chain


def _with_few_crossings(items: Sequence[_Item], order: list[list[int]]) -> list[list[int]]:
    best, fewest = order, _crossings(items, order)
    for sweep in range(_SWEEPS):
        order = [list(layer) for layer in order]
        place_of = {each: index / max(len(layer) - 1, 1) for layer in order for index, each in enumerate(layer)}
        downwards = sweep % 2 == 0
        for layer in order if downwards else reversed(order):
            means: dict[int, float] = {}
            for each in layer:
                beside = items[each].above if downwards else items[each].below
                means[each] = sum(place_of[other] for other in beside) / len(beside) if beside else place_of[each]
            layer.sort(key=lambda each: (means[each], each))
            place_of.update({each: index / max(len(layer) - 1, 1) for index, each in enumerate(layer)})
        found = _crossings(items, order)
        if found < fewest:
            best, fewest = order, found
    return best


def _crossings(items: Sequence[_Item], order: Sequence[Sequence[int]]) -> int:
    index = {each: at for layer in order for at, each in enumerate(layer)}
    crossings = 0
    for layer in order:
        ends = [index[lower] for each in layer for lower in sorted(items[each].below, key=lambda low: index[low])]
        crossings += sum(ends[later] < ends[at] for at in range(len(ends)) for later in range(at + 1, len(ends)))
    return crossings


def _set_places(items: Sequence[_Item], order: Sequence[Sequence[int]]) -> None:
    for layer in order:
        _pull(items, layer, [0.0] * len(layer))
    for sweep in range(2 * _SWEEPS):
        for layer in order if sweep % 2 == 0 else list(reversed(order)):
            aims = []
            for each in layer:
                item = items[each]
                beside = item.above if sweep % 2 == 0 else item.below
                # In the last sweeps, neighbours on both sides count.
                beside = item.above + item.below if sweep >= 2 * _SWEEPS - 4 or not beside else beside
                # What has no neighbours stays beside the others of its layer.
                near = [items[other].x for other in beside] or [items[other].x for other in layer if other != each]
                aims.append(sum(near) / len(near) if near else item.x)
            _pull(items, layer, aims)


def _pull(items: Sequence[_Item], layer: Sequence[int], aims: Sequence[float]) -> None:
    """Move the items of a layer as close as possible to their aims, without changing their order.

    This is isotonic regression, by pooling neighbours whose aims are in the wrong order.
    """
    offsets, offset = [], 0.0
    for before, each in zip([None, *layer], layer, strict=False):
        if before is not None:
            gap = _PASSAGE_GAP if items[before].is_passage and items[each].is_passage else _BESIDE
            offset += (items[before].width + items[each].width) / 2 + gap
        offsets.append(offset)
    pools: list[tuple[float, float, int]] = []
    for each, aim, shift in zip(layer, aims, offsets, strict=True):
        weight = _PULL if items[each].is_passage else 1.0
        mean, count = aim - shift, 1
        while pools and pools[-1][0] > mean:
            other, its_weight, its_count = pools.pop()
            mean = (mean * weight + other * its_weight) / (weight + its_weight)
            weight, count = weight + its_weight, count + its_count
        pools.append((mean, weight, count))
    places = [mean for mean, _, count in pools for _ in range(count)]
    for each, mean, shift in zip(layer, places, offsets, strict=True):
        items[each].x = mean + shift


def _ends(items: Sequence[_Item], chains: Sequence[Sequence[int]]) -> list[tuple[float, float]]:
    """Where each edge leaves its upper box and enters its lower one: side by side, in the order of where it goes."""
    leaves, enters = [0.0] * len(chains), [0.0] * len(chains)
    for found, box_at, next_at in ((leaves, 0, 1), (enters, -1, -2)):
        by_box: dict[int, list[int]] = {}
        for number, chain in enumerate(chains):
            by_box.setdefault(chain[box_at], []).append(number)
        for box, numbers in by_box.items():
            numbers.sort(key=lambda number: (items[chains[number][next_at]].x, number))
            found_places = _spread(items[box], len(numbers))
            for number, place_of in zip(numbers, found_places, strict=True):
                found[number] = place_of
    return list(zip(leaves, enters, strict=True))


def _spread(item: _Item, number: int) -> Iterator[float]:
    step = min(22.0, 0.8 * item.width / number)
    for index in range(number):
        yield item.x + (index - (number - 1) / 2) * step
