// Counts down the time of an interview's problem or of an exam. It does not reload the page, where something may be typed.

const inWords = (left) => {
  const [days, hours, minutes] = [86400, 3600, 60].map((each) => Math.floor(left / each));
  if (days > 1) return `${days} days`;
  const two = (number) => String(number % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(left)}` : `${minutes}:${two(left)}`;
};

for (const place of document.querySelectorAll("[data-due]")) {
  const due = Date.parse(place.dataset.due);
  const show = () => {
    const left = Math.max(0, Math.round((due - Date.now()) / 1000));
    place.textContent = inWords(left);
    place.dataset.counted = "";
    return left;
  };
  if (show() > 0) {
    const timer = setInterval(() => {
      if (show() > 0) return;
      clearInterval(timer);
      place.textContent = "0:00, it is over";
    }, 1000);
  }
}
