// Browsers do not let a page that was opened from disk load the search index: say so where the search would be.
if (location.protocol === "file:") {
  document.addEventListener("DOMContentLoaded", () => {
    const header = document.querySelector(".md-header__inner");
    if (!header) return;
    document.querySelectorAll('label[for="__search"]').forEach((icon) => icon.remove());
    const word = document.createElement("small");
    word.textContent = "To search, serve the pages: python -m http.server -d site";
    word.style.opacity = "0.75";
    const narrow = window.matchMedia("(max-width: 40em)");
    const place = () => (word.hidden = narrow.matches); // the title needs the space there
    narrow.addEventListener("change", place);
    place();
    header.append(word);
  });
}
