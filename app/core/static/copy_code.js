// Adds a button that copies a block of code, once the pointer or the focus is on the block; without a pointer that hovers,
// at once. An editor gets none, except those of a lesson's programs: their text is in the form below them.
function add(block) {
  const area = block.closest("[data-program] .cell")?.closest("[data-program]").querySelector("textarea");
  const place = document.createElement("div");
  place.className = "copy-code";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button quiet";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText((area ? area.value : block.innerText).replace(/\n$/, ""));
      button.textContent = "Copied";
    } catch {
      // The browser asked and the reader refused, so select the text for the keyboard to copy.
      getSelection().selectAllChildren(block);
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  place.append(button);
  block.after(place);
}

function notice({ target }) {
  const block = target.closest?.("pre");
  if (!block || "copied" in block.dataset || block.closest(".editor, .cell-editor, .explored, [data-conflict]")) return;
  block.dataset.copied = "";
  add(block);
}

// Plain HTTP offers no clipboard.
if (navigator.clipboard) {
  for (const event of ["pointerover", "focusin"]) document.addEventListener(event, notice);
  if (matchMedia("(hover: none)").matches) for (const target of document.querySelectorAll("pre")) notice({ target });
}
