// Say above each table or picture that is wider than its place that it scrolls.
function hint() {
  for (const place of document.querySelectorAll(".pst-scrollable-table-container, p:has(> img)")) {
    const before = place.previousElementSibling;
    const there = before !== null && before.className === "scroll-hint";
    const scrolls = place.scrollWidth > place.clientWidth + 1;
    // Texts in narrow columns would make rows that are higher than the screen.
    const high = Math.max(0, ...[...place.querySelectorAll("tr")].map((row) => row.offsetHeight));
    if (scrolls && high > 200) place.classList.add("roomy");
    if (scrolls) place.tabIndex = 0; // the arrow keys scroll what has the focus
    if (scrolls && !there) {
      const said = document.createElement("p");
      said.className = "scroll-hint";
      said.textContent = "Scroll sideways for more →";
      place.before(said);
    } else if (!scrolls && there) {
      before.remove();
    }
  }
}

// The gallery of examples hides the words of its links behind their pictures.
function name() {
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a.internal")) {
    link.setAttribute("aria-label", link.textContent);
  }
}

window.addEventListener("load", hint);
window.addEventListener("load", name);
window.addEventListener("resize", hint);
