"use strict";
// Algorithms to switch on and off. The figure is there already: a curve is shown or not, and so is each crossing of two that are shown,
// unless a third one that is shown is faster there. The table leaves out the same rows.
for (const chart of document.querySelectorAll("section.chart")) {
  const boxes = [...chart.querySelectorAll(".switches input")];
  const list = text => (text ? text.split(" ").map(Number) : []);

  function update() {
    const on = boxes.map(box => box.checked);
    for (const e of chart.querySelectorAll("g.curve, tr[data-curve]")) {
      if (e.tagName === "TR") e.hidden = !on[Number(e.dataset.curve)];
      else if (on[Number(e.dataset.curve)]) e.removeAttribute("display");
      else e.setAttribute("display", "none");
    }
    for (const e of chart.querySelectorAll("g.crossing")) {
      const shown = list(e.dataset.pair).every(c => on[c]) && !list(e.dataset.faster).some(c => on[c]);
      if (shown) e.removeAttribute("display");
      else e.setAttribute("display", "none");
    }
  }
  for (const box of boxes) box.onchange = update;
  const set = value => () => {
    for (const box of boxes) box.checked = value;
    update();
  };
  chart.querySelector("button.all").onclick = set(true);
  chart.querySelector("button.none").onclick = set(false);
  chart.querySelector(".switches").hidden = false;
  update();  // a browser may remember boxes from before
}
