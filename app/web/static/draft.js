// What is typed stays in this browser, so that no error, sign-out or reload loses it.

const key = (slug) => `meshgrade:draft:${slug}`;

// Storage throws where the browser forbids it (private windows, a full disk); the page then works without drafts.
function attempt(action) {
  try {
    return action();
  } catch {
    return null;
  }
}

export const loadDraft = (slug) => attempt(() => localStorage.getItem(key(slug)));
export const saveDraft = (slug, source) => attempt(() => localStorage.setItem(key(slug), source));
export const dropDraft = (slug) => attempt(() => localStorage.removeItem(key(slug)));
