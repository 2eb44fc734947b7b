// Days are counted by this browser's clock unless the address names another zone, or one was chosen for all pages.

const form = document.querySelector("[data-zone]");
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const known = [...form.elements.zone.options].some((option) => option.value === zone);
if (!("chosen" in form.dataset) && !new URLSearchParams(location.search).has("zone") && known && zone !== form.dataset.zone) {
  location.replace(`?zone=${encodeURIComponent(zone)}`);
}
