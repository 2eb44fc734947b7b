// Sends a request again that the server was too busy to take. It then says when to come back, and has stored nothing.

// About five minutes at most: the server never asks for more than 30 seconds.
const MOST_TRIES = 10;

/** How many milliseconds the server asks to wait; 0 if it does not. */
export const pauseOf = (response) => (response.status === 503 ? 1000 * (Number(response.headers.get("Retry-After")) || 0) : 0);

/** As `fetch`, but waits as long as a busy server asks. `tell(words)` receives what to say meanwhile. */
export async function fetchPatiently(address, options, tell = () => {}) {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(address, options);
    const ms = pauseOf(response);
    if (!ms || tries === MOST_TRIES) return response;
    tell(`The server is very busy. Trying again in ${ms / 1000} s`);
    await new Promise((resolve) => { setTimeout(resolve, ms); });
  }
}
