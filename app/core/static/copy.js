// Buttons that copy the text of a field. They stay hidden if the browser offers no clipboard, as on plain HTTP.
for (const button of navigator.clipboard ? document.querySelectorAll("[data-copy]") : []) {
  const text = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = "Copied";
    } catch {
      // The browser asked and the reader refused, so select the text for the keyboard to copy.
      field.select();
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = text; }, 2000);
  });
}
