// The page of an attempt that is under way: shows its phases, then the finished page. Without script there is a Refresh link.
import { describe, follow } from "./grading.js";
import { LiveLine } from "./live.js";

for (const box of document.querySelectorAll("[data-attempt]")) {
  const line = new LiveLine(box);
  line.start(line.phase.textContent);
  follow(box.dataset.attempt, (state) => line.say(describe(state)))
    .then(() => location.reload(), (error) => line.stop(error.message));
}
