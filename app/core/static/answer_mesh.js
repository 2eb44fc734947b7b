// Colours the mesh beside an answer as it is typed: which device holds which slice. It does not know the right answer.

const COLOURS = 8;
const REST_MS = 600;
// Those of the question that is shown.
let mesh = null;
let devices = [];
let indices = [];

const sizeOf = (axis) => mesh.axes.find(([name]) => name === axis)[1];

/** Returns the index of a device on each axis, by the axis. Devices are numbered row by row. */
function indicesOf(device) {
  const found = {};
  for (const [name, size] of [...mesh.axes].reverse()) {
    found[name] = device % size;
    device = Math.floor(device / size);
  }
  return found;
}

/** The axes of each dimension of a spec such as `P("fsdp", None)`, or null if it is not one. */
function readSpec(text) {
  const call = /^\s*(?:\w+\.)*(?:P|PartitionSpec)\s*\((.*)\)\s*$/s.exec(text.replace(/[‘’“”"]/g, "'"));
  if (!call) return null;
  const entries = [];
  let rest = call[1].trim();
  while (rest) {
    const found = /^(None|'\w*'|[([]\s*(?:'\w*'\s*(?:,\s*'\w*'\s*)*,?\s*)?[)\]])\s*(?:,\s*|$)/.exec(rest);
    if (!found) return null;
    entries.push([...found[1].matchAll(/'(\w*)'/g)].map(([, name]) => name));
    rest = rest.slice(found[0].length);
  }
  while (entries.length && !entries.at(-1).length) entries.pop();
  return entries;
}

/** Says in a sentence why a spec has no picture on this mesh. Empty if it has one. */
function faultOf(entries) {
  const used = entries.flat();
  const unknown = used.find((axis) => !mesh.axes.some(([name]) => name === axis));
  if (unknown !== undefined) return `The mesh has no axis '${unknown}'. Its axes are ${mesh.axes.map(([name]) => name).join(" and ")}.`;
  if (new Set(used).size < used.length) return "A spec can name each axis only once.";
  if (mesh.shape.length && entries.length > mesh.shape.length) return `The array has ${mesh.shape.length} dimension${mesh.shape.length > 1 ? "s" : ""}, and this spec has ${entries.length} entries.`;
  const uneven = entries.findIndex((axes, dim) => mesh.shape.length && mesh.shape[dim] % blocks(axes));
  if (uneven >= 0) return `${blocks(entries[uneven])} blocks do not divide dimension ${uneven}, which has ${mesh.shape[uneven]} elements.`;
  if (mesh.given && JSON.stringify(readSpec(mesh.given)) === JSON.stringify(entries)) return "This is the spec of the question, so its picture is for you to find.";
  return "";
}

const blocks = (axes) => axes.reduce((product, axis) => product * sizeOf(axis), 1);
const blockOf = (device, axes) => axes.reduce((block, axis) => block * sizeOf(axis) + indices[device][axis], 0);

/** Returns for each device a key, equal for equal slices, and the part of the box that it fills; and a sentence. */
function meaningOfSpec(text) {
  const entries = readSpec(text);
  if (!entries) return { words: "This is not a complete spec yet." };
  const fault = faultOf(entries);
  if (fault) return { words: fault };
  if (!entries.length) return { keys: devices.map(() => "all"), words: "Whole on every device." };
  const dims = Math.max(mesh.shape.length, entries.length);
  const split = entries.map((axes, dim) => axes.length ? `Dimension ${dim} is split into ${blocks(axes)} blocks along ${axes.join(" and ")}.` : "").filter(Boolean);
  const spanOf = (device, dim) => {
    const axes = entries[dim] ?? [];
    return [blockOf(device, axes) / blocks(axes), 1 / blocks(axes)];
  };
  const parts = dims > 2 ? null : devices.map((device) => (dims === 1 ? [[0, 1], spanOf(device, 0)] : [spanOf(device, 0), spanOf(device, 1)]));
  return { keys: devices.map((device) => entries.map((axes) => blockOf(device, axes)).join()), parts, words: split.join(" ") };
}

/** Returns the groups along the axes of a choice such as `data and model`: devices that differ only on these. */
function meaningOfAxes(choice) {
  const along = choice.split(" and ");
  const others = mesh.axes.map(([name]) => name).filter((name) => !along.includes(name));
  return { keys: devices.map((device) => others.map((name) => indices[device][name]).join() || "one"), words: `Groups along ${along.join(" and ")}.` };
}

/** Groups the devices for which a table has equal rows. */
function meaningOfRows(rows) {
  const keys = rows.map((row) => (row.every(Boolean) ? row.join("\n") : null));
  return { keys, words: keys.some(Boolean) ? "Devices with equal rows have the same letter." : "" };
}

function letterOf(number) {
  return (number >= 26 ? letterOf(Math.floor(number / 26) - 1) : "") + String.fromCharCode(65 + (number % 26));
}

function listed(numbers) {
  return `device${numbers.length > 1 ? "s" : ""} ${numbers.join(", ")}`;
}

/** Fills the boxes and returns the picture in words: what the answer means, and the devices of each letter. */
function draw(box, { keys = [], parts = null, words }) {
  const distinct = [...new Set(keys.filter((key) => key !== null))];
  const isWhole = distinct.length === 1 && distinct[0] === "all";
  for (const device of devices) {
    const group = box.querySelector(`[data-device="${device}"]`);
    const key = keys[device] ?? null;
    group.querySelector(".shard")?.remove();
    group.querySelector(".letter").textContent = key === null ? "" : isWhole ? "all" : letterOf(distinct.indexOf(key));
    if (key === null) continue;
    const leaf = group.querySelector(".leaf");
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(leaf.getAttribute(name)));
    const [[top, tall], [left, wide]] = parts?.[device] ?? [[0, 1], [0, 1]];
    const shard = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const sides = { x: x + left * width, y: y + top * height, width: Math.max(wide * width, 1.5), height: Math.max(tall * height, 1.5) };
    for (const [name, value] of Object.entries(sides)) shard.setAttribute(name, value);
    const number = distinct.indexOf(key);
    const fill = Math.floor(number / COLOURS) % 8;
    shard.setAttribute("class", `shard ${isWhole ? "shard-all" : `shard-${(number % COLOURS) + 1}${fill ? ` fill-${fill + 1}` : ""}`}`);
    leaf.after(shard);
  }
  if (isWhole) return words;
  return [words, ...distinct.map((key, number) => `${letterOf(number)}: ${listed(devices.filter((device) => keys[device] === key))}.`)].join(" ");
}

const READ = {
  spec: (field) => field.querySelector("input").value.trim(),
  axes: (field) => field.querySelector("input:checked")?.value ?? "",
  devices: (field) => [...field.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("input")].map((cell) => cell.value.trim())),
};
const MEANING = { spec: meaningOfSpec, axes: meaningOfAxes, devices: meaningOfRows };

/** Draws on the meshes of a form what its fields say, now and as they change. */
export function showMeanings(form) {
  if (!form?.dataset.mesh) return;
  mesh = JSON.parse(form.dataset.mesh);
  devices = [...Array(mesh.axes.reduce((product, [, size]) => product * size, 1)).keys()];
  indices = devices.map(indicesOf);
  form.querySelectorAll("[data-meaning]").forEach(showMeaning);
}

function showMeaning(box) {
  const field = box.closest(".field");
  const status = box.querySelector("[role=status]");
  const asked = status.textContent;
  let timer;
  const show = (wait) => {
    const answer = READ[box.dataset.meaning](field);
    const words = draw(box, answer.length ? MEANING[box.dataset.meaning](answer) : { words: asked });
    // A screen reader announces the words once typing rests, not for every letter.
    clearTimeout(timer);
    timer = setTimeout(() => { if (status.textContent !== words) status.textContent = words; }, wait);
  };
  field.addEventListener("input", () => show(REST_MS));
  show(0);
}
