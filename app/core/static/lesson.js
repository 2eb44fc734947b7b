// The page of a lesson: marks the current section in the contents, and plays figures that have steps.
const EVERY_MS = 1500;

const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
const headings = [...document.querySelectorAll(".lesson h2[id]")].filter((each) => links.has(each.id));

function markSection() {
  const current = headings.findLast((each) => each.getBoundingClientRect().top < innerHeight * 0.3);
  for (const [id, link] of links) {
    if (id === current?.id) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

const observer = new IntersectionObserver(markSection, { rootMargin: "0px 0px -70% 0px" });
for (const each of headings) observer.observe(each);

for (const steps of document.querySelectorAll(".steps")) {
  const radios = [...steps.querySelectorAll("input[type=radio]")];
  const scrub = steps.querySelector("input[type=range]");
  const play = steps.querySelector("[data-play]");
  let timer = 0;
  const at = () => radios.findIndex((each) => each.checked);
  const pause = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  };
  const show = (step) => {
    radios[step].checked = true;
    scrub.value = step + 1;
    scrub.setAttribute("aria-valuetext", document.querySelector(`label[for=${radios[step].id}]`).textContent);
  };
  const advance = () => {
    show(at() + 1);
    if (at() === radios.length - 1) pause();
  };
  steps.addEventListener("input", (event) => {
    pause();
    show(event.target === scrub ? scrub.value - 1 : at());
  });
  play.addEventListener("click", () => {
    if (timer) return pause();
    show(at() === radios.length - 1 ? 0 : at() + 1);
    if (at() === radios.length - 1) return pause();
    timer = setInterval(advance, EVERY_MS);
    play.textContent = "Pause";
  });
  show(at());
}
