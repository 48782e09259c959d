// Browsers do not let a page that was opened from disk load the search index. Say so where one would type.
if (location.protocol === "file:") {
  document.addEventListener("DOMContentLoaded", () => {
    const input = document.querySelector("input.md-search__input");
    if (!input) return;
    input.placeholder = "Search needs a server: python -m http.server -d site";
    input.disabled = true;
  });
}
