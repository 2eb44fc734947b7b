// Compares two texts and shows the lines that only one of them has.

const EQUAL_SHOWN = 3;

/** Lines as { kind, text }: "same", "mine" (only in the first text) or "other" (only in the second), in reading order. */
export function diffLines(mine, other) {
  const a = mine.split("\n");
  const b = other.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const same = (line) => ({ kind: "same", text: line });
  return [
    ...a.slice(0, start).map(same),
    ...diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

// Finds the longest common subsequence with a table, because a file has at most a few thousand lines.
function diffMiddle(a, b) {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = a[i] === b[j]
        ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i] });
      i += 1;
      j += 1;
    } else if (j === b.length || (i < a.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      lines.push({ kind: "mine", text: a[i] });
      i += 1;
    } else {
      lines.push({ kind: "other", text: b[j] });
      j += 1;
    }
  }
  return lines;
}

/** Draws the difference into `box`; long stretches of equal lines become one line that counts them. */
export function drawDiff(box, mine, other) {
  const lines = diffLines(mine, other);
  const isNear = lines.map((_, index) => lines
    .slice(Math.max(0, index - EQUAL_SHOWN), index + EQUAL_SHOWN + 1)
    .some(({ kind }) => kind !== "same"));
  box.replaceChildren();
  for (let index = 0; index < lines.length; index += 1) {
    let skipped = 0;
    while (index + skipped < lines.length && !isNear[index + skipped]) skipped += 1;
    if (skipped > 1) {
      box.append(row("skipped", `… ${skipped} unchanged lines`));
      index += skipped - 1;
    } else {
      const { kind, text } = lines[index];
      box.append(row(kind, `${{ same: " ", mine: "−", other: "+" }[kind]} ${text}`));
    }
  }
}

function row(kind, text) {
  const line = document.createElement("div");
  line.className = `line-${kind}`;
  line.textContent = text;
  return line;
}
