// Follows work of the judge by the events that the REST interface sends.

const isOver = ({ status }) => status === "finished" || status === "cancelled";

/**
 * Reports each change of the work at `address` to `onStatus`. Resolves to the state in which it ended, as the event named
 * `last` has it; to null once `signal` aborts, or if events do not get through, as with some proxies.
 */
export function followEvents(address, onStatus, { last = "status", signal } = {}) {
  return new Promise((resolve) => {
    const events = new EventSource(`${address}/events`);
    const end = (state) => {
      events.close();
      resolve(state);
    };
    const take = (event) => {
      const state = JSON.parse(event.data);
      if (!isOver(state)) onStatus(state);
      else if (event.type === last) end(state);
    };
    for (const name of new Set(["status", last])) events.addEventListener(name, take);
    events.addEventListener("error", () => {
      // Otherwise the browser reconnects by itself.
      if (events.readyState === EventSource.CLOSED) end(null);
    });
    signal?.addEventListener("abort", () => end(null));
    if (signal?.aborted) end(null);
  });
}
