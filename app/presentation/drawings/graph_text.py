"""Says what the nodes and edges of a program's graph are, in a few words."""

from app.core.web.units import bytes_text, exact_text, flops_text
from app.presentation.drawings.placement import label
from app.presentation.drawings.timeline import axes_text, sent_text
from grader.explorer.graph import ExploredEdge, ExploredGraph, ExploredNode


def name_of(node: ExploredNode) -> str:
    """`all-gather over fsdp`, `loss_fn, backward`, `loop in step`, `state/params`."""
    name = label(node.name)
    match node.kind:
        case "collective":
            axes = axes_text(node.axes)
            return f"{name} over {axes}" if axes else name
        case "input" | "output":
            return name or "further leaves"
        case "loop" | "branch":
            where = f"{node.kind} in {name}" if name else node.kind
            return f"{where}, backward" if node.is_backward else where
    name = name or "other computation"
    return f"{name}, backward" if node.is_backward else name


def details_of(node: ExploredNode) -> str:
    """How much it is, and how often it runs."""
    parts: list[str] = []
    if node.kind == "collective":
        executions = "?" if node.executions is None else exact_text(node.executions)
        parts = [f"{node.number} together"] if node.number > 1 else []
        parts += [f"{executions} times"] if node.executions != 1 else []
        parts.append(sent_text(node.executions, node.bytes * (node.executions or 1)))
    elif node.kind in ("input", "output"):
        leaves = [f"{node.number} leaves"] if node.number > 1 else []
        parts = [*leaves, bytes_text(node.bytes), *([label(node.spec)] if node.spec else [])]
    else:
        if node.kind == "loop":
            parts.append("unknown rounds" if node.executions is None else f"{exact_text(node.executions)} rounds")
        if node.products:
            products = "product" if node.products == 1 else "products"
            parts.append(f"{node.products} {products}, {flops_text(node.flops)}")
        elif node.kind == "block":
            parts.append(f"{node.number} {'operation' if node.number == 1 else 'operations'}")
    return " · ".join(parts)


def groups_of(node: ExploredNode) -> str:
    """`2 groups of 4`, for collectives."""
    if node.kind != "collective":
        return ""
    return f"{node.groups} {'group' if node.groups == 1 else 'groups'} of {node.group_size}"


def line_of(node: ExploredNode) -> str:
    """`line 12`, or `line 12 +2` if two other lines led to it, too."""
    if node.line is None:
        return ""
    return f"line {node.line}" + (f" +{len(node.lines) - 1}" if len(node.lines) > 1 else "")


def words_of_node(node: ExploredNode) -> str:
    """All that its box says."""
    return ", ".join(filter(None, (name_of(node), details_of(node), groups_of(node), line_of(node))))


def words_of_edge(graph: ExploredGraph, edge: ExploredEdge) -> str:
    """An edge as a sentence."""
    arrays = f"{edge.arrays} arrays, " if edge.arrays > 1 else ""
    shape = f" of {label(edge.shape)}" if edge.shape else ""
    when = ", for the next round" if edge.leads_back else ""
    ends = f"{name_of(graph.nodes[edge.source])} to {name_of(graph.nodes[edge.target])}"
    return f"{ends}: {arrays}{bytes_text(edge.bytes)}{shape}{when}"
