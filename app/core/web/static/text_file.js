// A file picker that reads a text file into a field. Without this module, the field is filled by pasting.
for (const picker of document.querySelectorAll("[data-fills]")) {
  const field = document.getElementById(picker.dataset.fills);
  picker.closest("[hidden]")?.removeAttribute("hidden");
  picker.addEventListener("change", async () => {
    const [file] = picker.files;
    if (file) field.value = await file.text();
  });
}
