/** The page on paper: all threads, the flame graph and the functions, dark on light. */

const TALLEST = 12000; // pixels of a picture
const PANELS = ["flame", "functions", "details"];

const element = (name) => document.getElementById(name);

/** Change the page before it is printed, and back. */
export function listenToPrinter(page) {
  let wasDark = false;
  window.addEventListener("beforeprint", () => {
    wasDark = document.documentElement.classList.contains("dark");
    page.setDark(false);
    for (const name of PANELS) element(name).hidden = name === "details" && page.view.functionId === null;
    page.timeline.height = Math.min(page.timeline.layout.height + 40, TALLEST);
    page.timeline.draw();
    page.minimap.draw();
    page.flame.draw();
  });
  window.addEventListener("afterprint", () => {
    page.timeline.height = null;
    page.setDark(wasDark);
    page.showPanel(page.panel);
  });
}
