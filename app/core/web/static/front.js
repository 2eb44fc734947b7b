// The picture of a step: choose a device, by the slider or by pointing at it, to see what it holds in each phase.

const figure = document.querySelector("[data-step]");
const control = figure.querySelector("[data-step-control]");
const slider = control.querySelector("input");
const told = figure.querySelector("[data-step-text]");
const devices = [...figure.querySelectorAll("[data-device]")];
const phases = [...figure.querySelectorAll("[data-sentences]")].map((each) => JSON.parse(each.dataset.sentences));

function choose(device) {
  slider.value = device;
  for (const each of devices) each.classList.toggle("is-chosen", each.dataset.device === String(device));
  const holds = phases.map((sentences) => sentences[device]);
  told.textContent = `Device ${device} ${holds.slice(0, -1).join(", ")}, and ${holds.at(-1)}.`;
}

for (const each of devices) each.addEventListener("pointerenter", () => choose(Number(each.dataset.device)));
slider.addEventListener("input", () => choose(Number(slider.value)));
control.hidden = false;
choose(Number(slider.value));
