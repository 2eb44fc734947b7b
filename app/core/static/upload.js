// Sends a zip as a version of a problem, then opens that version's page.
import { fetchPatiently } from "./patience.js";

for (const form of document.querySelectorAll("[data-upload]")) {
  const error = form.querySelector("[data-upload-error]");
  const button = form.querySelector("button");
  const label = button.textContent;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    button.textContent = "Uploading …";
    error.hidden = true;
    try {
      const answer = await fetchPatiently(`/api/v1/problems/${encodeURIComponent(form.elements.slug.value)}`, {
        method: "PUT", headers: { "Content-Type": "application/zip" }, body: form.elements.package.files[0],
      }, (words) => { button.textContent = words; });
      const body = await answer.json();
      if (answer.ok) {
        location.assign(`/authoring/${body.problem}/versions/${body.version}`);
        return;
      }
      error.textContent = body.detail || body.title;
    } catch {
      error.textContent = "Nothing was stored, because the server could not be reached. Try again.";
    }
    error.hidden = false;
    button.removeAttribute("aria-disabled");
    button.textContent = label;
  });
}
