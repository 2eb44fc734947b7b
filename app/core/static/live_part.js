// Updates the marked part of a page while a job runs. When the job ends, it reloads the page, whose buttons have changed.
import { fetchPatiently } from "./patience.js";
import { followEvents } from "./work_events.js";

const EVERY_MS = 2000;

async function renew() {
  try {
    const answer = await fetchPatiently(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const part = page.querySelector("[data-live-part]");
    if (answer.ok && part?.dataset.livePart !== "going") location.reload();
    else if (answer.ok) document.querySelector("[data-live-part]").replaceChildren(...part.childNodes);
  } catch {
    // The server may be starting again, so leave it to the next try.
  }
}

async function poll() {
  await renew();
  setTimeout(poll, EVERY_MS);
}

const followed = document.querySelector("[data-live-part]")?.dataset.events;
const end = followed ? await followEvents(followed, renew) : null;
if (end) location.reload();
else setTimeout(poll, EVERY_MS);
