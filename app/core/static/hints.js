// A hint appears once the one before it was opened; without script all of them can be opened.
for (const section of document.querySelectorAll("[data-hints]")) {
  const hints = [...section.querySelectorAll("details")];
  hints.forEach((hint, index) => {
    hint.hidden = index > 0;
    hint.addEventListener("toggle", () => {
      if (hint.open && hints[index + 1]) hints[index + 1].hidden = false;
    });
  });
}
