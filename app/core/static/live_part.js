// Updates the marked part of a page while a job runs. When the job ends, it reloads the page, whose buttons have changed.
const EVERY_MS = 2000;

async function renew() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const part = page.querySelector("[data-live-part]");
    if (answer.ok && part?.dataset.livePart !== "going") {
      location.reload();
      return;
    }
    if (answer.ok) document.querySelector("[data-live-part]").replaceChildren(...part.childNodes);
  } catch {
    // The server may be starting again, so leave it to the next try.
  }
  setTimeout(renew, EVERY_MS);
}

setTimeout(renew, EVERY_MS);
