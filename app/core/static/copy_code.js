// Adds a button that copies a block of code, once the pointer or the focus is on the block. An editor gets none.
function add(block) {
  const place = document.createElement("div");
  place.className = "copy-code";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button quiet";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.innerText.replace(/\n$/, ""));
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
  if (!block || "copied" in block.dataset || block.closest(".editor, .cell, .explored, [data-conflict]")) return;
  block.dataset.copied = "";
  add(block);
}

// Plain HTTP offers no clipboard.
if (navigator.clipboard) for (const event of ["pointerover", "focusin"]) document.addEventListener(event, notice);
