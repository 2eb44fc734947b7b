// The problems of an assignment: a chosen one becomes another line of the text area without a round trip.
for (const picker of document.querySelectorAll("[data-picks-into]")) {
  const input = picker.querySelector("input");
  const lines = document.getElementById(picker.dataset.picksInto);
  const options = [...picker.querySelectorAll("option")];
  picker.querySelector("button").addEventListener("click", (event) => {
    const sought = input.value.trim().toLowerCase();
    const exact = options.find((each) => sought === each.value || sought === each.text.toLowerCase());
    const parts = options.filter((each) => each.value.includes(sought) || each.text.toLowerCase().includes(sought));
    const found = exact ?? (parts.length === 1 ? parts[0] : null);
    // The server says what is wrong with anything else.
    if (!sought || !found) return;
    event.preventDefault();
    lines.value = `${lines.value.trimEnd()}\n${found.value} 100`.trimStart();
    input.value = "";
    input.focus();
  });
}
