// The line that reports an attempt's progress. The time beside it ticks silently: screen readers announce only the phases.

export class LiveLine {
  constructor(box) {
    this.dot = box.querySelector("[data-dot]");
    this.phase = box.querySelector("[data-phase]");
    this.elapsed = box.querySelector("[data-elapsed]");
  }

  /** Counts the time from now, or from `beforeS` seconds ago. */
  start(text, beforeS = 0) {
    const began = performance.now() - beforeS * 1000;
    clearInterval(this.timer);
    this.dot.hidden = false;
    this.say(text);
    this.timer = setInterval(() => {
      this.elapsed.textContent = `${Math.round((performance.now() - began) / 1000)} s`;
    }, 1000);
  }

  say(text) {
    if (this.phase.textContent !== text) this.phase.textContent = text;
  }

  link(text, address) {
    const link = document.createElement("a");
    link.href = address;
    link.textContent = text;
    this.phase.append(" ", link);
  }

  stop(text) {
    clearInterval(this.timer);
    this.dot.hidden = true;
    this.elapsed.textContent = "";
    this.say(text);
  }
}

/** Returns one line about how an attempt ended. */
export function summarize({ status, verdict, withheld_until: until }) {
  if (status === "finished" && until) return "Submitted. The verdict is hidden until the exam closes.";
  if (status === "cancelled" || !verdict) return "Cancelled.";
  const reason = verdict.reason ? `, ${verdict.reason.replaceAll("_", " ")}` : "";
  const score = verdict.score === null ? "" : `, ${verdict.score} points`;
  return `Done: ${verdict.status}${reason}${score}.`;
}
