// A file picker that reads a text file into a field. Without this module, the field is filled by pasting.
// Older spreadsheets write Windows-1252, which is hardly ever valid UTF-8.
const textOf = (bytes) => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
};
for (const picker of document.querySelectorAll("[data-fills]")) {
  const field = document.getElementById(picker.dataset.fills);
  picker.addEventListener("change", async () => {
    const [file] = picker.files;
    if (file) field.value = textOf(await file.arrayBuffer());
  });
}
