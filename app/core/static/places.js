// Places in the code that a verdict names, such as "line 7": each becomes a link into the editor, and its line is marked.

// In what the code printed, only the form of a traceback counts, because "line 3" there may mean anything.
const PLACE = /\bline (\d+)\b/g;
const TRACEBACK_PLACE = /\bFile "[^"\n]*submission\.py", line (\d+)/g;

function textNodes(box) {
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest("a, abbr")) nodes.push(walker.currentNode);
  return nodes;
}

function link(text, line, jump) {
  const place = document.createElement("a");
  place.href = "#workbench";
  place.className = "line-link";
  place.dataset.line = line;
  place.textContent = text;
  place.addEventListener("click", (event) => {
    event.preventDefault();
    event.stopPropagation();
    jump(line);
  });
  return place;
}

/**
 * Turns the places into links that call `jump(line)`. Returns the lines that say what is wrong, as { line, text }:
 * those in messages and tracebacks, not those of checks that passed.
 */
export function linkPlaces(verdict, jump) {
  const found = [];
  for (const box of verdict.querySelectorAll(".message, .listing, .output, .fault, h3")) {
    const isOutput = box.classList.contains("output");
    const hasPassed = box.closest("[data-passed=yes]") ?? box.closest("li")?.querySelector(".status[data-status=accepted]");
    for (const node of textNodes(box)) {
      const places = [...node.data.matchAll(isOutput ? TRACEBACK_PLACE : PLACE)];
      for (const place of places.reverse()) {
        const line = Number(place[1]);
        const rest = node.splitText(place.index);
        rest.splitText(place[0].length);
        rest.replaceWith(link(place[0], line, jump));
        if (!isOutput && !hasPassed) found.push({ line, text: box.textContent.trim().split("\n", 1)[0] });
      }
    }
  }
  return found;
}
